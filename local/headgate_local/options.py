"""Settings from the environment, and what must exist before the service starts."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Final

from headgate_local.errors import CannotStart

HOST: Final = "127.0.0.1"
_DEFAULT_PORT: Final = 8300
_BACKLOG: Final = 2048
# Variables of template.yaml that may be set in the environment. All others always have the template's value.
CHOICES: Final = (
    "HEADGATE_RATE_LIMIT_PER_MINUTE",
    "HEADGATE_PERSON_RATE_LIMIT_PER_MINUTE",
    "HEADGATE_CHECKS_UNDER_WAY",
    "HEADGATE_RUNS_UNDER_WAY",
    "HEADGATE_RUNS_WAITING",
    "HEADGATE_FLEET_LIMIT",
    "HEADGATE_FLEET_HEARTBEAT_SECONDS",
    "HEADGATE_INSTANCE_LIMIT",
    "HEADGATE_NEW_INSTANCES_PER_MINUTE",
    "HEADGATE_SUPERVISOR_IMAGE",
    "HEADGATE_COLLECTOR_VERSION",
)

# In place of the template's values: a person is watching, messages cost nothing, and the machine has one user.
DEFAULTS: Final = {"HEADGATE_FLEET_HEARTBEAT_SECONDS": "5", "HEADGATE_RATE_LIMIT_PER_MINUTE": "600"}


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    listen_on: str
    port: int
    data: Path
    collectors: Path


def read_options(environment: Mapping[str, str]) -> ServiceOptions:
    """The settings. Raises CannotStart if HEADGATE_PORT is not a port."""
    port = environment.get("HEADGATE_PORT") or str(_DEFAULT_PORT)
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise CannotStart(f"HEADGATE_PORT is {port!r}, but must be a number from 1 to 65535")
    cache = environment.get("HEADGATE_CACHE") or f"{environment.get('XDG_CACHE_HOME') or '~/.cache'}/headgate"
    data = environment.get("HEADGATE_DATA") or f"{environment.get('XDG_DATA_HOME') or '~/.local/share'}/headgate"
    collectors = environment.get("HEADGATE_COLLECTORS_DIR") or f"{cache}/collectors"
    # In a container, only its own address is reached through a published port.
    listen_on = environment.get("HEADGATE_LISTEN") or HOST
    return ServiceOptions(listen_on, int(port), _absolute(data), _absolute(collectors))


def require_collector(collectors: Path, version: str) -> None:
    """Raises CannotStart unless that version of the collector is installed."""
    binary = collectors / version / "otelcol-contrib"
    if not os.access(binary, os.X_OK):
        raise CannotStart(f"the collector {version} is not at {binary}: run `make collector`")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, so that a port in use is known before anything else is done. Raises CannotStart.

    Clients that connect before the service is ready wait instead of being refused.
    """
    # With its protocol: asyncio turns off Nagle's algorithm, 40 ms an answer, only for sockets known to be TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotStart(
                f"port {port} is in use: stop the program that uses it, or set HEADGATE_PORT to another port"
            ) from error
        raise CannotStart(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The data folder, created if necessary, is used by this process only. Raises CannotStart.

    The lock ends with this process, however it ends.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotStart(
            f"cannot write to the data folder {folder}: {error.strerror}. Set HEADGATE_DATA to another folder"
        ) from error
    try:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise CannotStart(
                f"the data folder {folder} is in use by another Headgate, process {holder}: stop that one, or set "
                "HEADGATE_DATA to another folder"
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
