"""A service whose fleets are installed, and a host for each test."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from headgate.installs.releases import MANIFEST, PREFIX, Artifact, Release
from headgate_local.connection import of_service
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


def bucket_of(service: LocalService) -> tuple[Any, str]:
    """A client of S3, and the name of a running service's bucket."""
    environment = of_service(service.data)
    s3 = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_DEFAULT_REGION"],
    )
    return s3, environment["HEADGATE_BUCKET"]


@contextmanager
def released(
    service: LocalService, change: Callable[[dict[str, Artifact]], None], supervisor_version: str = ""
) -> Iterator[None]:
    """The release of a running service, changed for a while."""
    s3, bucket = bucket_of(service)
    at = {"Bucket": bucket, "Key": PREFIX + MANIFEST}
    before = s3.get_object(**at)["Body"].read()
    found = Release.decode(before)
    artifacts = dict(found.artifacts)
    change(artifacts)
    if artifacts:
        changed = Release(found.collector_version, supervisor_version or found.supervisor_version, artifacts)
        s3.put_object(**at, Body=changed.encode())
    else:
        s3.delete_object(**at)
    try:
        yield
    finally:
        s3.put_object(**at, Body=before)
