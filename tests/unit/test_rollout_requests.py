"""What may be asked of a rollout: each refusal names its place."""

import zoneinfo
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from fleets.api.rollouts_wire import StartRollout
from headgate.rollouts.strategy import PRESETS, Gates, RolloutStep, Strategy

NIGHT = {"start": "22:00", "end": "05:00", "time_zone": "UTC"}


def strategy(**fields: object) -> dict[str, object]:
    return {"strategy": fields}


def test_defaults_need_no_thought() -> None:
    order = StartRollout.model_validate({"version_number": 2}).order()

    assert order.strategy == Strategy(PRESETS["canary"])
    assert order.gates == Gates()


def test_presets_have_the_steps_of_the_page() -> None:
    soaks = {120: "2 minutes each", 300: "judged for 5 minutes", 600: "10 minutes each", 3_600: "an hour each"}
    page = (Path(__file__).parents[2] / "docs/rollouts.md").read_text()
    for name, steps in PRESETS.items():
        words = [
            (f"{step.hosts} host" if step.hosts else f"{step.percent} %") + " after an approval" * step.approval
            for step in steps
        ]
        (soak,) = {soaks[step.soak_seconds] for step in steps}
        title = f"`{name}`" + " (the default)" * (name == "canary")

        assert f"| {title} | {', '.join([*words, soak])} |\n" in page


def test_canaries_are_the_first_step_of_a_preset() -> None:
    asked = strategy(preset="fast", canaries={"ring": "canary"})
    steps = StartRollout.model_validate({"version_number": 2, **asked}).order().strategy.steps

    assert steps == (RolloutStep(120, canaries=True), RolloutStep(120, percent=100))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        (strategy(preset="yolo"), ("strategy", "preset")),
        (strategy(preset="fast", steps=[{"percent": 100}]), ("strategy",)),
        (strategy(steps=[]), ("strategy", "steps")),
        (strategy(steps=[{"percent": 100}] * 21), ("strategy", "steps")),
        (strategy(steps=[{"percent": 50}]), ("strategy",)),
        (strategy(steps=[{"percent": 100}, {"percent": 100}]), ("strategy",)),
        (strategy(steps=[{"percent": 50}, {"percent": 20}, {"percent": 100}]), ("strategy",)),
        (strategy(steps=[{"hosts": 5}, {"hosts": 5}, {"percent": 100}]), ("strategy",)),
        (strategy(steps=[{"hosts": 1, "percent": 1}]), ("strategy", "steps", 0)),
        (strategy(steps=[{}]), ("strategy", "steps", 0)),
        (strategy(steps=[{"canaries": True}, {"percent": 100}]), ("strategy",)),
        (strategy(canaries={"a": "b"}, steps=[{"hosts": 1}, {"canaries": True}, {"percent": 100}]), ("strategy",)),
        (strategy(steps=[{"percent": 100, "soak_seconds": -1}]), ("strategy", "steps", 0, "soak_seconds")),
        (strategy(canaries={}), ("strategy", "canaries")),
        (strategy(max_unavailable=0), ("strategy", "max_unavailable")),
        (strategy(window=NIGHT | {"time_zone": "../../etc/passwd"}), ("strategy", "window", "time_zone")),
        (strategy(window=NIGHT | {"time_zone": "Europe/Berlim"}), ("strategy", "window", "time_zone")),
        (strategy(window=NIGHT | {"time_zone": "Europe"}), ("strategy", "window", "time_zone")),
        (strategy(window=NIGHT | {"time_zone": "localtime"}), ("strategy", "window", "time_zone")),
        (strategy(window=NIGHT | {"time_zone": "right/UTC"}), ("strategy", "window", "time_zone")),
        (strategy(window=NIGHT | {"start": "25:00"}), ("strategy", "window", "start")),
        (strategy(window=NIGHT | {"end": "22:00"}), ("strategy", "window")),
        ({"gates": {"send_failed": 101}}, ("gates", "send_failed")),
        ({"gates": {"sent_failed": 5}}, ("gates", "sent_failed")),
        ({"gates": {"apply_failed": None}}, ("gates", "apply_failed")),
        ({"message": " "}, ("message",)),
    ],
)
def test_a_rollout_that_cannot_be_is_refused_with_the_place(
    fields: dict[str, object], place: tuple[object, ...]
) -> None:
    with pytest.raises(ValidationError) as refused:
        StartRollout.model_validate({"version_number": 2, **fields})

    assert [error["loc"] for error in refused.value.errors()] == [place]


def test_time_zones_are_known_where_the_system_has_none() -> None:
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    try:
        window = (
            StartRollout.model_validate(
                {"version_number": 2, **strategy(window=NIGHT | {"time_zone": "Europe/Berlin"})}
            )
            .order()
            .strategy.window
        )
        # 21:30 UTC is 22:30 there.
        assert window
        assert window.is_open(datetime(2026, 11, 21, 21, 30, tzinfo=UTC))
    finally:
        zoneinfo.reset_tzpath()
        zoneinfo.ZoneInfo.clear_cache()
