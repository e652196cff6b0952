"""The part of a version's page that shows its tests, and what their suites came to."""

from collections.abc import Sequence
from typing import Final

from headgate.runs.suites.service import Shown, TestsOverview
from headgate.version_tests.model import ListedTest
from web import charts
from web.charts import ChartPart
from web.html import NOTHING, Html, html, with_code
from web.parts import confirmed, counted, empty, hidden, moment, nothing_yet, tag
from web.table import Cell, table

_CARD: Final = '<div class="card"><h2>Tests</h2>{state}{tests}</div>'
_TESTS_FOR: Final = (
    "A test is a sample with what must come out of a pipeline. It stays with the version and is carried on to the next."
)
_FIRST_TEST: Final = with_code(
    "None yet: choose Test above, run a sample, and save it as a test. `headgate config push` saves those in files."
)
_STATE: Final = '<p>{tag} <span class="soft">{text}</span></p>'
_COLUMNS: Final = ("Test", "Pipeline", "Expects", "Last suite", "Suites", "")
_LOSS: Final = "Its sample and its rules are deleted for good."


def card(overview: TestsOverview, path: str, csrf: Html, *, changeable: bool) -> Html:
    """A test of a version that may be changed has a form that deletes it; `path` is the version's page.

    Statuses are those of the newest suite of exactly this version; without one, the newest suite is told of."""
    tests = overview.tests.tests
    if not tests:
        return html(_CARD, state=nothing_yet(_TESTS_FOR, _FIRST_TEST), tests=Html(""))
    current = next((each for each in overview.evidence if each.current), None)
    statuses = {test.name: test.status for test in current.evidence.tests} if current else {}
    rows = [
        _row(
            test,
            statuses.get(test.name, ""),
            _history(test.name, overview),
            confirmed(path, csrf, "Delete", _LOSS, hidden("delete_test", test.name), subject=test.name)
            if changeable
            else NOTHING,
        )
        for test in tests
    ]
    return html(_CARD, state=_state(overview, current), tests=table(_COLUMNS, rows))


def _state(overview: TestsOverview, current: Shown | None) -> Html:
    if current is None and not overview.evidence:
        return empty("No suite of these tests has ended yet.")
    evidence = (current or overview.evidence[0]).evidence
    verdict = "passed" if evidence.passed else "failed"
    difference = (
        "" if current else ", of another text, other tests, another collector or other feature gates: run them again"
    )
    return html(
        _STATE,
        tag=tag(verdict if current else f"{verdict} before", ("good" if evidence.passed else "bad") if current else ""),
        text=html(
            "on collector {version}, {at}{of}",
            version=evidence.collector_version,
            at=moment(evidence.finished_at),
            of=difference,
        ),
    )


def _history(name: str, overview: TestsOverview) -> Html:
    """The test's outcomes in each suite that left evidence with the version, of any text and collector."""
    outcomes = [
        ChartPart(
            f"{outcome.status} on {outcome.collector_version}", 1, "good" if outcome.status == "Success" else "bad"
        )
        for outcome in overview.history(name)
    ]
    return charts.outcomes(outcomes, f"{name} in {counted(len(outcomes), 'suite')}")


def _row(test: ListedTest, status: str, history: Html, delete: Html) -> Sequence[Cell]:
    expects = [counted(test.rules, "rule")] if test.rules else []
    expects += ["an output"] if test.expects_output else []
    return (
        html("<strong>{name}</strong>", name=test.name),
        test.target_pipeline,
        ", ".join(expects),
        tag(status, "good" if status == "Success" else "bad") if status else html('<span class="soft">none</span>'),
        history,
        delete,
    )
