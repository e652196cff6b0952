"""A machine that systemd has booted: a Debian of its own, which shares this machine's kernel and network."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.service import ROOT

_PATH: Final = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What systemd-nspawn ends with if the machine asked for a reboot.
_REBOOT: Final = 133
_PATIENCE: Final = 240
_ROOT_OF_MACHINES: Final = ROOT / "scripts" / "ensure_systemd_root"


def _can_boot() -> bool:
    """Whether there is a machine to boot: `make test` makes one where that is possible."""
    return subprocess.run([_ROOT_OF_MACHINES, "--made"], check=False, capture_output=True).returncode == 0


needs_systemd: Final = pytest.mark.skipif(
    not _can_boot(),
    reason="no machine with systemd can boot here: as root on Debian, `scripts/ensure_systemd_root` makes one",
)


class Machine:
    """What is written into it stays over a reboot, and is gone with the folder that it was made in."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "machine"
        self._layers = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._init = 0

    def start(self) -> None:
        """Boot it, and return when systemd says that all has started."""
        if not self.root.is_mount():
            self._mount()
        log = (self._layers / "console.log").open("ab")
        command = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe"]
        command += ["--resolv-conf=off", "--directory", str(self.root)]
        with log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + _PATIENCE
        while not self._is_running():
            assert time.monotonic() < end, (self._layers / "console.log").read_text(errors="replace")
            time.sleep(0.1)

    def run(self, command: str, *, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Run a line of shell in the machine, as that user with a login's environment."""
        inside = ["nsenter", "-t", str(self._init), "-m", "-u", "-i", "-p", "-r", "-w", "/usr/bin/env", "-i", _PATH]
        # With what PAM of the machine says of the user; root needs nothing of it.
        words = ["/bin/sh", "-c", command] if user == "root" else ["su", "-s", "/bin/sh", "-", user, "-c", command]
        return subprocess.run([*inside, *words], capture_output=True, text=True, check=False, timeout=300)

    def output(self, command: str) -> str:
        """What a line prints. Raises AssertionError if it fails."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def reboot(self) -> None:
        """Reboot it as a person would, and wait until it is up again."""
        self.output("systemctl reboot")
        assert self._process is not None
        assert self._process.wait(_PATIENCE) == _REBOOT
        self.start()

    def stop(self) -> None:
        """End it with all of its processes."""
        if self._process is not None and self._process.poll() is None:
            # The end of its init ends whatever runs in its namespace.
            subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(self._init or self._process.pid)], check=False)
            self._process.wait(_PATIENCE)
        subprocess.run(["umount", "--lazy", str(self.root)], check=False, capture_output=True)

    def _mount(self) -> None:
        base = subprocess.run([_ROOT_OF_MACHINES], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        for name in ("machine", "changes", "work"):
            (self._layers / name).mkdir(exist_ok=True)
        options = f"lowerdir={base},upperdir={self._layers}/changes,workdir={self._layers}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(self.root)], check=True)

    def _is_running(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._layers / "console.log").read_text(errors="replace")
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        if not children:
            return False
        self._init = int(children[0])
        return self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded")


@contextmanager
def machine(folder: Path) -> Iterator[Machine]:
    """A machine that has booted, and is ended after."""
    booted = Machine(folder)
    try:
        booted.start()
        yield booted
    finally:
        booted.stop()
