"""The runs table, and the files of runs in the bucket. One function, one access pattern."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.identity.model import Principal, PrincipalKind
from headgate.rules.items import rule_attributes, rule_of
from headgate.rules.model import Signal
from headgate.runs.model import RuleResult, Run, RunRule, Status
from headgate.runs.queue import Place, Queue
from headgate.settings import settings
from headgate.storage import aws, idempotent_create, items, objects
from headgate.storage.items import Item, Value
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_LINK_SECONDS: Final = 300


class AlreadyFinal(Exception):
    """The run has ended in another way meanwhile."""


def create(run: Run) -> None:
    """Keep a new run; one transaction."""
    put: TransactWriteItemTypeDef = {"Put": {"TableName": settings().runs_table, "Item": items.marshal(_item(run))}}
    aws.dynamodb().transact_write_items(TransactItems=[put, *idempotent_create.writes(f"/testing/runs/{run.id}")])


def run(run_id: str) -> Run | None:
    """One read. None if there is none."""
    answer = aws.dynamodb().get_item(
        TableName=settings().runs_table, Key=items.marshal({"run_id": run_id}), ConsistentRead=True
    )
    return _run(items.unmarshal(answer["Item"])) if "Item" in answer else None


def update(after: Run) -> None:
    """Replace a run that has not ended; one conditional write. Raises AlreadyFinal, also when it is gone."""
    try:
        aws.dynamodb().put_item(
            TableName=settings().runs_table,
            Item=items.marshal(_item(after)),
            ConditionExpression="#status IN (:queued, :running)",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues=items.marshal({":queued": "Queued", ":running": "Running"}),
        )
    except ClientError as error:
        if items.condition_failed(error):
            raise AlreadyFinal from error
        raise


def delete(run_id: str) -> None:
    """Forget a run that came to nothing; one write."""
    aws.dynamodb().delete_item(TableName=settings().runs_table, Key=items.marshal({"run_id": run_id}))


def unfinished() -> Iterator[Run]:
    """Every run that has not ended; a scan, for the start of a service that runs alone."""
    pages = aws.dynamodb().get_paginator("scan")
    for page in pages.paginate(
        TableName=settings().runs_table,
        ConsistentRead=True,
        FilterExpression="#status IN (:queued, :running)",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues=items.marshal({":queued": "Queued", ":running": "Running"}),
    ):
        for item in page["Items"]:
            yield _run(items.unmarshal(item))


def queue(organization_id: str) -> Queue:
    """The organization's queue, empty where there is none; one read."""
    answer = aws.dynamodb().get_item(
        TableName=settings().runs_table, Key=items.marshal(_queue_key(organization_id)), ConsistentRead=True
    )
    if "Item" not in answer:
        return Queue(organization_id)
    item = items.unmarshal(answer["Item"])
    places = cast("list[Mapping[str, Value]]", item["places"])
    return Queue(
        organization_id,
        revision=items.number(item, "revision"),
        places=tuple(Place(items.text(one, "run_id"), clock.parse(items.text(one, "since"))) for one in places),
        waiting=tuple(cast("list[str]", item["waiting"])),
    )


def save_queue(before: Queue, after: Queue) -> None:
    """Replace the queue; one conditional write. Raises LostRace unless it is still the one before."""
    try:
        aws.dynamodb().put_item(
            TableName=settings().runs_table,
            Item=items.marshal(
                _queue_key(after.organization_id)
                | {
                    "revision": before.revision + 1,
                    "places": [{"run_id": one.run_id, "since": clock.rfc3339(one.since)} for one in after.places],
                    "waiting": list(after.waiting),
                }
            ),
            ConditionExpression="attribute_not_exists(run_id) OR revision = :before"
            if before.revision == 0
            else "revision = :before",
            ExpressionAttributeValues=items.marshal({":before": before.revision}),
        )
    except ClientError as error:
        if items.condition_failed(error):
            raise LostRace from error
        raise


def _queue_key(organization_id: str) -> Item:
    return {"run_id": f"queue#{organization_id}"}


def prefix(run_id: str) -> str:
    """Where the files of a run are in the bucket."""
    return f"runs/{run_id}"


def put_file(run_id: str, name: str, text: str) -> None:
    aws.s3().put_object(
        Bucket=settings().bucket,
        Key=f"{prefix(run_id)}/{name}",
        Body=text.encode(),
        ContentType="text/plain; charset=utf-8",
    )


def file(run_id: str, name: str) -> str | None:
    """The text of a file that its run depends on, or None: one that is there and denied is a fault.

    What is not UTF-8 in it is replaced: a collector may write anything.
    """
    content = file_bytes(run_id, name)
    return None if content is None else content.decode(errors="replace")


def file_bytes(run_id: str, name: str, most: int | None = None) -> bytes | None:
    """The bytes of a file, or None. Raises objects.TooLong."""
    try:
        return objects.read(f"{prefix(run_id)}/{name}", most)
    except aws.s3().exceptions.NoSuchKey:
        return None


def file_if_there(run_id: str, name: str, most: int | None = None) -> str | None:
    """The text of a file that nothing depends on, so that a denied one is as none. Raises objects.TooLong."""
    content = objects.read_if_there(f"{prefix(run_id)}/{name}", most)
    return None if content is None else content.decode(errors="replace")


def file_size(run_id: str, name: str) -> int:
    """In bytes; 0 if there is none, or it is denied."""
    return objects.size_if_there(f"{prefix(run_id)}/{name}") or 0


def link(run_id: str, name: str, seconds: int = _LINK_SECONDS) -> str:
    """A URL that serves one file to whoever has it, for some minutes."""
    return aws.s3().generate_presigned_url(
        "get_object",
        Params={"Bucket": settings().bucket, "Key": f"{prefix(run_id)}/{name}"},
        ExpiresIn=seconds,
    )


def upload(run_id: str, name: str, most: int, seconds: int) -> dict[str, object]:
    """A URL and the fields of a form that store one file of up to that many bytes, for whoever has them."""
    kind = {"Content-Type": "text/plain; charset=utf-8"}
    return aws.s3().generate_presigned_post(
        Bucket=settings().bucket,
        Key=f"{prefix(run_id)}/{name}",
        Fields=kind,
        Conditions=[kind, ["content-length-range", 0, most]],
        ExpiresIn=seconds,
    )


def delete_files(run_id: str) -> None:
    for name in ("configuration.yaml", "sample"):
        aws.s3().delete_object(Bucket=settings().bucket, Key=f"{prefix(run_id)}/{name}")


def _item(run: Run) -> Item:
    return {
        "run_id": run.id,
        "organization_id": run.organization_id,
        "created_by": {"kind": run.created_by.kind, "id": run.created_by.id, "name": run.created_by.name},
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
        # Twenty conditions of 4,096 characters come to 320 KB where each character takes four bytes.
        "rules": _packed(
            json.dumps(
                [{"api_owned": one.api_owned, **rule_attributes(one.rule)} for one in run.rules], ensure_ascii=False
            )
        ),
        "created_at": clock.rfc3339(run.created_at),
        "started_at": clock.rfc3339(run.started_at) if run.started_at else None,
        "finished_at": clock.rfc3339(run.finished_at) if run.finished_at else None,
        # Some 64 KB of much the same words; an item may have 400 KB.
        "stderr": _packed(run.stderr),
        # In the order of the rules, and as many, or none.
        "records_in": run.records_in,
        "records_out": _counts(run.records_out),
        "results": [
            {"passed": one.passed, "matched": one.matched, "total": one.total, "message": one.message}
            for one in run.results
        ],
        "expires": int(run.expires_at.timestamp()),
    }


def _run(item: Item) -> Run:
    creator = cast("Mapping[str, Value]", item["created_by"])
    kept_rules = cast("list[Mapping[str, Value]]", json.loads(_unpacked(item, "rules")))
    rules = tuple(RunRule(rule_of(one), one["api_owned"] is True) for one in kept_rules)
    return Run(
        id=items.text(item, "run_id"),
        organization_id=items.text(item, "organization_id"),
        created_by=Principal(
            cast("PrincipalKind", items.text(creator, "kind")),
            items.text(creator, "id"),
            items.text(creator, "name"),
        ),
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
        rules=rules,
        created_at=clock.parse(items.text(item, "created_at")),
        started_at=_time(item, "started_at"),
        finished_at=_time(item, "finished_at"),
        stderr=_unpacked(item, "stderr"),
        records_in=items.optional_number(item, "records_in"),
        records_out=_records(item),
        results=tuple(
            RuleResult(
                judged.rule,
                judged.api_owned,
                one["passed"] is True,
                items.number(one, "matched"),
                items.number(one, "total"),
                items.text(one, "message"),
            )
            for judged, one in zip(rules, cast("list[Mapping[str, Value]]", item["results"]), strict=False)
        ),
    )


def _counts(records: Mapping[Signal, int] | None) -> dict[str, Value] | None:
    return None if records is None else {str(signal): count for signal, count in records.items()}


def _records(item: Item) -> Mapping[Signal, int] | None:
    kept = cast("Mapping[str, Value] | None", item.get("records_out"))
    return None if kept is None else {cast("Signal", signal): items.number(kept, signal) for signal in kept}


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode())


def _unpacked(item: Item, name: str) -> str:
    return zlib.decompress(cast("bytes", item[name])).decode()


def _time(item: Item, name: str) -> datetime | None:
    text = items.optional_text(item, name)
    return clock.parse(text) if text else None
