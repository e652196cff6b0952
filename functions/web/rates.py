"""Rates of groups and hosts, as numbers a minute for charts."""

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
