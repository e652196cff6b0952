"""The root directory of a confined collector: its folder, and the few files that it needs by name."""

import zipfile
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

FOLDER = "run"
TIME_ZONES = "/zones.zip"
"""The machine's time zones, for a collector that brings none: its variable ZONEINFO names them."""

# A memory_limiter with percentages reads the total; no verdict depends on its size.
_MEMORY = "".join(f"{name}: {1 << 20} kB\n" for name in ("MemTotal", "MemFree", "MemAvailable"))
_FILES = {"proc/meminfo": _MEMORY, "proc/self/cgroup": "", "proc/self/mountinfo": "", "otelcol-contrib": ""}
# Folders of every host, empty.
_FOLDERS = (
    *("proc", "proc/self", FOLDER, "bin", "dev", "etc", "home", "lib", "media", "mnt", "opt", "root", "sbin", "srv"),
    *("sys", "tmp", "usr", "usr/bin", "usr/lib", "usr/local", "usr/share", "var", "var/cache", "var/lib", "var/log"),
    *("var/run", "var/spool", "var/tmp"),
)
_MACHINES_ZONES = Path("/usr/share/zoneinfo")


def make_root_directory(root: Path, files: Mapping[str, str], *, time_zones: bool) -> None:
    """Make the root directory, with `files` in the collector's own folder, for any user to read."""
    for name in ("", *_FOLDERS):
        (root / name).mkdir()
        (root / name).chmod(0o755)
    contents = {name: text.encode() for name, text in _FILES.items()}
    contents |= {f"{FOLDER}/{name}": text.encode() for name, text in files.items()}
    if time_zones:
        contents[TIME_ZONES.removeprefix("/")] = _time_zones()
    for name, content in contents.items():
        (root / name).write_bytes(content)
        (root / name).chmod(0o644)
    # A component looks up the path of its own binary and requires that it exists.
    (root / "proc/self/exe").symlink_to("/otelcol-contrib")


@cache
def _time_zones() -> bytes:
    """The machine's time zones as Go reads them: in an archive, stored as they are."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as zones:
        for path in sorted(_MACHINES_ZONES.rglob("*")):
            name = path.relative_to(_MACHINES_ZONES)
            if name.parts[0] not in ("posix", "right") and path.is_file():
                content = path.read_bytes()
                if content.startswith(b"TZif"):
                    zones.writestr(zipfile.ZipInfo(str(name)), content)
    return archive.getvalue()
