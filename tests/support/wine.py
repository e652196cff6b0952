"""Wine, in which programs that are built for Windows start. What runs in it was not tried on Windows itself."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

# Debian keeps the program off the PATH.
_PATH = f"{os.environ['PATH']}:/usr/lib/wine"
_NEEDED = ("wine64", "wineserver", "x86_64-w64-mingw32-dlltool", "x86_64-w64-mingw32-ld")
# Go asks this library for random numbers; Wine has it from version 9 on.
_FORWARDS = "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n"


@dataclass(frozen=True)
class Wine:
    """A Windows with a disk of its own in a folder."""

    folder: Path

    @classmethod
    def started(cls, folder: Path) -> "Wine":
        """Skips the test where Wine or the linker for Windows is not installed."""
        lacking = [name for name in _NEEDED if shutil.which(name, path=_PATH) is None]
        if lacking:
            pytest.skip(f"{', '.join(lacking)}: apt-get install wine64 wine binutils-mingw-w64-x86-64")
        folder.mkdir()
        wine = cls(folder)
        wine.run("wineboot", "-i")
        definition, library = folder / "forwards.def", folder / "forwards.o"
        definition.write_text(_FORWARDS)
        for tool, *words in (
            ("dlltool", "-d", definition, "-e", library),
            ("ld", "-shared", "--entry=0", "-o", wine.disk / "windows/system32/bcryptprimitives.dll", library),
        ):
            subprocess.run([f"x86_64-w64-mingw32-{tool}", *words], check=True)
        return wine

    @property
    def disk(self) -> Path:
        return self.folder / "windows" / "drive_c"

    def run(self, *words: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program of Windows, by its path on either side."""
        return subprocess.run(
            ["wine64", *words],
            env=self._environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )

    def start(self, *words: str | Path, given: str) -> subprocess.Popen[bytes]:
        """Start a program, and give it this on its standard input."""
        process = subprocess.Popen(
            ["wine64", *words],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        process.stdin.write(given.encode())
        process.stdin.close()
        return process

    def end(self) -> None:
        """End what runs there."""
        subprocess.run(["wineserver", "-k"], env=self._environment, check=False)

    @property
    def _environment(self) -> dict[str, str]:
        variables = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return variables | {"PATH": _PATH, "WINEPREFIX": str(self.folder / "windows"), "WINEDEBUG": "-all"}
