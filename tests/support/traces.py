"""Steps of a traced run, as the checker answers them."""

from typing import Any

Json = dict[str, Any]
PLACE: Json = {"path": "processors::transform/clean::log_statements[0]", "line": 9, "column": 11}
STATEMENT: Json = {
    "kind": "statement",
    "text": 'set(attributes["level"], "error")',
    **PLACE,
    "context": "log",
    "evaluated": 3,
    "matched": 2,
    "changed": 1,
    "dropped": 0,
    "errors": [],
}


def field(path: str, change: str, before: object, after: object, **changes: Any) -> Json:
    return {"path": path, "change": change, "before": before, "after": after, "by": None, **changes}


def record(n: int | None, outcome: str, *fields: Json, **changes: Any) -> Json:
    entry = {
        "record": n,
        "records": [],
        "outcome": outcome,
        "outputs": 0 if outcome == "dropped" else 1,
        "name": f"line {n}",
        "by": [],
        "fields": list(fields),
        "fields_left_out": 0,
    }
    return {**entry, **changes}


def step(n: int, component: str, *records: Json, **changes: Any) -> Json:
    counts = {
        outcome: sum(one["outcome"] == outcome for one in records)
        for outcome in ("unchanged", "changed", "dropped", "created", "split", "merged")
    }
    told = {
        "n": n,
        "pipeline": "logs",
        "feeds": [],
        "kind": "processor",
        "component": component,
        "replaces": [],
        "signal": "logs",
        "out_signal": "logs",
        "exact": True,
        "records_in": len(records) - counts["created"],
        "records_out": sum(one["outputs"] for one in records),
        **counts,
        "errors": [],
        "statements": [],
        "records": list(records),
        "left_out": 0,
    }
    return {**told, **changes}


def document(*steps: Json, **changes: Any) -> Json:
    """The answer of the operation `steps`."""
    return {"complete": True, "left_out": {"records": 0, "bytes": 0}, "steps": list(steps), **changes}


def of_three_records() -> Json:
    """Three log records: one is changed by a statement, one is dropped by a condition, one passes."""
    by = {"statement": STATEMENT["text"], **PLACE}
    dropped_by = {"condition": 'IsMatch(body, "health")', "path": "processors::filter", "line": 14, "column": 9}
    return document(
        step(1, "filelog/headgate", *(record(n, "created") for n in (1, 2, 3)), kind="receiver", replaces=["filelog"]),
        step(
            2,
            "transform/clean",
            record(1, "changed", field('attributes["level"]', "added", None, "error", by=by), by=[by]),
            record(2, "unchanged"),
            record(3, "unchanged"),
            statements=[STATEMENT],
        ),
        step(3, "filter", record(1, "unchanged"), record(2, "dropped", by=[dropped_by]), record(3, "unchanged")),
    )
