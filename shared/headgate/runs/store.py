"""The runs table, and the files of runs in the bucket. One function, one access pattern."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, cast

from headgate.foundation import clock
from headgate.foundation.principal import Principal
from headgate.runs import keys
from headgate.runs.model import ListedRun, RuleResult, Run, RunRule, Status, Wanted
from headgate.runs.queue import Place, Queue
from headgate.storage import idempotent_create, items, objects, principals, table
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice
from headgate.storage.retry import LostRace
from headgate.storage.table import ConditionFailed
from headgate_engine.collector import Signal
from headgate_engine.rules.documents import rule_attributes, rule_of
from headgate_engine.rules.engine import ComponentError, Format, RunNote

_LINK_SECONDS: Final = 300
_UNFINISHED: Final = "#status IN (:queued, :running)"
# The table also holds jobs, which have a kind.
_UNFINISHED_RUN: Final = f"attribute_not_exists(#kind) AND {_UNFINISHED}"
# Some 600 bytes each in the index, so a page of a list costs three megabytes at most.
MOST_READ: Final = 5_000
_UNFINISHED_VALUES: Final[Item] = {":queued": "Queued", ":running": "Running"}


class AlreadyFinal(Exception):
    """The run has already ended, in another way."""


def create(run: Run) -> None:
    """Store a new run; one transaction. Raises LostRace if its request's `Idempotency-Key` was taken over."""
    table.transact([table.runs.put_over(_item(run)), *idempotent_create.writes(f"/testing/runs/{run.id}")])


def run(run_id: str) -> Run | None:
    """One read. None if there is none."""
    item = table.runs.get(keys.run(run_id))
    return _run(item) if item else None


def has_ended(run_id: str) -> bool:
    """Whether a run or a job has ended, or is not there; one read."""
    item = table.runs.get(keys.run(run_id))
    return item is None or item["status"] not in _UNFINISHED_VALUES.values()


def update(after: Run) -> None:
    """Replace a run that has not ended; one conditional write. Raises AlreadyFinal, also if there is no such run."""
    try:
        table.write(table.runs.put_if(_item(after), _UNFINISHED, _UNFINISHED_VALUES))
    except ConditionFailed as error:
        raise AlreadyFinal from error


def listed(
    organization_id: str,
    seen_by: Principal | None,
    wanted: Wanted,
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
        ("configuration_id", wanted.configuration_id),
        ("target_pipeline", wanted.pipeline),
        ("status", wanted.status),
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
    return Slice([_listed(item) for item in page.entries], page.position)


def delete(run_id: str) -> None:
    """One delete."""
    table.write(table.runs.delete(keys.run(run_id)))


def unfinished() -> Iterator[Run]:
    """Every run that has not ended; a scan, for the start of a service that runs alone."""
    return map(_run, table.runs.scan(_UNFINISHED_RUN, _UNFINISHED_VALUES))


def queue(organization_id: str) -> Queue:
    """The organization's queue, empty if nothing is stored; one read."""
    item = table.runs.get(keys.queue(organization_id))
    if item is None:
        return Queue(organization_id)
    places = cast("list[Mapping[str, Value]]", item["places"])
    return Queue(
        organization_id,
        revision=items.number(item, "revision"),
        places=tuple(Place(items.text(place, "run_id"), clock.parse(items.text(place, "since"))) for place in places),
        waiting=tuple(cast("list[str]", item["waiting"])),
    )


def save_queue(before: Queue, after: Queue) -> None:
    """Replace the queue; one conditional write. Raises LostRace unless it is still the one before."""
    item = keys.queue(after.organization_id) | {
        "revision": before.revision + 1,
        "places": [{"run_id": place.run_id, "since": clock.rfc3339(place.since)} for place in after.places],
        "waiting": list(after.waiting),
    }
    unchanged = "revision = :before" if before.revision else "attribute_not_exists(run_id) OR revision = :before"
    try:
        table.write(table.runs.put_if(item, unchanged, {":before": before.revision}))
    except ConditionFailed as error:
        raise LostRace from error


def put_file(run_id: str, name: str, text: str) -> None:
    objects.write(keys.file(run_id, name), text.encode(), objects.TEXT)


def file(run_id: str, name: str) -> str | None:
    """The text of a file that its run depends on, None if there is none. Raises ClientError if access is denied.

    A collector may write anything: what is not UTF-8 is replaced.
    """
    content = file_bytes(run_id, name)
    return None if content is None else content.decode(errors="replace")


def file_bytes(run_id: str, name: str, limit: int | None = None) -> bytes | None:
    """The bytes of a file, None if there is none. Raises objects.TooLong."""
    return objects.read_unless_missing(keys.file(run_id, name), limit)


def file_if_there(run_id: str, name: str, limit: int | None = None) -> str | None:
    """The text of a file that nothing depends on, None if there is none or access is denied. Raises objects.TooLong."""
    content = objects.read_if_there(keys.file(run_id, name), limit)
    return None if content is None else content.decode(errors="replace")


def file_size(run_id: str, name: str) -> int:
    """In bytes; 0 if there is none, or access is denied."""
    return objects.size_if_there(keys.file(run_id, name)) or 0


def link(run_id: str, name: str, seconds: int = _LINK_SECONDS) -> str:
    """A URL that serves one file to whoever has it, for some minutes."""
    return objects.link(keys.file(run_id, name), seconds)


def upload(run_id: str, name: str, limit: int, seconds: int) -> dict[str, object]:
    """The URL and fields of a form that stores one file of up to `limit` bytes, for whoever has them."""
    return objects.upload_form(keys.file(run_id, name), limit, seconds)


def delete_files(run_id: str) -> None:
    for name in ("configuration.yaml", "sample"):
        objects.delete(keys.file(run_id, name))


def _item(run: Run) -> Item:
    return keys.run(run.id) | {
        "organization_id": run.organization_id,
        "created_by": principals.attribute(run.created_by),
        "published": run.published,
        "status": run.status,
        "configuration_id": run.configuration_id,
        "version_number": run.version_number,
        "signal_type": run.signal_type,
        "signals": list(run.signals),
        "target_pipeline": run.target_pipeline,
        "duration_seconds": run.duration_seconds,
        "collector_version": run.collector_version,
        "sample_is_otlp": run.sample_is_otlp,
        "sample_format": run.sample_format,
        "sample_name": run.sample_name,
        "feature_gates": list(run.feature_gates),
        "trace": run.trace,
        "skip": list(run.skip),
        "attributes": json.dumps(run.attributes),
        "env_names": list(run.env_names),
        "output_pipelines": list(run.output_pipelines),
        # Twenty conditions of 4,096 characters of four bytes are 320 KB.
        "rules": _compressed(json.dumps([_run_rule_item(rule) for rule in run.rules], ensure_ascii=False)),
        "created_at": clock.rfc3339(run.created_at),
        "started_at": clock.rfc3339(run.started_at) if run.started_at else None,
        "finished_at": clock.rfc3339(run.finished_at) if run.finished_at else None,
        # Up to 64 KB, which compress well. An item may have 400 KB.
        "stderr": _compressed(run.stderr),
        # At most 20 errors and 50 notes of 1,000 characters.
        "seen": _compressed(
            json.dumps(
                {
                    "component_errors": [one.model_dump() for one in run.component_errors],
                    "notes": [one.model_dump() for one in run.notes],
                }
            )
        ),
        "records_in": run.records_in,
        "records_out": _counts(run.records_out),
        # For the list, which does not read the rules and their results.
        "reason": run.reason,
        "rule_count": len(run.rules),
        "rules_passed": run.rules_passed if run.is_final else None,
        # None, or one for each rule in their order.
        "results": [
            {"passed": result.passed, "matched": result.matched, "total": result.total, "message": result.message}
            for result in run.results
        ],
        "expires": int(run.expires_at.timestamp()),
    }


def _run(item: Item) -> Run:
    stored_rules = cast("list[Mapping[str, Value]]", json.loads(_decompressed(item, "rules")))
    rules = tuple(RunRule(rule_of(rule), rule["api_owned"] is True) for rule in stored_rules)
    # Runs of releases before these have none.
    seen = json.loads(_decompressed(item, "seen")) if "seen" in item else {"component_errors": [], "notes": []}
    return Run(
        id=items.text(item, "run_id"),
        organization_id=items.text(item, "organization_id"),
        created_by=principals.read(item, "created_by"),
        published=item["published"] is True,
        status=cast("Status", items.text(item, "status")),
        configuration_id=items.optional_text(item, "configuration_id"),
        version_number=items.optional_number(item, "version_number"),
        signal_type=cast("Signal", items.text(item, "signal_type")),
        signals=tuple(cast("list[Signal]", item["signals"])),
        target_pipeline=items.text(item, "target_pipeline"),
        duration_seconds=items.number(item, "duration_seconds"),
        collector_version=items.text(item, "collector_version"),
        sample_is_otlp=item["sample_is_otlp"] is True,
        sample_format=cast("Format | None", items.optional_text(item, "sample_format")),
        sample_name=items.optional_text(item, "sample_name"),
        feature_gates=tuple(cast("list[str]", item.get("feature_gates", []))),
        trace=item.get("trace") is True,
        skip=tuple(cast("list[str]", item.get("skip", []))),
        attributes=json.loads(str(item.get("attributes", "{}"))),
        env_names=tuple(cast("list[str]", item.get("env_names", []))),
        output_pipelines=tuple(cast("list[str]", item.get("output_pipelines", []))),
        rules=rules,
        created_at=clock.parse(items.text(item, "created_at")),
        started_at=_time(item, "started_at"),
        finished_at=_time(item, "finished_at"),
        stderr=_decompressed(item, "stderr"),
        component_errors=tuple(ComponentError(**one) for one in seen["component_errors"]),
        notes=tuple(RunNote(**one) for one in seen["notes"]),
        records_in=items.optional_number(item, "records_in"),
        records_out=_records(item),
        results=tuple(
            RuleResult(
                run_rule.rule,
                run_rule.api_owned,
                result["passed"] is True,
                items.number(result, "matched"),
                items.number(result, "total"),
                items.text(result, "message"),
            )
            for run_rule, result in zip(rules, cast("list[Mapping[str, Value]]", item["results"]), strict=False)
        ),
    )


def _listed(item: Item) -> ListedRun:
    return ListedRun(
        id=items.text(item, "run_id"),
        organization_id=items.text(item, "organization_id"),
        created_by=principals.read(item, "created_by"),
        published=item["published"] is True,
        status=cast("Status", items.text(item, "status")),
        reason=items.optional_text(item, "reason"),
        configuration_id=items.optional_text(item, "configuration_id"),
        version_number=items.optional_number(item, "version_number"),
        signal_type=cast("Signal", items.text(item, "signal_type")),
        target_pipeline=items.text(item, "target_pipeline"),
        duration_seconds=items.number(item, "duration_seconds"),
        collector_version=items.text(item, "collector_version"),
        trace=item.get("trace") is True,
        rules=items.optional_number(item, "rule_count"),
        rules_passed=items.optional_number(item, "rules_passed"),
        records_in=items.optional_number(item, "records_in"),
        records_out=_records(item),
        created_at=clock.parse(items.text(item, "created_at")),
        started_at=_time(item, "started_at"),
        finished_at=_time(item, "finished_at"),
    )


def _run_rule_item(rule: RunRule) -> Item:
    return {"api_owned": rule.api_owned, **rule_attributes(rule.rule)}


def _counts(records: Mapping[Signal, int] | None) -> dict[str, Value] | None:
    return None if records is None else {str(signal): count for signal, count in records.items()}


def _records(item: Item) -> Mapping[Signal, int] | None:
    if item.get("records_out") is None:
        return None
    counts = items.mapping(item, "records_out")
    return {cast("Signal", signal): items.number(counts, signal) for signal in counts}


def _compressed(text: str) -> bytes:
    return zlib.compress(text.encode())


def _decompressed(item: Item, name: str) -> str:
    return zlib.decompress(cast("bytes", item[name])).decode()


def _time(item: Item, name: str) -> datetime | None:
    text = items.optional_text(item, name)
    return clock.parse(text) if text else None
