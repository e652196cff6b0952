"""What was found in several texts, an entry for each thing to decide."""

from headgate_engine.validation.findings import ListedFinding
from headgate_engine.validation.grouping import FindingGroup, grouped, merged
from headgate_engine.validation.model import Cause, Edit


def error(
    message: str, cause: Cause | None = None, *, code: str = "unknown_component", fix: bool = False
) -> ListedFinding:
    edits = [Edit(1, 1, 1, 2, "x")] if fix else None
    return ListedFinding("error", "collector", code, message, component_path="receivers::a", cause=cause, fix=edits)


def unset(name: str) -> ListedFinding:
    return ListedFinding(
        "warning", "collector", "unset_variable", f"{name} has no value", cause=Cause("variable", [name])
    )


def lines(groups: list[FindingGroup]) -> list[tuple[str, str, int, list[int]]]:
    return [(group.kind, group.severity, group.count, [*group.texts]) for group in groups]


def test_what_a_cause_explains_is_one_entry_over_all_texts() -> None:
    renamed = Cause("newer_release", ["file_log"], "filelog")
    one = [error("a", renamed, fix=True), error("b", renamed, fix=True), error("c", Cause("newer_release", ["drain"]))]
    another = [
        error("d", Cause("newer_release", ["host_metrics"], "hostmetrics"), fix=True),
        error("e", Cause("other_distribution", ["signoz"], "SigNoz's distribution")),
        error("f", Cause("feature_gate", ["service.profilesSupport"]), code="pipeline_graph"),
    ]

    groups = grouped([one, another])

    assert lines(groups) == [
        ("newer_release", "error", 4, [0, 1]),
        ("feature_gate", "error", 1, [1]),
        ("other_distribution", "error", 1, [1]),
    ]
    assert groups[0].message == (
        "written for a newer collector: file_log is filelog here, host_metrics is hostmetrics here, "
        "drain not known here"
    )
    assert (groups[0].fixable, groups[0].names) == (3, ["file_log", "drain", "host_metrics"])


def test_errors_of_one_kind_are_one_entry_whatever_they_name() -> None:
    groups = grouped(
        [
            [error('references processor "batch" which is not configured', code="undefined_reference")],
            [error('references processor "a/2" which is not configured', code="undefined_reference")],
            [error('references receiver "otlp" which is not configured', code="undefined_reference")],
        ]
    )

    assert [(group.count, group.message) for group in groups] == [
        (2, 'references processor "batch" which is not configured (and 1 more of this kind)'),
        (1, 'references receiver "otlp" which is not configured'),
    ]


def test_variables_that_kubernetes_sets_are_told_apart_from_those_to_give() -> None:
    platform = [unset(name) for name in ("K8S_NODE_NAME", "MY_POD_IP", "POD_NAME")]
    groups = grouped([[*platform, unset("API_KEY")], [unset("API_KEY"), error("x", Cause("variable", ["API_KEY"]))]])

    assert [(group.kind, group.severity, group.code, [*group.names]) for group in groups] == [
        ("variable", "error", "unknown_component", ["API_KEY"]),
        ("variable_of_host", "warning", "unset_variable", ["K8S_NODE_NAME", "MY_POD_IP", "POD_NAME"]),
        ("variable", "warning", "unset_variable", ["API_KEY"]),
    ]


def test_every_name_is_there_that_needs_a_value() -> None:
    names = [f"NAME_{number}" for number in range(20)]
    (group,) = grouped([[unset(name) for name in names]])

    assert all(f"{name}," in f"{group.message}," for name in names)


def test_a_text_lists_variables_that_kubernetes_sets_as_one_finding() -> None:
    found = [unset("K8S_NODE_NAME"), unset("API_KEY"), unset("POD_NAME"), error("x")]

    assert [one.message for one in merged(found)] == [
        "the environment variables K8S_NODE_NAME, POD_NAME have no value here; Kubernetes or the host sets them",
        "API_KEY has no value",
        "x",
    ]
    assert [*merged(found[:2])] == found[:2]
