"""`python -m supervisor_build supervisor [amd64|arm64 [linux|windows|darwin]]` builds it and prints its path.

`go` prints the path of the Go that builds it; `version`, `stamp` (what the program calls itself), `collector-version`
and `architecture` print these values.
`at-hand` ends with 0 if the collector and the supervisor of these sources are in the cache, if need be from a wheel
(layers/collector/building/wheel.py), and with 3 if they have to be built.

A build is stored under $HEADGATE_CACHE/supervisor by the hash of its sources; `linux-amd64` there is a link to the
newest build for amd64. It needs layers/collector on the path, whose cache and toolchain it shares.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from building import collector, toolchain, wheel
from building.cache import Cache, point
from building.collector import environment
from building.errors import BuildError
from building.target import Target

MODULE: Final = Path(__file__).resolve().parent
BINARY: Final = "headgate-supervisor"
NOT_AT_HAND: Final = 3
MOST_WORDS: Final = 2
FLAGS: Final = ("-trimpath", "-buildvcs=false", "-tags", "grpcnotrace")
_OFFICIAL: Final = re.compile(r"^[ \t]*\S+/cmd/opampsupervisor v(\S+)$", re.MULTILINE)


def main() -> int:
    try:
        match sys.argv[1:]:
            case ["version"]:
                print(version())
            case ["stamp"]:
                print(stamp())
            case ["collector-version"]:
                print(collector.default_version())
            case ["architecture"]:
                print(target().architecture)
            case ["go"]:
                print(toolchain.go(Cache.of_this_user(), MODULE))
            case ["at-hand"]:
                return 0 if at_hand(Cache.of_this_user(), target()) else NOT_AT_HAND
            case ["supervisor", *words] if len(words) <= MOST_WORDS:
                print(build(Cache.of_this_user(), target(*words)))
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def target(architecture: str | None = None, system: str = "linux") -> Target:
    """What a supervisor is built for: hosts run it, so by default Linux on any machine."""
    return Target.named(architecture, system)


def build(cache: Cache, target: Target) -> Path:
    """The path of the supervisor built from the current sources. Raises BuildError."""
    builds = cache.folder / "supervisor"
    link = builds / f"{target.os}-{target.architecture}"
    folder = builds / digest(target)
    with cache.locked("supervisor"):
        if not (folder / BINARY).is_file():
            with cache.new_folder(folder) as part:
                _compile(cache, target, part / BINARY)
        before = link.resolve()
        point(link, folder)
        if before not in (folder, link) and before.parent == builds:
            shutil.rmtree(before, ignore_errors=True)
    return link / BINARY


def at_hand(cache: Cache, target: Target) -> bool:
    """Whether nothing has to be built for this machine. Raises BuildError for a damaged wheel."""
    default, built = collector.default_version(), collector.digest(target, collector.default_version())
    own = digest(target)
    wanted = [
        wheel.Wanted(f"collectors/{default}/{collector.BINARY}", built, cache.folder / "collector" / default / built),
        wheel.Wanted(f"supervisor/linux-{target.architecture}/{BINARY}", own, cache.folder / "supervisor" / own),
    ]
    if not wheel.take(cache, wanted):
        return False
    # They are there, so these only point to them.
    collector.build(cache, target)
    build(cache, target)
    return True


def version() -> str:
    """The version of the official supervisor that it contains."""
    match = _OFFICIAL.search((MODULE / "go.mod").read_text())
    if match is None:
        raise BuildError("layers/supervisor/go.mod does not name the official supervisor")
    return match[1]


def stamp() -> str:
    """What a supervisor of the current sources reports as its version; the same on each system and architecture."""
    return f"{version()}+{digest(target('amd64'))[:12]}"


def digest(target: Target) -> str:
    """A hash of what the binary is made from."""
    total = hashlib.sha256(repr((target.os, target.architecture, FLAGS)).encode())
    sources = [path for path in MODULE.rglob("*.go") if not path.name.endswith("_test.go")]
    own = sorted([*sources, MODULE / "go.mod", MODULE / "go.sum"])
    named = [(str(path.relative_to(MODULE)), path) for path in own]
    named += [(f"secrets/{path.name}", path) for path in sorted(collector.secrets())]
    for text, path in named:
        name, content = text.encode(), path.read_bytes()
        total.update(b"%d %s %d " % (len(name), name, len(content)) + content)
    return total.hexdigest()


def _compile(cache: Cache, target: Target, binary: Path) -> None:
    print(
        f"Building the supervisor {version()} for {target.os}/{target.architecture}: some minutes the first time",
        file=sys.stderr,
    )
    command = [str(toolchain.go(cache, MODULE)), "build", *FLAGS]
    command += ["-ldflags", f"-s -w -X main.version={stamp()}", "-o", str(binary), "."]
    done = subprocess.run(command, cwd=MODULE, env=environment(target), stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        reason = "\n".join(done.stderr.splitlines()[-20:])
        raise BuildError(f"The supervisor could not be built. Go's error:\n{reason}")


if __name__ == "__main__":
    sys.exit(main())
