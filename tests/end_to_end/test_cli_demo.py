"""`headgate demo` fills an organization with what the real collector accepts, and takes all of it away again."""

import os
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from headgate_cli.demo.content import EXAMPLES, FLEET, HOSTS, MARK
from tests.support.cli_support import Cli

pytestmark = pytest.mark.end_to_end

PROCESS = re.compile(r"from the process (\d+)")


def waited(found: Callable[[], Any], seconds: float = 120) -> Any:
    """What `found` gives once it gives something."""
    until = time.monotonic() + seconds
    while True:
        if result := found():
            return result
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.5)


def ours(api: httpx.Client) -> dict[str, dict[str, Any]]:
    """The configurations of the demo, by name."""
    listed = api.get("/configurations", params={"limit": 100}).json()["items"]
    return {one["name"]: one for one in listed if one["description"] == MARK}


def fleet(api: httpx.Client) -> dict[str, Any] | None:
    return next(iter(api.get("/fleets", params={"name": FLEET}).json()["items"]), None)


@pytest.mark.full
def test_a_demo_fills_an_organization_and_is_taken_away_again_also_after_a_crash(cli: Cli) -> None:
    process = PROCESS.search(cli.ok("demo", "--detach"))
    assert process is not None
    with cli.api() as api:
        made = ours(api)
        assert made.keys() == {example.name for example in EXAMPLES}
        for example in EXAMPLES:
            shown = api.get(f"/configurations/{made[example.name]['id']}").json()
            assert shown["published_version"] == (len(example.files) if example.published else None)
            for yaml in example.texts():
                verdict = api.post("/validate", json={"yaml": yaml}).json()
                assert verdict["valid"] is example.published, (example.name, verdict)

        def settled() -> dict[str, Any] | None:
            counts: dict[str, int] = (fleet(api) or {"instances": {}})["instances"]
            return counts if counts.get("applied", 0) + counts.get("apply_failed", 0) == len(HOSTS) else None

        counts = waited(settled)
        assert (counts["total"], counts["apply_failed"]) == (len(HOSTS), 1)
        known = fleet(api)
        assert known is not None
        instances = api.get(f"/fleets/{known['id']}/instances").json()["items"]
        assert {one["labels"].get("headgate.demo") for one in instances} == {"true"}
        groups = api.get(f"/fleets/{known['id']}/deployments").json()["items"]
        (default,) = [one["id"] for one in groups if one["name"] == "Default"]
        rollouts = api.get(f"/fleets/{known['id']}/deployments/{default}/rollouts").json()["items"]
        assert rollouts[0]["status"] == "in_progress"
        told = waited(
            lambda: (
                {one["kind"] for one in api.get("/overview", params={"check": "true"}).json()["notices"]}
                >= {"apply_failed", "draft_invalid", "run_failed"}
            )
        )
        assert told

        again = cli.ok("demo")
        assert ("+" in again, PROCESS.findall(again)) == (False, [process[1]])

        # As in a crash, after which nobody says that the hosts stopped.
        os.kill(int(process[1]), signal.SIGKILL)
        removed = cli.ok("demo", "--remove")
        assert f"fleet {FLEET} with its groups and hosts is deleted" in removed
        assert (fleet(api), ours(api)) == (None, {})
        assert cli.ok("demo", "--remove").strip() == "There is nothing of a demo"
