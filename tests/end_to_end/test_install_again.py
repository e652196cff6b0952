"""A host that is installed again, or by a script of before: what it keeps. All of it is real."""

import shlex
import shutil

import psutil
import pytest

from tests.support.admin import Admin
from tests.support.fleet_host import Host, until
from tests.support.installing import host, installs, refused
from tests.support.local_service import LocalService

__all__ = ["host", "installs"]

pytestmark = pytest.mark.end_to_end


def again(host: Host, *options: str, env: dict[str, str] | None = None) -> None:
    """Install it again with a line that names no other variables than these."""
    body = {"platform": "linux", "systemd": False, "root_deploy_path": str(host.root), "env": env or {}}
    host.command = host.api.post(f"/fleets/{host.fleet_id}/install", json=body).json()["command"]
    host.command = " ".join([host.command, *map(shlex.quote, options)])
    host.install()


def variables_of(host: Host) -> dict[str, str]:
    """What the next start of the supervisor is given, without the connection."""
    entries = (host.root / "etc" / "environment").read_text().split("\0")[:-1]
    found = dict(entry.split("=", 1) for entry in entries)
    return {name: value for name, value in found.items() if name in ("STRANGE", "KEPT", "HEADGATE_HEALTH_ENDPOINT")}


STRANGE = "line\nbreak 'quote' $x `y` =é\t\\0101 %s \x01\n\n"


# test_install_script.py installs a host again, too.
@pytest.mark.full
def test_a_host_that_is_installed_again_keeps_its_variables(host: Host) -> None:
    health = f"127.0.0.1:{host.health_port}"
    before = {"STRANGE": STRANGE, "KEPT": "a", "HEADGATE_HEALTH_ENDPOINT": health}
    again(host, env={**before, "HEADGATE_APPLY_TIMEOUT": "3s"})
    assert variables_of(host) == before

    pid = host.pid
    again(host)
    # Nothing has changed, so it runs on.
    assert (variables_of(host), host.pid) == (before, pid)
    again(host, env={"KEPT": "b"})
    assert variables_of(host) == {**before, "KEPT": "b"}
    host.apply(host.flowing("${env:KEPT}"))
    assert host.flows_as("b")
    again(host, "--env", "KEPT=")
    assert variables_of(host) == {"STRANGE": STRANGE, "HEADGATE_HEALTH_ENDPOINT": health}
    again(host, "--clear-env", env={"KEPT": "c", "HEADGATE_HEALTH_ENDPOINT": health})
    assert variables_of(host) == {"KEPT": "c", "HEADGATE_HEALTH_ENDPOINT": health}
    assert [(host.root / "etc" / name).stat().st_mode & 0o777 for name in ("environment", "token")] == [0o600, 0o600]


@pytest.mark.full
def test_what_somebody_put_beside_an_install_stays(host: Host) -> None:
    host.install()
    (host.root / "var" / "mine").write_text("kept")
    (host.root / "bin" / "mine").write_text("kept")

    assert (
        host.uninstall() == f"Removed from {host.root}. The files that are left there are not part of this install.\n"
    )
    assert sorted(str(one.relative_to(host.root)) for one in host.root.rglob("*")) == [
        "bin",
        "bin/mine",
        "var",
        "var/mine",
    ]
    assert f"{host.root} contains files that no install created" in refused(host.command)


@pytest.mark.full
def test_a_host_of_the_script_before_is_upgraded_and_uninstalled(host: Host) -> None:
    host.install()
    n = host.apply(host.flowing("earlier"))
    before, listing = host.instance()["id"], host.root / ".headgate-installed"
    # The script of before 2026-11-22 left the same, without a list.
    listing.unlink()
    host.install()
    assert host.wait_for("applied", n)["id"] == before
    assert "folder .\n" in listing.read_text()
    listing.unlink()

    assert host.uninstall() == f"Removed from {host.root}.\n"
    assert not host.root.exists()
    assert host.instance()["state"] == "stopped"


def test_an_install_with_a_token_that_is_not_valid_any_more_fails_with_the_reason(
    host: Host, installs: LocalService
) -> None:
    answer = Admin(installs).http.post(f"/api/v1/app/fleets/{host.fleet_id}/token", json={"grace": "none"})
    assert answer.is_success, answer.text

    assert "Headgate does not accept the token" in refused(host.command)
    # It was told before anything was made.
    assert not host.root.exists()


# Two installs; the one before says what the supervisor is.
@pytest.mark.full
def test_a_supervisor_whose_state_was_removed_is_replaced_and_not_sent_to_another_port(host: Host) -> None:
    host.install()
    before = host.pid
    shutil.rmtree(host.root / "var")

    host.install()

    assert host.pid != before
    until(lambda: not psutil.pid_exists(before), host.log)
