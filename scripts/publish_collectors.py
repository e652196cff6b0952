"""Publishes collectors beside the default one, for requests and test runs that name their version.

`make deploy` calls it with the versions that the parameter CollectorVersions names. By hand, with AWS credentials that
may write to the bucket: `python -m scripts.publish_collectors --bucket BUCKET --architecture x86_64 0.158.0`. Versions
of layers/collector/versions are built if necessary. A version that is already there is not uploaded again.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

import boto3

from headgate.checker import NoChecker, Unusable, publish
from headgate_engine.checker.descriptions import Descriptions, short
from headgate_engine.checker.limits import default_limits
from scripts.publish_release import collector

_TARGETS: Final = {"x86_64": "amd64", "arm64": "arm64"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket", required=True, help="the stack's bucket")
    parser.add_argument("--architecture", required=True, choices=_TARGETS, help="the stack's parameter Architecture")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    arguments = parser.parse_args()
    for version in arguments.versions:
        try:
            packed = collector("--architecture", _TARGETS[arguments.architecture], "packed", version)
            # A binary for another processor cannot be asked here; the same sources say the same.
            description = _description(version, collector("packed", version).with_suffix(""))
        except subprocess.CalledProcessError as error:
            return int(error.returncode)
        except (NoChecker, Unusable) as error:
            print(f"Collector {version} cannot be published: {error.detail}. {_NEEDED}", file=sys.stderr)
            return 1
        binary = packed.with_suffix("")
        is_new = publish.upload(
            boto3.client("s3"), arguments.bucket, arguments.architecture, binary, packed, description
        )
        done = f"Published collector {version}" if is_new else f"Collector {version} is already published"
        print(f"{done} for {arguments.architecture} in {arguments.bucket}.", flush=True)
    return 0


def _description(version: str, binary: Path) -> dict[str, object]:
    description = short(Descriptions(default_limits()).of_binary(binary))
    if description.get("version") != version:
        raise Unusable(f"its binary says that it is version {description.get('version')}")
    # That is about this machine, not about the binary.
    return {name: value for name, value in description.items() if name != "confined_by"}


_NEEDED: Final = """\
On AWS, versions beside the default one need the command `check`, which official releases do not have: add the version
to layers/collector/versions, or leave it out of CollectorVersions"""

if __name__ == "__main__":
    sys.exit(main())
