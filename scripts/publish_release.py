"""Publishes what fleets install: `make publish-install BUCKET=…`, with AWS credentials that may write to the bucket.

The programs are built if necessary: the supervisor for amd64 and arm64, and the collector for this machine's
architecture, or for both with `--arch amd64 --arch arm64` (the first time, 15 minutes more for the other one).
`--collector 0.158.0` publishes a further version, to which a rollout with upgrade_collector moves hosts.
`--platform windows` and `--platform macos` publish what hosts of that system install, for the same architectures.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import boto3

from headgate.installs import publish
from headgate.installs.releases import SYSTEMS

ROOT: Final = Path(__file__).parents[1]
LAYERS: Final = ROOT / "layers"
CHART: Final = ROOT / "charts" / "headgate-supervisor"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket", required=True, help="the stack's bucket")
    parser.add_argument(
        "--arch", action="append", choices=["amd64", "arm64"], help="architecture of the collector; may be repeated"
    )
    parser.add_argument(
        "--collector", action="append", default=[], metavar="VERSION", help="a further version; may be repeated"
    )
    parser.add_argument(
        "--platform", action="append", default=[], choices=SYSTEMS, help="beside linux; may be repeated"
    )
    arguments = parser.parse_args()
    try:
        binaries = {f"supervisor-{arch}": supervisor("supervisor", arch) for arch in ("amd64", "arm64")}
        for arch in arguments.arch or [supervisor("architecture")]:
            binaries[f"collector-{arch}"] = collector("--architecture", str(arch), "collector")
            for version in arguments.collector:
                further = collector("--architecture", str(arch), "release", version)
                binaries[f"collector-{version}-{arch}"] = further
            for platform in arguments.platform:
                system = SYSTEMS[platform]
                binaries[f"supervisor-{platform}-{arch}"] = supervisor("supervisor", str(arch), system)
                binaries[f"collector-{platform}-{arch}"] = collector(
                    "--architecture", str(arch), "--os", system, "collector"
                )
        versions = (str(supervisor("collector-version")), str(supervisor("stamp")))
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    chart = publish.packed_chart(CHART)
    release = publish.upload(boto3.client("s3"), arguments.bucket, versions, binaries, chart)
    for name, artifact in sorted(release.artifacts.items()):
        print(f"{artifact.sha256}  {name}")
    print(f"Published collector {versions[0]} and supervisor {versions[1]} to {arguments.bucket}.")
    return 0


def supervisor(*arguments: str) -> Path:
    """The last line that the supervisor's build prints."""
    return _printed("supervisor_build", *arguments)


def collector(*arguments: str) -> Path:
    """The last line that the collector's build prints."""
    return _printed("building", *arguments)


def _printed(module: str, *arguments: str) -> Path:
    # In processes of their own, so that the settings of builds and domain code do not mix.
    path = f"{LAYERS / 'collector'}:{LAYERS / 'supervisor'}"
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True)
    return Path(done.stdout.decode().strip().splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
