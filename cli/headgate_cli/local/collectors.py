"""The collectors of this machine: those of `make collector`, that of the wheel `headgate-collector`, or a named one."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headgate_cli import collector_wheel
from headgate_cli.collector_version import VERSION, age
from headgate_cli.errors import Unreachable
from headgate_cli.untrusted import one_line

if TYPE_CHECKING:
    from headgate_engine.checker.supervisor import Checker

BINARY: Final = "otelcol-contrib"
# The version that `make collector` builds; tests compare it with layers/collector/versions/DEFAULT.
DEFAULT: Final = "0.139.0"
_WAY_OUT: Final = (
    "install one with `pip install headgate-collector`, build one with `make collector` in a checkout of Headgate, or "
    "name one with --collector PATH"
)


class NoCollector(Unreachable):
    """This machine has no collector, or it cannot be used; the message has the way out."""


def folder() -> Path:
    """The folder in which `make collector` puts collectors, one folder a version."""
    return Path(os.environ.get("HEADGATE_COLLECTORS_DIR") or collector_wheel.cache() / "collectors").absolute()


def installed() -> list[str]:
    """The versions in `folder()` and that of the wheel `headgate-collector`, oldest first."""
    try:
        names = {entry.name for entry in folder().iterdir() if VERSION.fullmatch(entry.name)}
    except OSError:
        names = set()
    built = {name for name in names if (folder() / name / BINARY).is_file()}
    wheel = collector_wheel.installed()
    return sorted(built | ({wheel.collector_version()} if wheel else set()), key=age)


def default() -> str:
    """The version of the wheel, else the default one, else the newest. Raises NoCollector if there is none."""
    wheel = collector_wheel.installed()
    versions = installed()
    if not versions:
        raise NoCollector(f"there is no collector in {one_line(str(folder()))}: {_WAY_OUT}")
    return wheel.collector_version() if wheel else DEFAULT if DEFAULT in versions else versions[-1]


def of_wheel() -> dict[str, Path]:
    """The collector of the wheel by its version, unpacked into the cache. Raises NoCollector if it cannot be."""
    wheel = collector_wheel.installed()
    if not wheel:
        return {}
    version = wheel.collector_version()
    try:
        return {version: wheel.unpacked(collector_wheel.cache()) / "collectors" / version / BINARY}
    except OSError as error:
        raise NoCollector(f"cannot unpack the collector: {one_line(str(error))}") from error


def checker(named: str) -> Checker:
    """The collectors of this machine, the named one before the others. Raises NoCollector."""
    if platform.system() != "Linux":
        raise NoCollector("a collector is confined by means of Linux only: check with a server, without --local")
    try:
        from headgate_engine.checker.installed import Installed
        from headgate_engine.checker.limits import Limits
        from headgate_engine.checker.supervisor import Checker
    except ImportError as error:
        raise NoCollector("--local needs the engine: install it with `pip install headgate-collector`") from error
    # One question at a time of each of two versions. More time than a service has: this machine does other work.
    limits = Limits(processes=3, start_seconds=60, queue_seconds=60, request_seconds=30)
    if named:
        binary = Path(named).absolute()
        version = _version_of(binary, limits)
        paths = {version: binary}
    else:
        version, paths = default(), of_wheel()
    return Checker(Installed(folder(), named=paths), version, limits)


def _version_of(binary: Path, limits: object) -> str:
    from headgate_engine.checker.descriptions import Descriptions
    from headgate_engine.checker.errors import NoChecker, Unusable
    from headgate_engine.checker.limits import Limits

    assert isinstance(limits, Limits)
    shown = one_line(str(binary))
    try:
        return str(Descriptions(limits).of_binary(binary).get("version", ""))
    except NoChecker as error:
        raise NoCollector(f"{shown} is an official release, which has no `check` command: {_WAY_OUT}") from error
    except Unusable as error:
        raise NoCollector(f"{shown} cannot be used: {one_line(error.detail)}; {_WAY_OUT}") from error
