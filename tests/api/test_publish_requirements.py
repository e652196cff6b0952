"""Publishing where an organization requires policies. The collector answers what a test wants."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from configurations.app import router as configurations_router
from configurations.policies import router as policies_router
from headgate.checker import CheckerBusy, NoChecker, NotInstalled, Refused
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.identity import checks
from headgate.identity import service as identity
from headgate.policies import service as policies
from tests.support.configurations import create, get, patch, publish
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member, application
from tests.support.scripted_policies import NOTHING, Engine, found, scripted
from tests.support.world import joined, session_of

WRONG, RIGHT = "a: wrong\n", "a: right\n"
SUPPRESSION = {"code": "insecure_tls", "line": 3, "until": "", "reason": "a test", "used": True, "problem": None}


def judged(request: Mapping[str, Any]) -> dict[str, Any]:
    """The policy that is broken by every text with the word `wrong`."""
    broken = "wrong" in request["yaml"]
    return NOTHING | {"findings": [found("insecure_tls", 2)] if broken else [], "suppressions": [SUPPRESSION]}


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = scripted(monkeypatch)
    engine.answers["policies"] = judged
    return engine


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router], "ann")


Setting = Callable[..., None]


@pytest.fixture
def require(organization_id: str) -> Setting:
    """Saves the settings of an organization that requires policies, or others."""
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    admin = TestClient(application([policies_router]), headers=headers)

    def save(insecure_tls: str = "error", requires: tuple[str, ...] = ("policies",)) -> None:
        body = {"severities": {"insecure_tls": insecure_tls}, "not_suppressible": [], "rules": []}
        answer = admin.put(f"{API}/policies", json={**body, "publish_requires": list(requires)})
        assert answer.status_code == 200, answer.text

    return save


def status_of(member: Member, configuration_id: str) -> str:
    return str(get(member, f"/{configuration_id}/versions/1").json()["status"])


def test_without_a_requirement_no_policy_is_asked(ann: Member, engine: Engine, require: Setting) -> None:
    require(requires=())
    engine.asked.clear()

    assert publish(ann, create(ann, yaml=WRONG)).status_code == 200
    assert engine.asked == []


def test_a_version_that_breaks_a_policy_is_not_published(ann: Member, require: Setting) -> None:
    require()
    configuration_id = create(ann, yaml=WRONG)
    answer = publish(ann, configuration_id)
    problem = answer.json()

    assert (answer.status_code, problem["code"]) == (409, "publish_requirements")
    assert problem["errors"] == [
        {
            "loc": ["policies"],
            "message": "It breaks insecure_tls",
            "component_path": "exporters::otlp",
            "line": 2,
            "column": 3,
            "code": "insecure_tls",
        }
    ]
    assert problem["detail"].startswith(
        "Your organization publishes only versions without policy errors: It breaks insecure_tls. "
        "Fix what is found in a draft, or suppress it with a comment if that is allowed"
    )
    assert status_of(ann, configuration_id) == "draft"


def test_advice_is_not_an_obstacle(ann: Member, require: Setting) -> None:
    require("warning")

    assert publish(ann, create(ann, yaml=WRONG)).status_code == 200


def test_a_version_is_judged_by_its_own_collector(ann: Member, engine: Engine, require: Setting) -> None:
    require()
    configuration_id = create(ann, yaml=RIGHT)
    patch(ann, configuration_id, 1, collector_version="0.158.0")

    assert publish(ann, configuration_id).status_code == 200
    assert [(op, version) for op, version, _ in engine.asked][-1] == ("policies", "0.158.0")


def test_what_is_published_stays_so_and_is_not_asked_about_again(ann: Member, engine: Engine, require: Setting) -> None:
    configuration_id = create(ann, yaml=WRONG)
    first = publish(ann, configuration_id)
    require()
    engine.asked.clear()

    again = publish(ann, configuration_id)
    assert (again.status_code, again.json()) == (200, first.json())
    assert engine.asked == []


def test_a_rule_that_could_not_be_evaluated_does_not_pass(ann: Member, organization_id: str, engine: Engine) -> None:
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    examples = [{"yaml": "a: 1", "violated": True}]
    rule = {"name": "strict", "expression": "true", "message": "No", "severity": "error", "examples": examples}
    body = {"severities": {}, "not_suppressible": [], "rules": [rule], "publish_requires": ["policies"]}
    with TestClient(application([policies_router]), headers=headers) as admin:
        assert admin.put(f"{API}/policies", json=body).status_code == 200
    engine.answers["policies"] = NOTHING | {"failed_rules": [{"name": "strict", "error": "no such key"}]}
    refused = publish(ann, create(ann, yaml=RIGHT))

    assert refused.status_code == 409
    assert [one["message"] for one in refused.json()["errors"]] == [
        "The rule strict could not be evaluated: no such key"
    ]
    assert refused.json()["detail"].endswith(
        "no such key. An Admin has to mend the rules that could not be evaluated, with `headgate policy set`: "
        "no comment helps"
    )


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (CheckerBusy("busy"), 503, "not_checked"),
        ({"findings": "none"}, 503, "not_checked"),
        (Refused("too_costly", "too much"), 422, "yaml_too_costly"),
        (Refused("yaml_syntax", "line 1: no"), 422, "yaml_syntax"),
        (NoChecker("none"), 422, "policies_not_possible"),
        (NotInstalled("0.158.0"), 422, "collector_version_not_installed"),
    ],
    ids=str,
)
def test_what_could_not_be_checked_is_not_published(
    ann: Member, engine: Engine, require: Setting, fault: object, status: int, code: str
) -> None:
    require()
    configuration_id = create(ann, yaml=RIGHT)
    patch(ann, configuration_id, 1, collector_version="0.158.0")
    engine.answers["policies"] = fault
    answer = publish(ann, configuration_id)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    # The request names the version alone.
    assert [error["loc"] for error in answer.json().get("errors", ())] == ([["path", "n"]] if status == 422 else [])
    assert status_of(ann, configuration_id) == "draft"


def test_an_edit_during_the_check_is_checked_too(ann: Member, engine: Engine, require: Setting) -> None:
    require()
    configuration_id = create(ann, yaml=RIGHT)

    def edit_first(request: Mapping[str, Any]) -> dict[str, Any]:
        engine.answers["policies"] = judged
        assert patch(ann, configuration_id, 1, yaml=WRONG).status_code == 200
        return judged(request)

    engine.answers["policies"] = edit_first

    assert publish(ann, configuration_id).status_code == 409
    assert status_of(ann, configuration_id) == "draft"
    assert [request["yaml"] for op, _, request in engine.asked if op == "policies"] == [RIGHT, WRONG]


@pytest.mark.parametrize("before", [(), ("policies",)], ids=["not required before", "advice before"])
def test_settings_that_change_meanwhile_decide(
    ann: Member, engine: Engine, require: Setting, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    if before:
        require("warning")
    configuration_id = create(ann, yaml=WRONG)
    unchanged, late = policies.unchanged, [True]

    def changed_late(*arguments: Any) -> Any:
        if late.pop() if late else False:
            require()
        return unchanged(*arguments)

    monkeypatch.setattr(policies, "unchanged", changed_late)

    assert publish(ann, configuration_id).status_code == 409
    assert status_of(ann, configuration_id) == "draft"


def test_edits_racing_a_publish_never_publish_what_breaks_a_policy(ann: Member, require: Setting) -> None:
    require()
    outcomes = set()
    with ThreadPoolExecutor(2) as pool:
        for number in range(16):
            configuration_id = create(ann, yaml=RIGHT if number % 2 else WRONG)
            start = threading.Barrier(2)

            def edit(
                configuration_id: str = configuration_id, start: threading.Barrier = start, n: int = number
            ) -> int:
                start.wait()
                return patch(ann, configuration_id, 1, yaml=WRONG if n % 2 else RIGHT).status_code

            def make_public(configuration_id: str = configuration_id, start: threading.Barrier = start) -> int:
                start.wait()
                return publish(ann, configuration_id).status_code

            editing, publishing = pool.submit(edit), pool.submit(make_public)
            outcomes.add((editing.result(), publishing.result()))
            now = get(ann, f"/{configuration_id}/versions/1").json()
            assert (now["status"] == "published") == (publishing.result() == 200)
            assert now["status"] == "draft" or now["yaml"] == RIGHT

    assert outcomes <= {(200, 200), (200, 409), (409, 200)}


def test_the_check_of_a_publish_is_one_under_way(
    ann: Member, require: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    require()
    configuration_id = create(ann, yaml=RIGHT)
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1")
    settings.cache_clear()
    caller, _ = identity.authenticate(ann.token, clock.now())
    assert isinstance(caller, Caller)

    with checks.under_way(caller):
        answer = publish(ann, configuration_id)

    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_checks_under_way")
    assert status_of(ann, configuration_id) == "draft"


# Suppressions.


def test_suppressions_are_listed_with_the_version(ann: Member, join: JoinWith) -> None:
    configuration_id = create(ann, yaml=RIGHT)
    listed = get(ann, f"/{configuration_id}/versions/1/suppressions")

    assert listed.status_code == 200
    assert listed.json() == {"items": [{**SUPPRESSION, "until": None}], "next_cursor": None}
    bob = join([configurations_router], "bob")
    assert get(bob, f"/{configuration_id}/versions/1/suppressions").status_code == 404


def test_suppressions_that_could_not_be_read_are_503(ann: Member, engine: Engine) -> None:
    configuration_id = create(ann, yaml=RIGHT)
    engine.answers["policies"] = CheckerBusy("busy")

    assert get(ann, f"/{configuration_id}/versions/1/suppressions").status_code == 503
