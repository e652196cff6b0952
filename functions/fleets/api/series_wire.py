"""The shapes of numbers over time."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import BeforeValidator

from headgate.http.wire import Answer, at
from headgate.instances.series import service
from headgate.instances.series.model import NUMBERS, QUEUE
from headgate.instances.series.service import Line, Point, Series
from headgate.instances.state.model import InstanceState
from headgate.instances.timeline import day
from headgate.instances.timeline.day import HostsThen, LastDay
from headgate_engine.wire.times import Time

MOST_VERSIONS: Final = 50
Moment = Annotated[datetime, BeforeValidator(service.at)]
"""A time that is stored in seconds."""


class PointOut(Answer):
    """The counts of one step. A point exists only if a host counted at that time; zero is a counted zero."""

    at: Annotated[Moment, at("start")]
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
        return cls.of(line, kind=line.kind or None, points=points)


class SeriesOut(Answer):
    """Numbers over time, which hosts with a supervisor from 0.5.0 on report."""

    begin: Annotated[Moment, at("range", "begin")]
    end: Annotated[Moment, at("range", "end")]
    step: Annotated[int, at("range", "step")]
    resolution: int
    series: list[LineOut]

    @classmethod
    def of_series(cls, series: Series) -> "SeriesOut":
        return cls.of(series, series=[LineOut.of_line(line) for line in series.lines])


class VersionThenOut(Answer):
    """The number of collectors on a version; nulls for those without one, or with a text that Headgate did not send."""

    configuration_id: str | None
    name: str | None
    version_number: int | None
    collectors: int


class StatesThenOut(Answer):
    """The collectors' states at a time; those of which nothing was known at that time are not counted."""

    at: Time
    states: dict[InstanceState, int]
    versions: list[VersionThenOut]

    @classmethod
    def of_standing(cls, standing: HostsThen, known: LastDay) -> "StatesThenOut":
        most = sorted(standing.versions.items(), key=lambda counted: -counted[1])[:MOST_VERSIONS]
        return cls.of(
            standing,
            versions=[
                VersionThenOut(
                    configuration_id=version.configuration_id if version else None,
                    name=known.names.get(version.configuration_id) if version else None,
                    version_number=version.version_number if version else None,
                    collectors=collectors,
                )
                for version, collectors in most
            ],
        )


class LastDayOut(Answer):
    """The last day of a fleet's or a group's collectors, by state and by version."""

    step: int
    collectors: Annotated[int, at("hosts")]
    left_out: int
    points: list[StatesThenOut]

    @classmethod
    def of_day(cls, known: LastDay) -> "LastDayOut":
        points = [StatesThenOut.of_standing(standing, known) for standing in known.standings]
        return cls.of(known, step=int(day.STEP.total_seconds()), points=points)


def _point(point: Point, *, bytes: bool) -> PointOut:
    numbers: dict[str, int | None] = dict(zip(NUMBERS, point.numbers, strict=False))
    if not bytes:
        numbers |= {"accepted_bytes": None, "sent_bytes": None}
    return PointOut.of(point, hosts=round(point.hosts, 2), queue=point.numbers[QUEUE], **numbers)
