"""The shapes of numbers over time."""

from datetime import datetime

from headgate.http.wire import Answer
from headgate.instances.series import service
from headgate.instances.series.model import NUMBERS, QUEUE
from headgate.instances.series.service import Line, Point, Series


class PointOut(Answer):
    """What was counted in one step. A point is there only if a host counted then; zero is a counted zero."""

    at: datetime
    hosts: float
    accepted: int
    refused: int
    sent: int
    failed: int
    dropped: int
    queue: int
    accepted_bytes: int | None
    sent_bytes: int | None


class LineOut(Answer):
    """The points of a component, a pipeline, a host, or of all of them."""

    name: str
    kind: str | None
    pipelines: list[str]
    shared: bool
    points: list[PointOut]

    @classmethod
    def of_line(cls, line: Line) -> "LineOut":
        points = [_point(point, bytes=line.measures_bytes) for point in line.points if point.is_known]
        return cls(
            name=line.name, kind=line.kind or None, pipelines=[*line.pipelines], shared=line.shared, points=points
        )


class SeriesOut(Answer):
    """Numbers over time, which hosts with a supervisor from 0.5.0 on report."""

    begin: datetime
    end: datetime
    step: int
    resolution: int
    series: list[LineOut]

    @classmethod
    def of_series(cls, series: Series) -> "SeriesOut":
        asked = series.range
        return cls(
            begin=service.at(asked.begin),
            end=service.at(asked.end),
            step=asked.step,
            resolution=series.resolution,
            series=[LineOut.of_line(line) for line in series.lines],
        )


def _point(point: Point, *, bytes: bool) -> PointOut:
    numbers: dict[str, int | None] = dict(zip(NUMBERS, point.numbers, strict=False))
    if not bytes:
        numbers |= {"accepted_bytes": None, "sent_bytes": None}
    return PointOut.of(at=service.at(point.start), hosts=round(point.hosts, 2), queue=point.numbers[QUEUE], **numbers)
