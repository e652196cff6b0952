"""Builds the gallery of flows, and publishes it.

    python scripts/build_flows.py                    check every flow, write nothing
    python scripts/build_flows.py --bucket NAME      also publish the gallery to that bucket
    python scripts/build_flows.py --to FOLDER        also write its objects to that folder

If a flow is broken, it prints a line for each broken flow, writes nothing, and exits with 1.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "shared"), str(ROOT / "engine")]

from headgate.flows import publish, source  # noqa: E402  the path must be set first


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the gallery of flows, and publish it.")
    parser.add_argument("--flows", type=Path, default=ROOT / "flows", help="folder of the flows")
    parser.add_argument("--bucket", help="bucket to publish to, with the AWS credentials of the environment")
    parser.add_argument("--to", type=Path, help="folder to write the objects to")
    options = parser.parse_args()
    try:
        objects = publish.build(options.flows)
    except source.BrokenGallery as error:
        print("\n".join(f"broken flow: {problem}" for problem in error.problems), file=sys.stderr)
        return 1
    if options.to:
        for key, content in objects.items():
            path = options.to / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if options.bucket:
        publish.upload(objects, options.bucket)
    print(f"{len(objects) - 1} flows, {sum(map(len, objects.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
