"""A renewed token, a host that is cut off and one that was away, with real supervisors, collectors and the script."""

import os
import signal
from pathlib import Path

import pytest

from tests.support import fleet_host
from tests.support.cli_support import Founder
from tests.support.fleet_host import Host, until
from tests.support.installing import installs
from tests.support.local_service import LocalService

__all__ = ["installs"]

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]


def test_hosts_take_a_renewed_token_without_an_install_and_one_that_was_away_later(
    installs: LocalService, tmp_path: Path
) -> None:
    _, admin = Founder(installs).admin("renewing")
    (tmp_path / "other").mkdir()
    with (
        fleet_host.host(tmp_path, admin, "renewed", HEADGATE_NAME="here") as here,
        fleet_host.host(tmp_path / "other", admin, "renewed", fleet_id=here.fleet_id, HEADGATE_NAME="away") as away,
    ):
        here.install()
        away.install()

        def seen() -> dict[str, dict[str, object]]:
            return {one["name"]: one for one in admin.get(f"/fleets/{here.fleet_id}/instances").json()["items"]}

        def reports(host: Host) -> str:
            return f"{seen()}\n{host.log()[-3_000:]}"

        until(lambda: len(seen()) == 2, lambda: reports(here))
        files = [here.root / "etc" / "token", here.root / "etc" / "environment"]
        before, pid = [file.read_bytes() for file in files], here.pid
        ids = {name: one["id"] for name, one in seen().items()}
        os.kill(away.pid, signal.SIGTERM)
        until(lambda: seen()["away"]["state"] == "stopped", lambda: reports(away))

        path = str(admin.base_url).replace("/public/", f"/app/fleets/{here.fleet_id}/token")
        assert admin.post(path, json={"grace": "unused"}).status_code == 200
        until(lambda: seen()["here"]["token_current"] is True, lambda: reports(here))
        listed = admin.get(f"/fleets/{here.fleet_id}/instances", params={"old_token": "true"}).json()["items"]
        assert [one["name"] for one in listed] == ["away"]
        assert ([file.read_bytes() for file in files], here.pid) == (before, pid)
        renewed = here.root / "var" / "headgate-token.json"
        assert renewed.stat().st_mode & 0o777 == 0o600
        history = admin.get(f"/fleets/{here.fleet_id}/instances/{ids['here']}/history").json()["items"]
        assert "token_renewed" in [one["event"] for one in history]

        # Its start, as after a reboot: with the token that it was installed with.
        script = away.root / "bin" / "headgate-supervisor"
        assert script.is_file()
        away.install()
        until(lambda: seen()["away"]["token_current"] is True, lambda: reports(away))
        assert {name: one["id"] for name, one in seen().items()} == ids

        assert admin.post(f"/fleets/{here.fleet_id}/instances/{ids['here']}/cut-off").status_code == 200
        until(lambda: "host_cut_off" in here.log(), lambda: reports(here))
        assert admin.post(f"/fleets/{here.fleet_id}/instances/{ids['here']}/let-in").status_code == 200
        last = seen()["here"]["last_seen_at"]
        until(lambda: seen()["here"]["last_seen_at"] != last, lambda: reports(here))
