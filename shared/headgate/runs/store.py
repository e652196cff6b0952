"""The runs table, and the files of runs in the bucket. One function, one access pattern."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final, cast

from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.runs import keys
from headgate.runs.execution import AlreadyFinal
from headgate.runs.model import ListedRun, RuleResult, Run, RunFilter, RunRule
from headgate.runs.queue import Queue
from headgate.storage import idempotent_create, table
from headgate.storage.items import Item
from headgate.storage.retry import LostRace, retry
from headgate.storage.stored import COMPRESSED, COMPRESSED_JSON, Form, Stored
from headgate.storage.table import ConditionFailed
from headgate_engine.rules.engine import ComponentError, RunNote

_RUNS: Final = Stored(
    Run,
    names={"id": "run_id"},
    elsewhere=["component_errors", "notes", "results"],
    forms={
        "attributes": Form(json.dumps, lambda text, _: json.loads(text)),
        # Twenty conditions of 4,096 characters of four bytes are 320 KB.
        "rules": COMPRESSED_JSON,
        # Up to 64 KB, which compress well. An item may have 400 KB.
        "stderr": COMPRESSED,
    },
)
Stored(RunRule, flat=["rule"], sparse=True)
_RESULTS: Final = Stored(RuleResult, elsewhere=["rule", "api_owned"])
_LISTED: Final = Stored(ListedRun, names={"id": "run_id", "rules": "rule_count"})
_SHOWN: Final = {"expires"} | {each.name for each in _LISTED.attributes()}
_QUEUES: Final = Stored(Queue, elsewhere=["organization_id"])
_UNFINISHED: Final = "#status IN (:queued, :running)"
# The table also holds jobs, which have a kind.
_UNFINISHED_RUN: Final = f"attribute_not_exists(#kind) AND {_UNFINISHED}"
# Some 600 bytes each, so a page of a list costs three megabytes at most.
MOST_READ: Final = 5_000
_UNFINISHED_VALUES: Final[Item] = {":queued": "Queued", ":running": "Running"}


def create(run: Run) -> None:
    """Store a new run; one transaction. Raises LostRace if its request's `Idempotency-Key` was taken over."""
    item, details = _items(run)
    writes = [table.runs.put_over(item), table.runs.put_over(details)]
    table.transact([*writes, *idempotent_create.writes(f"/testing/runs/{run.id}")])


def find(run_id: str, /) -> Run | None:
    """One transaction of two reads. None if there is none."""
    item, details = table.get_together((table.runs, keys.run(run_id)), (table.runs, keys.details(run_id)))
    return _whole(item, details) if item else None


def has_ended(run_id: str) -> bool:
    """True if a run or a job has ended, or does not exist; one read."""
    item = table.runs.get(keys.run(run_id))
    return item is None or item["status"] not in _UNFINISHED_VALUES.values()


def update(after: Run, /) -> None:
    """Replace a run that has not ended; one transaction. Raises AlreadyFinal, also if there is no such run."""
    item, details = _items(after)
    writes = [table.runs.put_if(item, _UNFINISHED, _UNFINISHED_VALUES), table.runs.put_over(details)]
    retry(lambda: table.transact(writes, {0: AlreadyFinal()}))


def listed(
    organization_id: str,
    seen_by: Principal | None,
    filters: RunFilter,
    at: datetime,
    limit: int,
    after: str | None,
    most: int | None = None,
) -> Slice[ListedRun]:
    """The organization's runs that are wanted, newest first, after the id `after`; of a principal that is given, those
    that it created or that the organization sees.

    One query or a few, which read up to `most` runs, or MOST_READ: a slice may be short and still have a position.
    """
    conditions, values = ["#expires > :now"], Item({":now": int(at.timestamp())})
    for attribute, value in (
        ("configuration_id", filters.configuration_id),
        ("target_pipeline", filters.pipeline),
        ("status", filters.status),
    ):
        if value is not None:
            conditions.append(f"#{attribute} = :{attribute}")
            values[f":{attribute}"] = value
    if seen_by is not None:
        conditions.append("(#published = :yes OR (#created_by.#kind = :kind AND #created_by.#id = :id))")
        values |= {":yes": True, ":kind": seen_by.kind, ":id": seen_by.id}
    page = table.runs.matching(
        organization_id,
        keys.RUNS,
        " AND ".join(conditions),
        values,
        limit,
        after,
        keys.OF_ORGANIZATION,
        most or MOST_READ,
    )
    return Slice([_LISTED.read(item) for item in page.entries], page.position)


def delete(run_id: str, /) -> None:
    """One transaction."""
    table.transact([table.runs.delete(keys.run(run_id)), table.runs.delete(keys.details(run_id))])


def unfinished() -> Iterator[Run]:
    """Every run that has not ended; a scan, for the start of a service that runs alone."""
    for item in table.runs.scan(_UNFINISHED_RUN, _UNFINISHED_VALUES):
        if run := _whole(item, table.runs.get(keys.details(str(item["run_id"])))):
            yield run


def queue(organization_id: str) -> Queue:
    """The organization's queue, empty if nothing is stored; one read."""
    item = table.runs.get(keys.queue(organization_id))
    if item is None:
        return Queue(organization_id)
    return _QUEUES.read(item, organization_id=organization_id)


def save_queue(before: Queue, after: Queue) -> None:
    """Replace the queue; one conditional write. Raises LostRace unless it is still the one before."""
    try:
        table.write(_put_queue(before, after))
    except ConditionFailed as error:
        raise LostRace from error


def save_queues(*changes: tuple[Queue, Queue]) -> None:
    """Replace queues, each the one before by the one after; one transaction. Raises LostRace if one is another now."""
    changed = [_put_queue(before, after) for before, after in changes if after != before]
    if changed:
        table.transact(changed)


def _put_queue(before: Queue, after: Queue) -> table.Write:
    item = keys.queue(after.organization_id) | _QUEUES.item(replace(after, revision=before.revision + 1))
    unchanged = "revision = :before" if before.revision else "attribute_not_exists(run_id) OR revision = :before"
    return table.runs.put_if(item, unchanged, {":before": before.revision})


def _items(run: Run) -> tuple[Item, Item]:
    """The attributes that lists show, which the index copies, and the others, which may have 400 KB."""
    attributes = _item(run)
    details = {name: value for name, value in attributes.items() if name not in _SHOWN}
    item = {name: value for name, value in attributes.items() if name in _SHOWN}
    return item, keys.details(run.id) | details | {"expires": attributes["expires"]}


def _item(run: Run) -> Item:
    # At most 20 errors and 50 notes of 1,000 characters.
    seen = {
        "component_errors": [each.model_dump() for each in run.component_errors],
        "notes": [each.model_dump() for each in run.notes],
    }
    derived: Item = {
        "seen": COMPRESSED.write(json.dumps(seen)),
        # For the list, which does not read the rules and their results.
        "reason": run.reason,
        "rule_count": len(run.rules),
        "rules_passed": run.rules_passed if run.is_final else None,
        "expires": int(run.expires_at.timestamp()),
    }
    # None, or one for each rule in their order.
    return _RUNS.item(run) | derived | {"results": [_RESULTS.item(result) for result in run.results]}


def _whole(item: Item, details: Item | None) -> Run | None:
    """The run in two items. An earlier release stored it as one; without its details, it has expired."""
    return _run((details or {}) | item) if details or "rules" in item else None


def _run(item: Item) -> Run:
    seen = json.loads(str(COMPRESSED.read(item["seen"], str)))
    run = _RUNS.read(
        item,
        component_errors=tuple(ComponentError(**each) for each in seen["component_errors"]),
        notes=tuple(RunNote(**each) for each in seen["notes"]),
        results=(),
    )
    results = zip(run.rules, cast("list[Item]", item["results"]), strict=False)
    return replace(
        run,
        results=tuple(
            _RESULTS.read(result, rule=run_rule.rule, api_owned=run_rule.api_owned) for run_rule, result in results
        ),
    )
