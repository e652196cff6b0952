"""`python -m building` builds the collector and prints its path; see `--help` for the rest."""

import argparse
import sys
from pathlib import Path

from building import collector, compressed, release, toolchain
from building.cache import Cache
from building.errors import BuildError
from building.target import Target


def main() -> int:
    parser = argparse.ArgumentParser(prog="building", description=__doc__)
    parser.add_argument("--architecture", default=None, help="amd64 or arm64; by default this machine's")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("collector", help="build the collector if it is not built yet (the default)")
    commands.add_parser("go", help="print the path of the Go that builds it")
    official = commands.add_parser("release", help="install an official release next to it")
    official.add_argument("version")
    packed = commands.add_parser("compressed", help="build it and write it, compressed, to the folder of a layer")
    packed.add_argument("folder", type=Path)
    packed_one = commands.add_parser("packed", help="build or install a version, and compress it beside the binary")
    packed_one.add_argument("version")
    arguments = parser.parse_args()

    try:
        cache, target = Cache.of_this_user(), Target.named(arguments.architecture)
        match arguments.command:
            case "go":
                path = toolchain.go(cache, collector.MODULE)
            case "release":
                path = release.install(cache, target, arguments.version)
            case "compressed":
                path = compressed.put(cache, target, arguments.folder)
            case "packed":
                path = compressed.packed_beside(cache, release.install(cache, target, arguments.version))
            case _:
                path = collector.build(cache, target)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
