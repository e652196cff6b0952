"""The three upgrade checks through the API, with two collector versions that answer what a test wants."""

from typing import Any, Final

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.checker import CheckerBusy, NoChecker, NotInstalled, Refused
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.storage import aws
from tests.support import deployments
from tests.support.configurations import append, create, patch, publish
from tests.support.members import API, JoinWith, Member
from tests.support.scripted_collectors import NOTHING_FOUND, Collectors, scripted
from validation.app import router as validation_router

pytestmark = pytest.mark.usefixtures("fleets_without_collector")

ROUTERS = [validation_router, configurations_router, *fleets_routers]
OLD, NEW = "0.139.0", "0.158.0"
YAML: Final = "receivers: {tail: {file: hunter2}}\n"
FIXED: Final = "receivers: {tail_file: {file: hunter2}}\n"
PLACE = {"component_path": "receivers::tail", "line": 1, "column": 13}
FINDING = {"message": "no such file", "component_path": "receivers::tail::file", "code": "invalid_value"} | {
    "line": 1,
    "column": 20,
}
COMPONENT = PLACE | {"type": "tail", "renamed_to": "", "defaults": {"every": "1s"}, "logs": []}
INSPECTION = NOTHING_FOUND | {"components": [COMPONENT]}
LACKING = {"component_path": "exporters::x", "line": 1, "column": 1, "kind": "exporter", "type": "x"}
GATE = {"id": "tail.x", "stage": "Alpha", "description": "X"}
TYPE = {"kind": "receiver", "type": "tail", "deprecated_type": "", "module": ""}
OLD_TYPE: dict[str, Any] = {"reduced": False, "lacks": [], "components": [TYPE], "feature_gates": [GATE]}
RENAME = {"from": "tail", "to": "tail_file"}
OTHER = PLACE | RENAME | {"component_path": "receivers::tail/b", "reason": "tail_file/b is taken"}
CHANGES = {
    (NEW, "inspect"): INSPECTION
    | {
        "valid": False,
        "errors": [FINDING],
        "components": [
            COMPONENT
            | {
                "renamed_to": "tail_file",
                "defaults": {"every": "2s"},
                "logs": [{"level": "warn", "message": "tail is deprecated"}],
            }
        ],
        "not_in_build": [LACKING],
    },
    (NEW, "describe"): OLD_TYPE | {"feature_gates": [GATE | {"stage": "Beta"}]},
    (NEW, "rename"): {"yaml": FIXED, "renames": [PLACE | RENAME], "not_renamed": [OTHER]},
}


@pytest.fixture
def collectors(monkeypatch: pytest.MonkeyPatch) -> Collectors:
    return scripted(monkeypatch, OLD, {"inspect": INSPECTION, "describe": OLD_TYPE})


@pytest.fixture
def ann(join: JoinWith, collectors: Collectors) -> Member:
    return join(ROUTERS, "ann")


def of_text(member: Member, **more: object) -> Response:
    return member.http.post(f"{API}/validate/upgrade-check", json={"yaml": YAML, "to": NEW, **more})


def of_version(member: Member, configuration_id: str, n: int = 1, **more: object) -> Response:
    path = f"{API}/configurations/{configuration_id}/versions/{n}/upgrade-check"
    return member.http.post(path, json={"to": NEW, **more})


@pytest.mark.collector
def test_the_report_has_everything_that_changes(ann: Member, collectors: Collectors) -> None:
    collectors.answers |= CHANGES
    answer = of_text(ann)
    reported = FINDING | {"fix": None, "cause": None}

    assert answer.status_code == 200
    assert answer.json() == {
        "from": OLD,
        "to": NEW,
        "verdict": {
            "from": {"valid": True, "errors": [], "warnings": [], "valid_on_host": None},
            "to": {"valid": False, "errors": [reported], "warnings": [], "valid_on_host": None},
        },
        "new_errors": [reported],
        "new_warnings": [],
        "renames": [PLACE | RENAME],
        "not_renamed": [OTHER],
        "deprecations": [PLACE | {"message": "tail is deprecated", "new": True}],
        "feature_gates": [
            {
                "id": "tail.x",
                "stage_before": "Alpha",
                "stage_after": "Beta",
                "description": "X",
                "components": ["receivers::tail"],
            }
        ],
        "defaults": [PLACE | {"key": "every", "before": "1s", "after": "2s"}],
        "behaviours": [],
        "not_checked": [LACKING | {"version": NEW}],
        "incomplete": False,
        "outputs": None,
        "proposed_yaml": FIXED,
        "inside": None,
    }


@pytest.mark.collector
def test_of_what_somebody_wrote_only_the_proposal_is_in_the_report(ann: Member, collectors: Collectors) -> None:
    collectors.answers |= CHANGES
    report = of_text(ann).json()
    del report["proposed_yaml"]

    assert "hunter2" not in str(report)


@pytest.mark.collector
def test_if_nothing_is_wrong_but_something_is_not_in_the_build_there_is_no_verdict(
    ann: Member, collectors: Collectors
) -> None:
    collectors.answers[NEW, "inspect"] = INSPECTION | {"valid": None, "not_in_build": [LACKING]}

    assert of_text(ann).json()["verdict"]["to"]["valid"] is None


@pytest.mark.collector
def test_a_stored_version_is_compared_with_its_own_collector_version(ann: Member, collectors: Collectors) -> None:
    configuration_id = create(ann, yaml=YAML)
    append(ann, configuration_id, FIXED)
    patch(ann, configuration_id, 2, collector_version="0.150.0")

    assert of_version(ann, configuration_id).json()["from"] == OLD
    assert of_version(ann, configuration_id, 2).json()["from"] == "0.150.0"
    assert of_version(ann, configuration_id, 2, **{"from": OLD}).json()["from"] == OLD
    assert [request["yaml"] for request in collectors.requests] == [YAML, YAML, FIXED, FIXED, FIXED, FIXED]


@pytest.mark.collector
def test_values_of_variables_go_to_both_collectors(ann: Member, collectors: Collectors) -> None:
    configuration_id = create(ann, yaml=YAML)
    publish(ann, configuration_id)
    groups = deployments.server(ann)
    group = deployments.add(ann, groups, configuration_id).json()["id"]
    values = {"env": {"PASSWORD": "hunter2"}}

    assert of_text(ann, **values).status_code == 200
    assert of_version(ann, configuration_id, **values).status_code == 200
    assert ann.http.post(f"{groups}/{group}/upgrade-check", json={"to": NEW, **values}).status_code == 200
    assert [request["env"] for request in collectors.requests] == [values["env"]] * 6


@pytest.mark.parametrize("env", [{"1A": "x"}, {"A": 1}, {f"A{n}": "" for n in range(101)}, "A=1"])
def test_malformed_variables_are_422(ann: Member, collectors: Collectors, env: object) -> None:
    configuration_id = create(ann, yaml=YAML)

    assert of_version(ann, configuration_id, env=env).status_code == 422
    assert collectors.asked == []


@pytest.mark.collector
def test_a_draft_of_another_member_is_not_found(ann: Member, join: JoinWith, collectors: Collectors) -> None:
    configuration_id = create(ann, yaml=YAML)
    bob = join(ROUTERS, "bob", access="read")

    assert of_version(bob, configuration_id).status_code == 404
    assert collectors.asked == []
    publish(ann, configuration_id)
    assert of_version(bob, configuration_id).status_code == 200
    assert of_version(bob, configuration_id, 2).status_code == 404


@pytest.mark.collector
def test_a_deployment_group_is_checked_with_its_assigned_version(ann: Member, collectors: Collectors) -> None:
    configuration_id = create(ann, yaml=YAML)
    publish(ann, configuration_id)
    append(ann, configuration_id, FIXED)
    groups = deployments.server(ann)
    group = deployments.add(ann, groups, configuration_id).json()["id"]
    answer = ann.http.post(f"{groups}/{group}/upgrade-check", json={"to": NEW})

    assert (answer.status_code, answer.json()["from"]) == (200, OLD)
    assert [request["yaml"] for request in collectors.requests] == [YAML, YAML]


def test_a_group_without_a_version_is_409(ann: Member, collectors: Collectors) -> None:
    groups = deployments.server(ann)
    (default,) = ann.http.get(groups).json()["items"]
    answer = ann.http.post(f"{groups}/{default['id']}/upgrade-check", json={"to": NEW})

    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_assigned")
    assert answer.json()["detail"] == "No version is assigned to this deployment group: assign one first"
    assert collectors.asked == []


def test_a_group_that_is_not_there_is_404(ann: Member) -> None:
    groups = deployments.server(ann)

    assert ann.http.post(f"{groups}/{new_id('dep')}/upgrade-check", json={"to": NEW}).status_code == 404


def stored() -> dict[str, Any]:
    """Everything in the tables and the bucket, without the counters of requests and the places of checks."""
    client = aws.dynamodb()
    tables = {
        name: [
            item
            for item in client.scan(TableName=name)["Items"]
            if not item.get("pk", {"S": ""})["S"].startswith(("rate#", "checks#"))
        ]
        for name in client.list_tables()["TableNames"]
    }
    objects = aws.s3().list_objects_v2(Bucket=settings().bucket).get("Contents", [])
    return {**tables, "bucket": [one["Key"] for one in objects]}


@pytest.mark.collector
def test_nothing_is_saved(ann: Member, collectors: Collectors) -> None:
    collectors.answers |= CHANGES
    configuration_id = create(ann, yaml=YAML)
    publish(ann, configuration_id)
    groups = deployments.server(ann)
    group = deployments.add(ann, groups, configuration_id).json()["id"]
    before = stored()

    assert of_text(ann).status_code == 200
    assert of_version(ann, configuration_id).status_code == 200
    assert ann.http.post(f"{groups}/{group}/upgrade-check", json={"to": NEW}).status_code == 200
    assert stored() == before
    assert any(before.values())


@pytest.mark.parametrize("field", ["to", "from"])
def test_a_version_that_is_not_installed_is_422_with_the_list(ann: Member, collectors: Collectors, field: str) -> None:
    collectors.answers["0.1.2", "describe"] = NotInstalled("0.1.2", (OLD, NEW))
    answer = of_text(ann, **{field: "0.1.2"})

    assert (answer.status_code, answer.json()["code"]) == (422, "collector_version_not_installed")
    assert answer.json()["detail"] == f"Collector version 0.1.2 is not installed; installed: {OLD}, {NEW}"
    assert answer.json()["errors"][0]["loc"] == ["body", field]


@pytest.mark.parametrize("field", ["to", "from"])
def test_an_official_release_is_422(ann: Member, collectors: Collectors, field: str) -> None:
    collectors.answers["0.150.0", "describe"] = NoChecker("none")
    answer = of_text(ann, **{field: "0.150.0"})

    assert (answer.status_code, answer.json()["code"]) == (422, "upgrade_check_not_possible")
    assert "`can.upgrade_check`" in answer.json()["detail"]
    assert answer.json()["errors"][0]["loc"] == ["body", field]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_an_outage_of_one_version_is_503_and_says_which(ann: Member, collectors: Collectors, version: str) -> None:
    collectors.answers[version, "inspect"] = CheckerBusy("The checker was busy for 5 s")
    answer = of_text(ann)

    assert (answer.status_code, answer.json()["code"]) == (503, "not_checked")
    assert answer.json()["detail"] == (
        f"Collector {version} could not be asked: The checker was busy for 5 s; nothing was checked"
    )
    assert answer.headers["Retry-After"]


def test_a_text_that_is_too_costly_is_422_and_named(ann: Member, collectors: Collectors) -> None:
    collectors.answers[NEW, "inspect"] = Refused("too_costly", "too many levels")
    configuration_id = create(ann, yaml=YAML)
    of_the_text, of_the_version = of_text(ann), of_version(ann, configuration_id)

    assert (of_the_text.status_code, of_the_text.json()["code"]) == (422, "yaml_too_costly")
    assert of_the_text.json()["errors"][0]["loc"] == ["body", "yaml"]
    assert of_the_version.json()["errors"][0]["loc"] == ["path", "n"]


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"to": "newest"}, ["body", "to"]),
        ({"to": NEW, "from": "v0.139.0"}, ["body", "from"]),
        ({"to": None}, ["body", "to"]),
        ({"to": NEW, "source": OLD}, ["body", "source"]),
        ({"to": NEW, "yaml": ""}, ["body", "yaml"]),
        ({"to": NEW, "env": {"1": "a"}}, ["body", "env", "1"]),
    ],
)
def test_a_malformed_field_is_named(ann: Member, collectors: Collectors, body: Any, loc: list[str]) -> None:
    answer = ann.http.post(f"{API}/validate/upgrade-check", json={"yaml": YAML} | body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][: len(loc)] == loc
    assert collectors.asked == []
