"""A login that nobody answers, in a terminal: the server's clock goes ahead, the rest is as it is."""

from pathlib import Path

import pytest

from tests.support.cli_support import Cli, until_end
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end


def test_a_login_that_nobody_approves_times_out(own_service: LocalService, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    cli = Cli(folder, own_service.base_url, "")
    child = cli.terminal("login", BROWSER="false")
    child.expect("Approve this login")
    own_service.stop()
    later = LocalService(own_service.data, **own_service.environment, HEADGATE_CLOCK_AHEAD_SECONDS="301")
    later.start()
    try:
        code, said = until_end(child)
    finally:
        later.stop()

    assert code == 3
    assert "headgate: Login timed out" in said
    assert not (cli.folder.parent / "home" / ".config" / "headgate" / "credentials.json").exists()
