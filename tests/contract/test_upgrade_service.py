"""Asking two versions: what is asked, and what becomes of refusals, outages and answers of an unknown form."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from headgate import checker
from headgate.checker import CheckerBusy, NoChecker, NotInstalled, Refused
from headgate.foundation.errors import HeadgateError
from headgate_engine.upgrades import comparison
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import UpgradeCheckNotPossible, UpgradeReport
from headgate_engine.validation.model import CheckRequest, CollectorVersionNotInstalled, NotChecked, TooCostly
from tests.support.askers import ASKER
from tests.support.scripted_collectors import NOTHING_FOUND, Collectors, scripted

pytestmark = [pytest.mark.contract, pytest.mark.collector]

OLD, NEW = "1.0.0", "2.0.0"
COMPONENT = {
    "component_path": "receivers::tail",
    "section": "receivers",
    "id": "tail",
    "type": "tail",
    "line": 2,
    "column": 3,
    "renamed_to": "",
    "defaults": {"interval": "1s"},
    "logs": [],
}
RENAMED = COMPONENT | {"renamed_to": "tail_file", "defaults": {"interval": "2s"}}
INSPECTION = NOTHING_FOUND | {"components": [COMPONENT]}
DESCRIPTION = {"version": OLD, "reduced": False, "lacks": [], "components": [], "feature_gates": []}
RENAME = {
    "yaml": "receivers: {tail_file: {}}",
    "renames": [{"from": "tail", "to": "tail_file", "component_path": "receivers::tail", "line": 2, "column": 3}],
    "not_renamed": [],
}
TEXT = CheckRequest("receivers: {tail: {}}", None, {"A": "b"})


@pytest.fixture
def collectors(monkeypatch: pytest.MonkeyPatch) -> Collectors:
    made = scripted(monkeypatch, OLD, {"inspect": INSPECTION, "describe": DESCRIPTION})
    made.answers = {(NEW, "inspect"): INSPECTION | {"components": [RENAMED]}, (NEW, "rename"): RENAME}
    return made


def check(to: str = NEW, source: str | None = None) -> UpgradeReport:
    return upgrades.check(TEXT, to, source, asker=ASKER)


def test_both_versions_are_asked_about_the_same_text(collectors: Collectors) -> None:
    report = check()

    assert (report.source, report.target) == (OLD, NEW)
    assert {(OLD, "inspect"), (NEW, "inspect"), (NEW, "rename")} <= set(collectors.asked)
    assert [request for request in collectors.requests if "env" in request] == [
        {"yaml": TEXT.yaml, "env": {"A": "b"}, "files": {}}
    ] * 3
    assert [(one.key, one.before, one.after) for one in report.defaults] == [("interval", "1s", "2s")]


@pytest.mark.usefixtures("collectors")
def test_the_renames_are_the_targets_and_so_is_the_proposal() -> None:
    report = check()

    assert [(one.old_type, one.new_type, one.line, one.column) for one in report.renames] == [
        ("tail", "tail_file", 2, 3)
    ]
    assert report.proposed_yaml == RENAME["yaml"]


def test_without_a_rename_there_is_no_proposal(collectors: Collectors) -> None:
    collectors.answers[NEW, "inspect"] = INSPECTION
    report = check()

    assert (report.renames, report.proposed_yaml) == ([], None)
    assert (NEW, "rename") not in collectors.asked


@pytest.mark.parametrize("code", ["yaml_syntax", "too_costly"])
def test_if_the_target_cannot_rename_the_text_the_new_names_are_reported_all_the_same(
    collectors: Collectors, code: str
) -> None:
    collectors.answers[NEW, "rename"] = Refused(code, "the text is not a configuration")
    report = check()

    assert (report.renames, report.proposed_yaml) == ([], None)
    assert [(one.old_type, one.new_type, one.reason) for one in report.not_renamed] == [
        ("tail", "tail_file", "the text is not a configuration")
    ]


def test_a_report_that_is_too_large_for_an_answer_is_cut(collectors: Collectors) -> None:
    keys = [f"{'k' * 4000}{at}" for at in range(2000)]
    for version, value in ((OLD, 1), (NEW, 2)):
        component = COMPONENT | {"defaults": dict.fromkeys(keys, value)}
        collectors.answers[version, "inspect"] = INSPECTION | {"components": [component]}
    report = check()

    assert 1000 < len(report.defaults) < 2000
    assert report.incomplete


def test_they_are_asked_at_the_same_time(collectors: Collectors) -> None:
    both = threading.Barrier(2, timeout=60)
    first: set[str] = set()

    def wait(version: str) -> None:
        if version not in first:
            first.add(version)
            both.wait()

    collectors.before = wait

    assert check().target == NEW


def test_a_version_that_was_busy_with_the_other_question_is_asked_again(
    collectors: Collectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = iter([CheckerBusy("It was busy"), INSPECTION])
    call = collectors.call

    def busy_once(op: str, request: Mapping[str, object], *, version: str = "", **more: object) -> Any:
        if version == OLD:
            collectors.answers[OLD, "inspect"] = next(once)
        return call(op, request, version=version, **more)

    monkeypatch.setattr(checker.COLLECTORS, "call", busy_once)

    assert check().source == OLD
    assert collectors.asked.count((OLD, "inspect")) == 2


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A check may take a second and a half; what hangs in a test goes on when the event is set, at the end."""
    monkeypatch.setattr(upgrades, "_SECONDS", 1.0)
    monkeypatch.setattr(upgrades, "_LAST_SECONDS", 0.5)
    goes_on = threading.Event()
    yield goes_on
    goes_on.set()


@pytest.mark.parametrize("slow", [OLD, NEW])
@pytest.mark.parametrize("op", ["describe", "inspect"])
def test_a_version_that_hangs_is_an_outage_in_time(
    collectors: Collectors, hanging: threading.Event, monkeypatch: pytest.MonkeyPatch, slow: str, op: str
) -> None:
    answer: Callable[..., Any] = getattr(collectors, "describe" if op == "describe" else "call")
    went_on = threading.Event()

    def hangs(*arguments: Any, **more: Any) -> Any:
        if slow in (more.get("version"), *arguments):
            hanging.wait(60)
            went_on.set()
        return answer(*arguments, **more)

    monkeypatch.setattr(checker.COLLECTORS, "describe" if op == "describe" else "call", hangs)
    with pytest.raises(NotChecked, match=rf"^Collector {slow} could not be asked: the check took too long"):
        check()

    assert not went_on.is_set()


def test_no_question_is_asked_after_the_time(collectors: Collectors, hanging: threading.Event) -> None:
    def wait(version: str) -> None:
        if version == NEW:
            hanging.wait(1.05)

    collectors.before = wait
    with pytest.raises(NotChecked, match=rf"^Collector {NEW} could not be asked: the check took too long"):
        check()

    assert (NEW, "rename") not in collectors.asked


def test_the_longest_check_is_shorter_than_a_request_may_be() -> None:
    assert upgrades._SECONDS + upgrades._LAST_SECONDS < 25


def test_the_same_version_twice_is_asked_once(collectors: Collectors) -> None:
    report = check(NEW, NEW)

    assert {version for version, _ in collectors.asked} == {NEW}
    assert (report.source, report.new_errors, report.defaults) == (NEW, [], [])
    assert report.proposed_yaml == RENAME["yaml"]


@pytest.mark.parametrize(("version", "field"), [(NEW, "to"), ("3.0.0", "from")])
def test_a_version_that_is_not_installed_is_named_with_its_field(
    collectors: Collectors, version: str, field: str
) -> None:
    collectors.answers[version, "inspect"] = NotInstalled(version, (OLD,))
    with pytest.raises(CollectorVersionNotInstalled) as raised:
        check(NEW, None if field == "to" else version)

    assert [error.loc for error in raised.value.errors] == [("body", field)]
    assert raised.value.detail == f"Collector version {version} is not installed; installed: {OLD}"


def test_the_default_collector_that_is_not_there_is_an_outage(collectors: Collectors) -> None:
    collectors.answers[OLD, "inspect"] = NotInstalled(OLD)
    with pytest.raises(NotChecked, match=rf"^Collector {OLD} could not be asked: .*; nothing was checked$"):
        check()


@pytest.mark.parametrize(("version", "field"), [(NEW, "to"), (OLD, "from")])
def test_an_official_release_cannot_be_checked_and_the_message_says_which_can(
    collectors: Collectors, version: str, field: str
) -> None:
    collectors.answers[version, "describe"] = NoChecker("none")
    with pytest.raises(UpgradeCheckNotPossible) as raised:
        check()

    assert [error.loc for error in raised.value.errors] == [("body", field)]
    assert raised.value.detail == (
        f"Collector {version} is an official release, which cannot be compared with another: validate with it, or "
        "choose a version that the list of collector versions shows with `can.upgrade_check`"
    )
    assert (version, "inspect") not in collectors.asked


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("op", ["inspect", "describe"])
@pytest.mark.parametrize(
    "fault",
    [CheckerBusy("It was busy"), Refused("panicked", "goroutine 1: the text"), {"valid": "perhaps"}, {}],
    ids=["busy", "panicked", "another type", "nothing"],
)
def test_a_fault_of_one_version_is_an_outage_that_names_it(
    collectors: Collectors, version: str, op: str, fault: object
) -> None:
    collectors.answers[version, op] = fault
    with pytest.raises(NotChecked) as raised:
        check()

    assert raised.value.detail.startswith(f"Collector {version} could not be asked: ")
    assert raised.value.detail.endswith("; nothing was checked")
    assert "goroutine" not in raised.value.detail


def test_what_is_too_costly_names_the_text(collectors: Collectors) -> None:
    collectors.answers[NEW, "inspect"] = Refused("too_costly", "It has too many levels")
    with pytest.raises(TooCostly) as raised:
        check()

    assert [(error.loc, error.message) for error in raised.value.errors] == [
        (("body", "yaml"), "It has too many levels")
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [(NotInstalled("3.0.0", (OLD,)), CheckerBusy("busy")), (CheckerBusy("busy"), NotInstalled(NEW, (OLD,)))],
    ids=["from", "to"],
)
def test_a_mistake_in_the_request_goes_before_an_outage(
    collectors: Collectors, old: HeadgateError, new: HeadgateError
) -> None:
    collectors.answers["3.0.0", "inspect"] = old
    collectors.answers[NEW, "inspect"] = new
    with pytest.raises(CollectorVersionNotInstalled):
        check(NEW, "3.0.0")


@pytest.mark.parametrize(
    "fault", [CheckerBusy("It was busy"), Refused("failed", "goroutine 1"), {"from": OLD}], ids=str
)
def test_answers_that_cannot_be_compared_are_an_outage(collectors: Collectors, fault: object) -> None:
    collectors.answers["", "upgrade"] = fault
    with pytest.raises(
        NotChecked, match=r"^The answers of the versions could not be compared: .*; try again$"
    ) as raised:
        check()

    assert "goroutine" not in raised.value.detail


def test_answers_that_are_too_large_for_one_question_are_compared_without_their_settings(
    collectors: Collectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check().defaults
    monkeypatch.setattr(comparison, "_MAX_BYTES", 100)
    report = check()

    assert (report.defaults, report.incomplete, len(report.renames)) == ([], True, 1)
    assert collectors.asked.count((NEW, "inspect")) == 2
