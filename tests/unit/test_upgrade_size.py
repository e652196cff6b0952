"""A report of any text fits into a function's answer, and says if something was left out for that."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from headgate.http.upgrade_wire import UpgradeReport
from headgate.upgrades.model import (
    ChangedDefault,
    Deprecation,
    FeatureGate,
    NotChecked,
    NotRenamed,
    Rename,
    Report,
    Verdict,
)
from headgate.upgrades.size import bounded
from headgate.validation.model import Finding

MOST = 6 << 20
PATH = f"receivers::prometheus/{'k' * 1000}"
COSTLY = '"\\é' * 300


def report(count: int = 1, path: str = PATH, yaml: str | None = "a: b") -> Report:
    """`count` of each entry, up to 100 findings, and 12 gates with `count` components each."""
    findings: Sequence[Finding] = [Finding("m" * 100, path, "other", 1, 1)] * min(count, 100)
    return Report(
        source="1.0.0",
        target="2.0.0",
        source_verdict=Verdict(False, findings, findings),
        target_verdict=Verdict(False, findings, findings),
        new_errors=findings,
        new_warnings=findings,
        renames=[Rename(path, 1, 1, "a", "b")] * count,
        not_renamed=[NotRenamed(path, 1, 1, "a", "b", "it is taken")] * count,
        deprecations=[Deprecation(path, 1, 1, "old", True)] * count,
        feature_gates=[FeatureGate(f"a.{at}", "Alpha", "Beta", "What it does", [path] * count) for at in range(12)],
        defaults=[ChangedDefault(path, 1, 1, "a", 1, 2)] * count,
        not_checked=[NotChecked(path, 1, 1, "receiver", "a", "2.0.0")] * count,
        incomplete=False,
        proposed_yaml=yaml,
    )


def bytes_of_answer(whole: Report) -> int:
    """The report as the string in a function's answer."""
    return len(json.dumps({"body": UpgradeReport.of(whole).model_dump_json(by_alias=True)}))


def test_a_report_that_fits_stays_as_it_is() -> None:
    assert bounded(report()) == report()


@pytest.mark.parametrize("path", [PATH, COSTLY, "x" * 500_000], ids=["names", "escapes", "one long name"])
def test_a_report_that_does_not_fit_is_cut_and_says_so(path: str) -> None:
    whole = report(2000, path)
    cut = bounded(whole)

    assert bytes_of_answer(cut) < MOST
    assert cut.incomplete
    assert cut.new_errors
    assert cut.target_verdict.valid is False


def test_the_defaults_go_first() -> None:
    whole = report(100)
    whole = replace(whole, defaults=whole.defaults * 60)
    cut = bounded(whole)

    assert 0 < len(cut.defaults) < len(whole.defaults)
    assert replace(cut, defaults=whole.defaults, incomplete=False) == whole


def test_then_the_components_of_gates_and_no_gate() -> None:
    whole = report(100)
    whole = replace(whole, feature_gates=whole.feature_gates * 5, defaults=[])
    cut = bounded(whole)

    assert [gate.id for gate in cut.feature_gates] == [gate.id for gate in whole.feature_gates]
    assert cut.feature_gates[0] == whole.feature_gates[0]
    assert list(cut.feature_gates[-1].components) == []
    assert replace(cut, feature_gates=whole.feature_gates, incomplete=False) == whole


def test_the_proposed_text_goes_whole() -> None:
    cut = bounded(report(yaml='"' * 3_000_000))

    assert (cut.proposed_yaml, cut.incomplete) == (None, True)
    assert len(cut.renames) == 1
