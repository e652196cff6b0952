"""`python -m building` builds the collector and prints its path; see `--help` for the rest."""

import argparse
import sys
from pathlib import Path

from building import collector, compressed, regeneration, release, toolchain
from building.cache import Cache
from building.errors import BuildError
from building.target import Target


def main() -> int:
    parser = argparse.ArgumentParser(prog="building", description=__doc__)
    parser.add_argument("--architecture", default=None, help="amd64 or arm64; by default this machine's")
    parser.add_argument("--os", default=None, help="linux, windows or darwin; by default this machine's")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("collector", help="build the collector if it is not built yet (the default)")
    go = commands.add_parser("go", help="print the path of the Go that builds a version (the default one)")
    go.add_argument("version", nargs="?")
    commands.add_parser("versions", help="print the versions that are built from source")
    commands.add_parser("fixtures", help="print the versions of the reduced builds for tests")
    fixture = commands.add_parser("fixture", help="build the reduced build for tests of a version")
    fixture.add_argument("version")
    sources = commands.add_parser("sources", help="print the folder of a version's sources")
    sources.add_argument("version")
    commands.add_parser("default", help="print the default version")
    other = commands.add_parser("release", help="install another version next to it, from source if possible")
    other.add_argument("version")
    other.add_argument("--reduced", action="store_true", help="build it without what the module proxy does not serve")
    other.add_argument("--manifest", type=Path, help="file with the official manifest")
    first = commands.add_parser("first", help="build a version's first program, which lacks most components")
    first.add_argument("version")
    again = commands.add_parser("regenerate", help="make the folder of a version of its official manifest again")
    again.add_argument("version")
    again.add_argument("--manifest", type=Path, help="file with the official manifest")
    again.add_argument(
        "--unlisted", action="store_true", help="allow modules without an entry in the checksum database"
    )
    packed = commands.add_parser("compressed", help="build it and write it, compressed, to the folder of a layer")
    packed.add_argument("folder", type=Path)
    packed_one = commands.add_parser("packed", help="build or install a version, and compress it beside the binary")
    packed_one.add_argument("version")
    packed_file = commands.add_parser("packed-file", help="compress a built program beside itself")
    packed_file.add_argument("program", type=Path)
    arguments = parser.parse_args()

    try:
        cache, target = Cache.of_this_user(), Target.named(arguments.architecture, arguments.os)
        match arguments.command:
            case "go":
                path = toolchain.go(cache, collector.module(arguments.version or collector.default_version()))
            case "versions":
                print("\n".join(collector.versions()))
                return 0
            case "fixtures":
                print("\n".join(collector.versions(collector.FIXTURES)))
                return 0
            case "fixture":
                folder = collector.FIXTURES / arguments.version
                path = collector.build(cache, target, arguments.version, folder)
            case "sources":
                path = collector.module(arguments.version)
            case "default":
                print(collector.default_version())
                return 0
            case "regenerate":
                regeneration.regenerate(cache, arguments.version, arguments.manifest, unlisted=arguments.unlisted)
                path = collector.module(arguments.version)
            case "first":
                path = collector.build_first(cache, target, arguments.version)
            case "release":
                path = release.install(cache, target, arguments.version, arguments.manifest, reduced=arguments.reduced)
            case "compressed":
                path = compressed.put(cache, target, arguments.folder)
            case "packed":
                path = compressed.packed_beside(cache, release.install(cache, target, arguments.version))
            case "packed-file":
                path = compressed.packed_beside(cache, arguments.program)
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
