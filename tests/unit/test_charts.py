"""Charts: their numbers can be read without seeing, a gap is not zero, and no text of a stranger becomes HTML."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from web import charts
from web.charts import ChartLine, ChartPart

TIMES = ["10:00", "10:01", "10:02", "10:03"]
BEGIN = datetime(2026, 11, 21, 10, tzinfo=UTC)
STATES = [ChartPart("applied", 3, "good"), ChartPart("silent", 1, "bad")]


def parsed(chart: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{chart}</div>")


def paths(chart: str, kind: str) -> list[str]:
    return [one.get("d", "") for one in parsed(chart).iter("path") if kind in (one.get("class") or "").split()]


def rows_of(chart: str) -> list[list[str]]:
    return [[cell.text or "" for cell in row] for row in parsed(chart).iter("tr")]


def test_a_gap_in_a_line_is_not_drawn() -> None:
    (path,) = paths(charts.sparkline([4, 8, None, 2, 6], "Records"), "line")

    assert path.count("M") == 2
    assert len(re.findall(r"[\d.]+ [\d.]+", path)) == 4


def test_the_highest_value_is_at_the_top_and_zero_at_the_bottom() -> None:
    (path,) = paths(charts.sparkline([0, 10], "Records"), "line")

    assert path == "M0.0 23.0L120.0 1.0"


def test_a_value_between_two_gaps_is_drawn() -> None:
    (path,) = paths(charts.sparkline([None, 5, None], "Records"), "line")

    assert path == "M60.0 1.0L61.0 1.0"


@pytest.mark.parametrize(
    "chart",
    [
        charts.sparkline([1, 2, 1_500], "Records", "/s"),
        charts.stacked(STATES, "Collectors", "one"),
        charts.area("Records", [ChartLine("sent", [1, 2, None, 1_500])], TIMES),
        charts.strip("States", STATES, BEGIN, BEGIN + timedelta(hours=1)),
        charts.bullet(70, 90, "Applied", good=True),
    ],
)
def test_a_chart_says_in_words_what_it_shows(chart: str) -> None:
    (label,) = [one.get("aria-label", "") for one in parsed(chart).iter("svg")]

    assert re.search(r"\d", label), label
    assert "style=" not in chart


def test_the_numbers_of_lines_are_a_table() -> None:
    chart = charts.area("Records", [ChartLine("accepted", [1, 2, 3, 4]), ChartLine("sent", [1, None, 3, 1_500])], TIMES)

    assert rows_of(chart) == [
        ["From", "accepted", "sent"],
        ["10:00", "1", "1"],
        ["10:01", "2", "–"],
        ["10:02", "3", "3"],
        ["10:03", "4", "1.5 K"],
    ]


def test_a_table_of_many_points_has_their_means() -> None:
    chart = charts.area("Records", [ChartLine("sent", [2.0, 4.0] * 720)], [str(one) for one in range(1_440)])

    rows = rows_of(chart)[1:]

    assert len(rows) == 60
    assert {value for _, value in rows} == {"3"}


def test_what_is_bad_is_higher_and_hatched_and_not_only_of_another_colour() -> None:
    chart = charts.strip("States", STATES, BEGIN, BEGIN + timedelta(hours=1))

    good, bad = paths(chart, "part")
    assert "V12.0" in good
    assert "V0.0" in bad
    assert len(paths(chart, "hatch")) == 1


def test_the_table_of_states_says_when_each_began_and_leaves_out_the_oldest() -> None:
    end = BEGIN + timedelta(hours=1)

    assert rows_of(charts.strip("States", STATES, BEGIN, end)) == [
        ["From", "State", "Share of the time"],
        ["10:00 UTC", "applied", "75.0 %"],
        ["10:45 UTC", "silent", "25.0 %"],
    ]
    many = rows_of(charts.strip("States", STATES * 60, BEGIN, end))[1:]
    assert (len(many), many[0][0], many[-1][1]) == (60, "10:30 UTC", "silent")


def test_outcomes_are_told_in_words_and_a_bad_one_is_higher() -> None:
    chart = charts.outcomes([ChartPart("Success", 1, "good"), ChartPart("Fail", 1, "bad")], "Suites")

    good, bad = paths(chart, "part")
    assert "V8" in good
    assert "V0" in bad
    assert len(paths(chart, "hatch")) == 1
    assert 'aria-label="Suites, the newest last: Success, Fail"' in chart
    assert charts.outcomes([], "Suites") == ""


def test_nothing_known_is_said_and_not_drawn_as_zero() -> None:
    assert "no numbers yet" in charts.sparkline([None, None], "Records")
    assert "no numbers yet" in charts.area("Records", [ChartLine("sent", [None] * 4)], TIMES)
    assert "nothing is known yet" in charts.strip("States", [], BEGIN, BEGIN)


def test_names_are_escaped() -> None:
    name = "<script>alert(1)</script>"

    together = charts.area(name, [ChartLine(name, [1])], [name]) + charts.stacked([ChartPart(name, 1)], name, "one")

    assert "<script" not in together


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (0.25, "0.25"), (9.46, "9.5"), (950, "950"), (1_234, "1.2 K"), (34e6, "34 M")]
)
def test_numbers_are_as_people_say_them(number: float, text: str) -> None:
    assert charts.short(number) == text
