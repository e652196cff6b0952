"""Compresses the collector for a Lambda layer, whose limit is 250 MB; the binary has 359 MB."""

import shutil
import subprocess
import sys
from pathlib import Path

from building import collector
from building.cache import Cache
from building.errors import BuildError
from building.target import Target

_LEVEL = 9  # 77 MB in 7 seconds on two processors; level 19 takes 4 minutes for 66 MB


def put(cache: Cache, target: Target, folder: Path) -> Path:
    """Write `collectors/<version>/otelcol-contrib.zst` to the folder and return its path. Raises BuildError."""
    binary = collector.build(cache, target)
    packed = packed_beside(cache, binary)
    placed = folder / "collectors" / collector.default_version() / packed.name
    placed.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(packed, placed)
    return placed


def packed_beside(cache: Cache, binary: Path) -> Path:
    """The path of the compressed binary, which is written beside it once. Raises BuildError."""
    with cache.locked("compressed"):
        packed = binary.with_name(binary.name + ".zst")
        if not packed.is_file():
            print(
                f"Compressing {binary.name} ({binary.stat().st_size >> 20} MB)",
                file=sys.stderr,
            )
            part = packed.with_suffix(".part")
            _compress(binary, part)
            part.rename(packed)
    return packed


def _compress(binary: Path, packed: Path) -> None:
    try:
        # The locked library, whose bytes are the same on every machine, before the machine's own program.
        import zstandard
    except ImportError:
        program = shutil.which("zstd")
        if program is None:
            raise BuildError(
                "The collector cannot be compressed: install the program zstd, or Python's zstandard"
            ) from None
        command = [program, f"-{_LEVEL}", "--threads=0", "--quiet", "--force", str(binary), "-o", str(packed)]
        if subprocess.run(command, check=False).returncode != 0:
            raise BuildError("zstd could not compress the collector") from None
        return
    size = binary.stat().st_size
    with binary.open("rb") as source, packed.open("wb") as target:
        zstandard.ZstdCompressor(level=_LEVEL, threads=-1).copy_stream(source, target, size=size)
