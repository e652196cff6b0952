"""Findings of a whole fleet: hosts are counted once, a text that could not be checked takes nothing from the others."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from headgate import checker
from headgate.checker import CheckerBusy
from headgate_engine.checker.asker import Asker
from tests.api.test_observed_bridge import Bridge, bridge
from tests.api.test_observed_fleets import EXTENSION, without_group
from tests.support.fleet_of_agents import ann, fleet, now
from tests.support.members import API

__all__ = ["ann", "bridge", "fleet", "now"]

pytestmark = pytest.mark.usefixtures("fleets_without_collector")

Answer = Mapping[str, object]
_VALID: Final = {"valid": True, "errors": [], "warnings": [], "environment": []}
_INVALID: Final = _VALID | {
    "valid": False,
    "errors": [
        {"message": "no such key", "component_path": "service", "code": "invalid_value", "line": 1, "column": 1}
    ],
}
_NO_PARTS: Final = {name: {"problem": {"code": "not_lintable", "message": "scripted"}} for name in ("lint", "policies")}
# In the text of one of the bridge's three collectors, and of no other.
_OF_GATEWAY: Final = "x-team"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], Answer]], list[float]]:
    """Checks each text as a test says. The list has the seconds within which each answer is waited for."""

    def checks(judge: Callable[[str], Answer]) -> list[float]:
        seconds: list[float] = []

        def call(op: str, fields: Mapping[str, Any], *, asker: Asker, **_: object) -> Answer:
            assert asker.ends is not None
            seconds.append(asker.ends - time.monotonic())
            return {**judge(fields["yaml"]), **_NO_PARTS}

        monkeypatch.setattr(checker.COLLECTORS, "call", call)
        return seconds

    return checks


def _findings(bridge: Bridge, expected: int = 200, **params: str) -> Any:
    response = bridge.fleet.member.http.get(f"{API}/fleets/{bridge.fleet.id}/findings", params=params)
    assert response.status_code == expected, response.text
    return response.json()


def test_a_bridge_with_several_collectors_is_one_host(
    bridge: Bridge, checked: Callable[[Callable[[str], Answer]], list[float]]
) -> None:
    checked(lambda _: _INVALID)
    answer = _findings(bridge)
    error = next(item for item in answer["items"] if item["code"] == "invalid_value")

    assert answer["checked"] == 3
    assert (error["count"], len(error["hosts"])) == (1, 3)
    assert (answer["without_findings"], answer["not_checked"]) == (0, 0)

    # Two hosts of one name.
    for _ in range(2):
        agent = without_group(bridge.fleet, capabilities=EXTENSION, host_name="edge")
        agent.start()
        message = agent.message()
        message.effective_config.config_map.config_map[""].body = b"service: {}"
        agent.send(message)
    ends = {seen["id"][-6:] for seen in bridge.fleet.instances() if seen["host_name"] == "edge"}
    hosts = [{*item["hosts"]} for item in _findings(bridge)["items"]]
    assert any({f"edge (…{end})" for end in ends} <= named for named in hosts), hosts


def test_a_text_that_could_not_be_checked_is_said_beside_the_others(
    bridge: Bridge, checked: Callable[[Callable[[str], Answer]], list[float]]
) -> None:
    def judge(yaml: str) -> Answer:
        if _OF_GATEWAY in yaml:
            raise CheckerBusy("The checker was busy for 5 s")
        return _VALID

    checked(judge)
    answer = _findings(bridge)

    (left_out,) = (item for item in answer["items"] if "The checker was busy" in item["message"])
    assert (answer["checked"], answer["not_checked"], left_out["code"]) == (2, 1, "not_checked")
    assert [name.partition(" ")[2] for name in left_out["hosts"]] == ["(shop/gateway)"]


def test_if_no_text_could_be_checked_it_is_503(
    bridge: Bridge, checked: Callable[[Callable[[str], Answer]], list[float]]
) -> None:
    def judge(_: str) -> Answer:
        raise CheckerBusy("The checker was busy for 5 s")

    checked(judge)
    assert _findings(bridge, 503)["code"] == "not_checked"


def test_the_checks_of_a_fleet_end_together_before_the_api_gives_up(
    bridge: Bridge, checked: Callable[[Callable[[str], Answer]], list[float]]
) -> None:
    seconds = checked(lambda _: _VALID)
    _findings(bridge)

    assert len(seconds) >= 3
    # A check of one text has 26 s.
    assert max(seconds) <= 20
