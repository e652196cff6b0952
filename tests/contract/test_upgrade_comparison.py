"""What counts as a difference between two collector versions, from answers of versions that do not exist."""

from collections.abc import Sequence
from typing import Any

import pytest

from headgate import checker
from headgate_engine.upgrades.comparison import compare
from headgate_engine.upgrades.model import (
    BuildDescription,
    ChangedDefault,
    ComponentType,
    GateOfVersion,
    InspectedComponent,
    Inspection,
    LackingComponent,
    LogLine,
    Renaming,
    UpgradeReport,
    VersionAnswers,
)
from headgate_engine.validation.model import Code, Finding
from tests.support import scripted_collectors
from tests.support.askers import ASKER

pytestmark = [pytest.mark.contract, pytest.mark.collector]

TAIL = ComponentType("receiver", "tail_file", "tail", "github.com/x/receiver/tailreceiver")
OLD_TAIL = ComponentType("receiver", "tail", "", "github.com/x/receiver/tailreceiver")
BATCH = ComponentType("processor", "batch", "", "github.com/x/processor/batchprocessor/v2 v2.0.0")
HOSTS = ComponentType("receiver", "hosts", "", "github.com/x/receiver/hostsreceiver")


def component(path: str = "receivers::tail", **more: Any) -> InspectedComponent:
    type_ = path.partition("::")[2].partition("/")[0]
    about: dict[str, Any] = {"renamed_to": "", "defaults": {}, "logs": ()}
    return InspectedComponent(component_path=path, type=type_, line=2, column=3, **(about | more))


def finding(message: str, path: str = "receivers::tail", code: Code = "invalid_value") -> Finding:
    return Finding(message, path, code, 4, 5)


def version(
    number: str,
    *components: InspectedComponent,
    errors: Sequence[Finding] = (),
    warnings: Sequence[Finding] = (),
    lacking: Sequence[LackingComponent] = (),
    gates: Sequence[GateOfVersion] = (),
    lacks: Sequence[ComponentType] = (),
    types: Sequence[ComponentType] = (TAIL, BATCH, HOSTS),
    incomplete: bool = False,
) -> VersionAnswers:
    valid = False if errors else None if lacking else True
    inspection = Inspection(valid, errors, warnings, components, lacking, incomplete)
    has = [one for one in types if one not in lacks]
    return VersionAnswers(number, inspection, BuildDescription(bool(lacks), lacks, has, gates))


@pytest.fixture(autouse=True)
def _of_the_real_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker.COLLECTORS, "call", scripted_collectors.compared)


def compared(before: VersionAnswers, after: VersionAnswers) -> UpgradeReport:
    return compare(before, after, Renaming(), asker=ASKER)


def test_an_error_of_both_versions_is_not_new() -> None:
    report = compared(
        version("1.0.0", errors=[finding("a"), finding("b")]),
        version("2.0.0", errors=[finding("b"), finding("c"), finding("a")]),
    )

    assert [one.message for one in report.new_errors] == ["c"]
    assert len(report.verdict.target.errors) == 3


def test_an_error_is_new_if_its_path_differs() -> None:
    other = finding("a", path="receivers::other")
    report = compared(version("1.0.0", errors=[finding("a")]), version("2.0.0", errors=[other]))

    assert report.new_errors == [other]


def test_the_same_words_at_the_same_path_are_no_new_error_whatever_their_code() -> None:
    report = compared(version("1.0.0", errors=[finding("a")]), version("2.0.0", errors=[finding("a", code="other")]))

    assert report.new_errors == []


def test_one_more_error_at_a_path_is_new_if_its_message_differs() -> None:
    report = compared(version("1.0.0", errors=[finding("a")]), version("2.0.0", errors=[finding("b"), finding("a")]))

    assert [one.message for one in report.new_errors] == ["b"]


def test_an_error_that_replaces_another_at_its_path_is_the_same_in_other_words() -> None:
    report = compared(
        version("1.0.0", errors=[finding("invalid version `x`")]), version("2.0.0", errors=[finding('version: "x"')])
    )

    assert (report.new_errors, report.verdict.target.valid) == ([], False)


def test_a_warning_in_other_words_is_new() -> None:
    report = compared(version("1.0.0", warnings=[finding("a")]), version("2.0.0", warnings=[finding("b")]))

    assert [one.message for one in report.new_warnings] == ["b"]


SAME_MISTAKE: list[tuple[Code, str, str]] = [
    ("unknown_key", "'' has invalid keys: timeot", "'batchprocessor.Config' has invalid keys: timeot"),
    ("invalid_value", "'' has unset fields: a", "'x.Config' has unset fields: a"),
    ("unknown_component", 'unknown type: "a"; did you mean "b"?', 'unknown type: "a"; did you mean "b_c"?'),
    (
        "unknown_component",
        'unknown type: "a"; did you mean "b"?',
        'unknown type: "a"; there is one among the connectors and the receivers',
    ),
    ("invalid_value", "invalid version `x`", 'invalid version "x"'),
    ("invalid_value", 'infer (["scope" "log" "resource"]) from', 'infer (["resource" "scope" "log"]) from'),
]


@pytest.mark.parametrize(("code", "old", "new"), SAME_MISTAKE)
def test_the_same_mistake_is_known_whatever_else_is_new_at_its_path(code: Code, old: str, new: str) -> None:
    """One finding more, so that the number of the findings does not decide; as warnings it never does."""
    before, same = finding(old, code=code), finding(new, code=code)
    more = finding("more", path="receivers::tail::more" if code == "unknown_key" else "receivers::tail", code=code)
    errors = compared(version("1.0.0", errors=[before]), version("2.0.0", errors=[same, more]))
    warnings = compared(version("1.0.0", warnings=[before]), version("2.0.0", warnings=[same, more]))

    assert errors.new_errors == [more]
    assert warnings.new_warnings == [more]


def test_the_same_error_twice_where_it_was_once_is_new() -> None:
    report = compared(version("1.0.0", errors=[finding("a")]), version("2.0.0", errors=[finding("a"), finding("a")]))

    assert len(report.new_errors) == 1


def test_a_warning_is_compared_in_the_same_way() -> None:
    report = compared(
        version("1.0.0", warnings=[finding("a")]), version("2.0.0", warnings=[finding("a"), finding("b")])
    )

    assert [one.message for one in report.new_warnings] == ["b"]


def test_the_new_name_of_a_component_does_not_make_an_error_new() -> None:
    renamed = component(renamed_to="tail_file")
    report = compared(
        version("1.0.0", component(), errors=[finding('receiver "tail" needs a file')]),
        version("2.0.0", renamed, errors=[finding('receiver "tail_file" needs a file', "receivers::tail_file")]),
    )

    assert report.new_errors == []


def test_a_word_that_only_contains_the_new_name_is_another_word() -> None:
    renamed = component(renamed_to="tail_file")
    report = compared(
        version("1.0.0", component(), warnings=[finding("tails is empty")]),
        version("2.0.0", renamed, warnings=[finding("tail_files is empty")]),
    )

    assert len(report.new_warnings) == 1


def test_a_default_is_changed_if_both_versions_have_the_key_with_other_values() -> None:
    report = compared(
        version("1.0.0", component(defaults={"a": "1s", "b": 1, "gone": 1, "same": "x"})),
        version("2.0.0", component(renamed_to="tail_file", defaults={"a": "2s", "b": 2, "new": 1, "same": "x"})),
    )

    assert report.defaults == [
        ChangedDefault("receivers::tail", 2, 3, "a", "1s", "2s"),
        ChangedDefault("receivers::tail", 2, 3, "b", 1, 2),
    ]


def test_one_and_true_are_different_defaults() -> None:
    report = compared(version("1.0.0", component(defaults={"a": 1})), version("2.0.0", component(defaults={"a": True})))

    assert [(one.before, one.after) for one in report.defaults] == [(1, True)]


def test_a_component_that_only_one_version_could_build_has_no_changed_defaults() -> None:
    report = compared(version("1.0.0"), version("2.0.0", component(defaults={"a": 1})))

    assert report.defaults == []


def test_deprecations_that_only_the_target_logs_are_new_and_first() -> None:
    known, new = LogLine("warn", "known"), LogLine("warn", "new")
    report = compared(
        version("1.0.0", component(logs=[known])),
        version("2.0.0", component(logs=[known, new, new, LogLine("info", "started")])),
    )

    assert [(one.message, one.new) for one in report.deprecations] == [("new", True), ("known", False)]


def test_what_another_component_logs_is_not_known() -> None:
    warning = LogLine("warn", "deprecated")
    report = compared(
        version("1.0.0", component("receivers::tail/a", logs=[warning]), component("receivers::tail/b")),
        version("2.0.0", component("receivers::tail/a"), component("receivers::tail/b", logs=[warning])),
    )

    assert [one.new for one in report.deprecations] == [True]


def test_components_that_a_build_lacks_are_named_with_its_version() -> None:
    lacking = LackingComponent("receivers::hosts", 7, 3, "receiver", "hosts")
    report = compared(version("1.0.0"), version("2.0.0", lacking=[lacking]))
    back = compared(version("2.0.0", lacking=[lacking]), version("1.0.0"))

    assert report.verdict.target.valid is None
    assert [(one.component_path, one.version) for one in report.not_checked] == [("receivers::hosts", "2.0.0")]
    assert [(one.component_path, one.version) for one in back.not_checked] == [("receivers::hosts", "2.0.0")]


def test_with_the_same_version_twice_nothing_is_new() -> None:
    lacking = LackingComponent("receivers::hosts", 7, 3, "receiver", "hosts")
    same = version(
        "1.0.0",
        component(defaults={"a": 1}, logs=[LogLine("warn", "old")]),
        errors=[finding("a")],
        lacking=[lacking],
        gates=[GateOfVersion("receiver.tail.x", "Alpha", "")],
    )
    report = compared(same, same)

    assert (report.new_errors, report.new_warnings, report.defaults, report.feature_gates) == ([], [], [], [])
    assert [one.new for one in report.deprecations] == [False]
    assert len(report.not_checked) == 1


def gates(
    before: Sequence[GateOfVersion],
    after: Sequence[GateOfVersion],
    *used: str,
    source_lacks: Sequence[ComponentType] = (),
    target_lacks: Sequence[ComponentType] = (),
) -> list[tuple[Any, ...]]:
    components = [component(path) for path in used or ("receivers::tail",)]
    report = compared(
        version("1.0.0", *components, gates=before, lacks=source_lacks),
        version("2.0.0", *components, gates=after, lacks=target_lacks),
    )
    return [(gate.id, gate.stage_before, gate.stage_after, list(gate.components)) for gate in report.feature_gates]


def gate(name: str, stage: str) -> GateOfVersion:
    return GateOfVersion(name, stage, "What it does")


@pytest.mark.parametrize(
    "name",
    ["receiver.tail.x", "receiver.tailreceiver.x", "tail.x", "receiver.tail_file.x", "receiver.tailFile.x"],
)
def test_a_gate_belongs_to_the_components_that_its_id_names(name: str) -> None:
    found = gates([gate(name, "Alpha")], [gate(name, "Beta")], "receivers::tail", "receivers::tail/b")

    assert found == [(name, "Alpha", "Beta", ["receivers::tail", "receivers::tail/b"])]


def test_a_gate_of_a_module_with_a_major_version_belongs_to_its_component() -> None:
    name = "processor.batchprocessor.x"

    assert gates([gate(name, "Beta")], [gate(name, "Stable")], "processors::batch")[0][3] == ["processors::batch"]


@pytest.mark.parametrize("name", ["receiver.hosts.x", "processor.batch.x"])
def test_gates_of_components_that_the_text_does_not_use_are_left_out(name: str) -> None:
    assert gates([gate(name, "Alpha")], [gate(name, "Beta")]) == []


def test_the_kind_in_an_id_decides_between_components_of_one_type() -> None:
    name = "processor.tail.x"

    # No processor of that type is known, so the id names none.
    assert gates([gate(name, "Alpha")], [gate(name, "Beta")]) == [(name, "Alpha", "Beta", [])]


def test_a_gate_that_names_no_component_is_general() -> None:
    assert gates([gate("service.x", "Alpha")], [gate("service.x", "Beta")]) == [("service.x", "Alpha", "Beta", [])]


def test_a_new_gate_counts_only_if_it_is_enabled() -> None:
    new = [gate("tail.on", "Beta"), gate("tail.off", "Alpha"), gate("tail.fixed", "Stable")]

    assert [one[:3] for one in gates([], new)] == [("tail.fixed", None, "Stable"), ("tail.on", None, "Beta")]


def test_a_gate_that_is_gone_is_reported() -> None:
    assert gates([gate("tail.x", "Stable")], []) == [("tail.x", "Stable", None, ["receivers::tail"])]
    assert gates([gate("service.x", "Stable")], []) == [("service.x", "Stable", None, [])]


def test_what_a_reduced_build_does_not_register_is_not_reported_as_gone() -> None:
    old = [gate("service.x", "Stable"), gate("receiver.hosts.x", "Stable"), gate("tail.x", "Stable")]
    found = gates(old, [], "receivers::tail", "receivers::hosts", target_lacks=[HOSTS])

    assert [one[0] for one in found] == ["tail.x"]


def test_a_downgrade_from_a_reduced_build_does_not_call_what_it_lacks_new() -> None:
    new = [gate("service.x", "Beta"), gate("receiver.hosts.x", "Beta"), gate("tail.x", "Beta")]
    found = gates([], new, "receivers::tail", "receivers::hosts", source_lacks=[HOSTS])

    assert [one[0] for one in found] == ["tail.x"]


def test_a_gate_is_that_of_a_component_by_the_old_name_that_only_the_source_knows() -> None:
    registered = gate("receiver.tail.x", "Alpha")
    before = version("1.0.0", component(), gates=[registered], types=(OLD_TAIL,))
    after = version("2.0.0", component(renamed_to="tail_file"), gates=[gate("receiver.tail.x", "Beta")])

    assert [one.components for one in compared(before, after).feature_gates] == [["receivers::tail"]]


def test_findings_are_cut_so_that_the_answer_stays_small() -> None:
    hundred = [finding(f"error {number}") for number in range(100)]
    whole = compared(version("1.0.0"), version("2.0.0", errors=hundred))
    cut = compared(version("1.0.0"), version("2.0.0", errors=[*hundred, finding("one more")]))

    assert (list(whole.new_errors), whole.incomplete) == (hundred, False)
    assert (list(cut.new_errors), list(cut.verdict.target.errors), cut.incomplete) == (hundred, hundred, True)


@pytest.mark.parametrize("side", [0, 1])
def test_the_report_is_incomplete_if_one_answer_is(side: int) -> None:
    assert compared(*(version(f"{at}.0.0", incomplete=at == side) for at in range(2))).incomplete
    assert not compared(version("1.0.0"), version("2.0.0")).incomplete


def test_a_report_has_so_many_changed_defaults_and_says_if_there_are_more() -> None:
    def with_defaults(number: str, value: int, count: int) -> VersionAnswers:
        return version(number, component(defaults=dict.fromkeys(map(str, range(count)), value)))

    most = compared(with_defaults("1.0.0", 1, 2_000), with_defaults("2.0.0", 2, 2_000))
    more = compared(with_defaults("1.0.0", 1, 2_001), with_defaults("2.0.0", 2, 2_001))

    assert (len(most.defaults), most.incomplete) == (2_000, False)
    assert (len(more.defaults), more.incomplete) == (2_000, True)
