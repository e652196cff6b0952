"""The official OpAMP client library against the fleet service: tests/opamp_client, run on a service of its own."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.go_programs import go
from tests.support.local_service import LocalService
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end


def test_the_official_client_rolls_out_fails_clears_and_gets_a_uid_of_its_own(tmp_path: Path) -> None:
    # An interval that a test can wait for; the client has to learn it from the service.
    service = LocalService(tmp_path / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.start()
    try:
        ran = subprocess.run(
            [go(), "test", "-count=1", "-v", "./..."],
            cwd=ROOT / "tests" / "opamp_client",
            env={
                **os.environ,
                "CGO_ENABLED": "0",
                "GOFLAGS": "-mod=readonly",
                "GOTOOLCHAIN": "local",
                "GOWORK": "off",
                "HEADGATE_URL": service.base_url,
                "SERVICE_API_TOKEN": service.read_write_token,
            },
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        service.stop()

    assert ran.returncode == 0, ran.stdout + ran.stderr
    for name in ("ARolloutAFailureAndClearing", "AUidThatIsInUseTwiceIsReplaced", "AWrongTokenIsNotTriedAgainAndAgain"):
        assert f"--- PASS: Test{name}" in ran.stdout
