"""The command `dev`: the whole service on this machine, from the wheel `headgate-local`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Final, Protocol, cast

import click

from headgate_cli import VERSION, collector_wheel
from headgate_cli.errors import Failed

_PACKAGE: Final = "headgate_service"
_WAY_OUT: Final = f"install it with `pipx install 'headgate[local]=={VERSION}'`, or run `make dev` in a checkout"


class _Service(Protocol):
    """The functions of the package that this one uses."""

    PYTHONPATH: tuple[str, ...]


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="The port; by default HEADGATE_PORT, else 8300.")
@click.option("--data", type=click.Path(file_okay=False), help="The folder of the data; by default HEADGATE_DATA.")
def dev(port: int | None, data: str | None) -> None:
    """Run the whole service on this machine until Ctrl-C: no AWS account, no Docker.

    It prints its address, a sign-in and two tokens, which stay the same.

    \b
    Examples:
      headgate dev
      headgate dev --port 8400 --data ./headgate-data
    """
    wheel = collector_wheel.installed()
    if importlib.util.find_spec(_PACKAGE) is None or wheel is None:
        raise Failed(f"the local service is not installed: {_WAY_OUT}")
    service = cast("_Service", importlib.import_module(_PACKAGE))
    try:
        programs = wheel.unpacked(collector_wheel.cache())
    except OSError as error:
        raise Failed(f"cannot unpack the collector: {error}") from error
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(service.PYTHONPATH)}
    if not os.environ.get("HEADGATE_COLLECTORS_DIR"):
        # The supervisor is beside the collectors.
        environment |= {"HEADGATE_COLLECTORS_DIR": str(programs / "collectors"), "HEADGATE_CACHE": str(programs)}
    environment["HEADGATE_COLLECTOR_VERSION"] = wheel.collector_version()
    chosen = {"HEADGATE_PORT": port, "HEADGATE_DATA": data and Path(data).absolute()}
    environment |= {name: str(value) for name, value in chosen.items() if value is not None}
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", "headgate_local"], environment)
