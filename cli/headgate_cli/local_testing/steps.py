"""The steps of a traced run, as the API tells them, made by a collector of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from headgate_cli.api import Entity, entities, optional
from headgate_cli.local_collector import CollectorFailed, LocalCollector, Refused

_ENDED_BEFORE: Final = "the run ended before its steps were recorded"
_LEFT_OUT: Final[Entity] = {"records": 0, "bytes": 0}
_FORMS: Final = ("statement", "condition", "component")


def of(collector: LocalCollector, yaml: str, left: Entity) -> Entity:
    """All steps with their records; or why there are none, which does not fail the run."""
    try:
        answer = collector.ask("steps", {"events": optional(left, "steps"), "yaml": yaml})
    except Refused as refused:
        return _unavailable(refused.message)
    except CollectorFailed as failed:
        return _unavailable(failed.message)
    return {
        "available": True,
        "reason": None,
        "complete": answer.get("complete") is True,
        "left_out": answer.get("left_out"),
        "items": [{**step, "records": _records(step)} for step in entities(answer, "steps")],
    }


def notes(trace: Entity) -> list[object]:
    """What the run's standard error has to say of it."""
    return [] if trace["available"] else [f"this run has no steps: {trace['reason']}"]


def overview(trace: Entity) -> Entity:
    """The answer of `…/steps`. `trace` is empty for a run whose collector was not started."""
    return {**(trace or _unavailable(_ENDED_BEFORE)), "items": [_plain(step) for step in entities(trace, "items")]}


def page(trace: Entity, n: int, record: object) -> Entity | None:
    """The answer of `…/steps/{n}`, all on one page; None if there is no such step."""
    step = next((step for step in entities(trace, "items") if step.get("n") == n), None)
    if step is None:
        return None
    return {
        **_plain(step),
        "records": [entry for entry in entities(step, "records") if is_of(entry, record)],
        "next_cursor": None,
    }


def is_of(entry: Entity, record: object) -> bool:
    """Whether an entry of a step is that record of the sample, or was made of it; any is without a record."""
    made_of = entry.get("records")
    return record in (None, entry.get("record")) or (isinstance(made_of, list) and record in made_of)


def _unavailable(reason: str) -> Entity:
    return {"available": False, "reason": reason, "complete": False, "left_out": _LEFT_OUT, "items": []}


def _plain(step: Entity) -> Entity:
    return {name: value for name, value in step.items() if name != "records"}


def _records(step: Entity) -> list[Entity]:
    """With every field that the API has."""
    return [
        {
            **entry,
            "by": [_reason(reason) for reason in entities(entry, "by")],
            "fields": [{**field, "by": _reason(field.get("by"))} for field in entities(entry, "fields")],
        }
        for entry in entities(step, "records")
    ]


def _reason(reason: object) -> Entity | None:
    if not isinstance(reason, Mapping):
        return None
    return _in_order(reason, (*_FORMS, "path", "line", "column"))


def _in_order(entity: Mapping[str, object], names: Iterable[str]) -> Entity:
    return {name: entity.get(name) for name in names}
