"""Wine, in which programs that are built for Windows start. What runs in it was not tried on Windows itself."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.support.go_programs import go
from tests.support.service import ROOT

# Debian keeps the program off the PATH.
_PATH = f"{os.environ['PATH']}:/usr/lib/wine"
_NEEDED = ("wixl", "wine64", "wineserver", "x86_64-w64-mingw32-dlltool", "x86_64-w64-mingw32-ld")
# Go asks this library for random numbers; Wine has it from version 9 on.
_FORWARDS = "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n"

_SUPERVISOR: Final = ROOT / "layers" / "supervisor"
_OFFICIAL: Final = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor"
_STOPS: Final = """\
package commander

import (
	"os"
	"syscall"
)

func sendShutdownSignal(process *os.Process) error { return process.Kill() }

func sysProcAttrs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
"""


def supervisor_for_wine(folder: Path) -> Path:
    """Our supervisor for Windows, but the official code in it ends its collector by force.

    Windows asks a collector to end by the console event CTRL_BREAK. Wine has none, and refuses to send it: the official
    supervisor then ends at its start. So this is what a host sees whose collectors hang.
    """
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": "windows", "GOARCH": "amd64", "GOFLAGS": "-mod=mod"}

    def run(*words: str | Path) -> str:
        command = [go(), *words]
        done = subprocess.run(command, cwd=_SUPERVISOR, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    copy = folder / "opampsupervisor"
    shutil.copytree(run("list", "-m", "-f", "{{.Dir}}", _OFFICIAL), copy, copy_function=shutil.copyfile)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o700)
    (copy / "supervisor" / "commander" / "commander_windows.go").write_text(_STOPS)
    for name in ("go.mod", "go.sum"):
        shutil.copy(_SUPERVISOR / name, folder / name)
    run("mod", "edit", f"-replace={_OFFICIAL}={copy}", folder / "go.mod")
    program = folder / "headgate-supervisor.exe"
    flags = ("-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w")
    run("build", f"-modfile={folder / 'go.mod'}", *flags, "-o", program, ".")
    return program


@dataclass(frozen=True)
class Wine:
    """A Windows with a disk of its own in a folder."""

    folder: Path

    @classmethod
    def started(cls, folder: Path) -> "Wine":
        """Skips the test where Wine or the linker for Windows is not installed."""
        lacking = [name for name in _NEEDED if shutil.which(name, path=_PATH) is None]
        if lacking:
            pytest.skip(f"{', '.join(lacking)}: apt-get install wine64 wine binutils-mingw-w64-x86-64 wixl")
        folder.mkdir()
        wine = cls(folder)
        wine.run("wineboot", "-i")
        definition, library = folder / "forwards.def", folder / "forwards.o"
        definition.write_text(_FORWARDS)
        for tool, *words in (
            ("dlltool", "-d", str(definition), "-e", str(library)),
            ("ld", "-shared", "--entry=0", "-o", f"{wine.disk}/windows/system32/bcryptprimitives.dll", str(library)),
        ):
            subprocess.run([f"x86_64-w64-mingw32-{tool}", *words], check=True)
        return wine

    @property
    def disk(self) -> Path:
        return self.folder / "windows" / "drive_c"

    def run(self, *words: str | Path, given: str = "") -> str:
        """Run a program of Windows, by its path on either side; what it prints."""
        # Not a pipe: services that it starts would hold that open.
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as typed:
            typed.write(given)
            typed.seek(0)
            subprocess.run(
                ["wine64", *words],
                env=self._environment,
                stdin=typed,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=240,
            )
            output.seek(0)
            return output.read()

    @contextmanager
    def staying(self) -> Iterator[None]:
        """Until the block ends, services run: Wine ends them with the last program that was started from here."""
        with subprocess.Popen(
            ["wine64", "cmd.exe"],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as program:
            try:
                yield
            finally:
                program.kill()

    def end(self) -> None:
        """End what runs there."""
        subprocess.run(["wineserver", "-k"], env=self._environment, check=False)

    @property
    def _environment(self) -> dict[str, str]:
        variables = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return variables | {"PATH": _PATH, "WINEPREFIX": str(self.folder / "windows"), "WINEDEBUG": "-all"}
