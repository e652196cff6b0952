"""Options of `rollout start` that name steps, a window and gates, and the request that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import click

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION: Final = re.compile(r"([0-9]{1,6})([smhd])")
_STEP: Final = re.compile(r"(?:(?P<hosts>[1-9][0-9]{0,5})|(?P<percent>[1-9][0-9]{0,2})%|(?P<canaries>canaries))")
_WINDOW: Final = re.compile(r"([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})@(\S+)")
_GATE: Final = re.compile(r"([a-z][a-z-]*)=(off|[0-9]{1,6})")
_DEFAULT_SOAK: Final = 600
# The other gates have a limit.
_SWITCHES: Final = ("apply_failed", "crash_loop", "silent", "delivery", "not_judged")

Step = Mapping[str, object]


class Duration(click.ParamType[int]):
    """`90s`, `10m`, `2h` or `1d`, in seconds."""

    name = "DURATION"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = _DURATION.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a duration: write 90s, 10m, 2h or 1d", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


class StepOfRollout(click.ParamType[Step]):
    """`1`, `10%` or `canaries`; then `:10m` for the soak, and `:approval` if somebody has to agree before."""

    name = "STEP"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Step:
        share, *more = str(value).split(":")
        match = _STEP.fullmatch(share)
        if match is None:
            self.fail(f"{value!r} is not a step: write 1, 10% or canaries, and then :10m for its soak", param, ctx)
        step: dict[str, object] = {"soak_seconds": _DEFAULT_SOAK}
        step |= {name: int(number) for name, number in match.groupdict().items() if number and name != "canaries"}
        step |= {"canaries": True} if match["canaries"] else {}
        for part in more:
            if part == "approval":
                step["approval"] = True
            else:
                step["soak_seconds"] = Duration().convert(part, param, ctx)
        return step


class WindowOption(click.ParamType[Mapping[str, str]]):
    name = "HH:MM-HH:MM@ZONE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Mapping[str, str]:
        if isinstance(value, Mapping):
            return value
        match = _WINDOW.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a window: write 22:00-05:00@Europe/Berlin", param, ctx)
        return {"start": match[1], "end": match[2], "time_zone": match[3]}


class GateOption(click.ParamType[tuple[str, object]]):
    """A gate and its limit; `off` switches it off. The server says which there are."""

    name = "NAME=N|off"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, object]:
        match = _GATE.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a gate: write send-failed=10 or silent=off", param, ctx)
        name, limit = match[1].replace("-", "_"), match[2]
        off = False if name in _SWITCHES else None
        return name, off if limit == "off" else int(limit)


def strategy(
    preset: str | None,
    steps: Sequence[Step],
    canaries: Mapping[str, str],
    max_unavailable: int | None,
    window: Mapping[str, str] | None,
    on_failure: str | None,
) -> dict[str, object]:
    """The field `strategy`; empty for the server's own."""
    if preset and steps:
        raise click.UsageError("--strategy and --step exclude each other: a strategy has steps of its own")
    fields: dict[str, object] = {
        "preset": preset and preset.replace("-", "_"),
        "steps": list(steps),
        "canaries": dict(canaries),
        "max_unavailable": max_unavailable,
        "window": window,
        "on_failure": on_failure and on_failure.replace("-", "_"),
    }
    return {field: value for field, value in fields.items() if value}
