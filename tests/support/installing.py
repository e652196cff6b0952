"""A service whose fleets are installed, and a host for each test."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import fleet_host
from tests.support.fleet_host import Host
from tests.support.local_service import LocalService


@pytest.fixture(scope="module")
def installs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    started = LocalService(
        tmp_path_factory.mktemp("installs") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1", HEADGATE_FLEET_LIMIT="100"
    )
    started.start()
    yield started
    started.stop()


@pytest.fixture
def host(installs: LocalService, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Host]:
    """A host that is not installed yet."""
    with fleet_host.host(tmp_path, installs.client(), request.node.name) as one:
        yield one


def refused(command: str, **environment: str) -> str:
    """What the line says as it fails."""
    variables = {**os.environ, **environment}
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, env=variables, timeout=120
    )
    assert done.returncode != 0, done.stdout
    return done.stderr
