"""Rates of groups and hosts, as numbers a minute for charts."""

from collections.abc import Iterable, Sequence

from headgate.instances.series.model import HOUR, MINUTE
from headgate.instances.series.service import Line, Series
from headgate.instances.state.intervals import unwritten


def per_minute(series: Series, line: Line, place: int) -> list[float | None]:
    """Numbers a minute; None where no host counted, and where not all hosts can have told yet."""
    step, end = series.range.step, series.range.end
    complete = end - unwritten(quick=False)
    return [
        point.numbers[place] * MINUTE / min(step, end - point.start)
        if point.is_known and (step >= HOUR or point.start + step <= complete)
        else None
        for point in line.points
    ]


def summed(values: Iterable[Sequence[float | None]]) -> list[float | None]:
    """The sums hour by hour; an hour of which nothing is known at all stays unknown."""
    hours = [[value for value in hour if value is not None] for hour in zip(*values, strict=False)]
    return [sum(hour) if hour else None for hour in hours]
