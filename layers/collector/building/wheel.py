"""Takes built programs out of a wheel `headgate-collector`, if one of exactly these builds is at hand.

Where to look is said by whoever starts the build: HEADGATE_FIND_LINKS names folders or pages with wheels,
HEADGATE_COLLECTOR_INDEX a package index. Without them only `dist/` of the checkout is looked at, because anybody could
register a name on a public index.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from building.cache import Cache
from building.errors import BuildError

NAME = "headgate-collector"
_DIST = Path(__file__).resolve().parents[3] / "dist"
_CHUNK = 1 << 20
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Wanted:
    """A program: its path in the wheel, the hash of what it is built from, and the folder of that build."""

    path: str
    build: str
    folder: Path

    @property
    def binary(self) -> Path:
        return self.folder / Path(self.path).name


def take(cache: Cache, wanted: Sequence[Wanted]) -> bool:
    """Whether all these builds are in the cache, now if not before. Raises BuildError for a damaged wheel."""
    if all(one.binary.is_file() for one in wanted):
        return True
    where = _where()
    if not where:
        return False
    with cache.locked("wheel"), tempfile.TemporaryDirectory() as folder:
        return any(_take_from(cache, wheel, wanted) for wheel in _downloaded(where, Path(folder)))


def _where() -> list[str]:
    """pip's options for where to look; none if there is no such place."""
    if links := os.environ.get("HEADGATE_FIND_LINKS", "").split():
        return ["--no-index", *(f"--find-links={link}" for link in links)]
    if index := os.environ.get("HEADGATE_COLLECTOR_INDEX"):
        return [f"--index-url={index}"]
    return ["--no-index", f"--find-links={_DIST}"] if any(_DIST.glob("headgate_collector-*.whl")) else []


def _downloaded(where: Sequence[str], folder: Path) -> list[Path]:
    """The newest wheel for this platform that is there."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--only-binary", ":all:", "--dest", str(folder), *where, NAME),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [""])[-1] if done else "pip took too long"
        print(f"There is no wheel {NAME} at hand: {said.removeprefix('ERROR: ')}", file=sys.stderr)
    return sorted(folder.glob("*.whl"))


def _take_from(cache: Cache, wheel: Path, wanted: Sequence[Wanted]) -> bool:
    try:
        with zipfile.ZipFile(wheel) as archive:
            programs = json.loads(archive.read("headgate_collector/programs.json"))["programs"]
            if any(programs.get(one.path, {}).get("build") != one.build for one in wanted):
                print(f"{wheel.name} is of another build than this checkout", file=sys.stderr)
                return False
            for one in wanted:
                if not one.binary.is_file():
                    program = programs[one.path]
                    with (
                        cache.new_folder(one.folder) as part,
                        archive.open(f"headgate_collector/{program['packed']}") as packed,
                    ):
                        _unpack(packed, part / one.binary.name, program)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BuildError(f"{wheel.name} cannot be used: {error}; remove it, or build it again") from error
    print(f"Took the collector of this build from {wheel.name}", file=sys.stderr)
    return True


def _unpack(packed: IO[bytes], binary: Path, program: Mapping[str, object]) -> None:
    """Raises ValueError if it is not the program that the wheel describes."""
    # Imported here: Go's part of the build does without the environment that has it.
    import zstandard

    digest, left = hashlib.sha256(), int(str(program["size"]))
    try:
        with binary.open("wb") as target:
            for chunk in zstandard.ZstdDecompressor().read_to_iter(packed, read_size=_CHUNK, write_size=_CHUNK):
                left -= len(chunk)
                if left < 0:
                    break
                digest.update(chunk)
                target.write(chunk)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if left or digest.hexdigest() != program["sha256"]:
        raise ValueError(f"{binary.name} is not the program that it describes")
    binary.chmod(0o755)
