"""The list of a version's tests and its evidence: two items of the versions table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from headgate.foundation import clock
from headgate.storage import items, large_texts, principals, table
from headgate.storage.items import Item, Value
from headgate.storage.table import Write
from headgate.version_tests import keys
from headgate.version_tests.model import (
    Content,
    Evidence,
    Listed,
    Recorded,
    TestVerdict,
    Verdict,
    VersionTests,
    text_digest,
)
from headgate_engine.collector import Signal

# The bucket's folder of texts that are too large for an item; those of versions are there too.
_FOLDER: Final = "versions"
# Fifty of them, each with a pipeline's name of 4 KB at worst, fit an item of 400 KB.
_LARGEST_IN_LIST: Final = 2_000


def tests(configuration_id: str, n: int) -> VersionTests:
    """One read. No tests if there is no item."""
    item = table.versions.get(keys.tests(configuration_id, n))
    return _tests(item) if item else VersionTests()


def evidence(configuration_id: str, n: int) -> Recorded:
    """One read. No evidence if there is no item."""
    item = table.versions.get(keys.evidence(configuration_id, n))
    return _recorded(item) if item else Recorded()


def tests_and_evidence(configuration_id: str, n: int) -> tuple[VersionTests, Recorded]:
    """One read of both, as they were at one moment."""
    tests, evidence = table.get_together(
        (table.versions, keys.tests(configuration_id, n)), (table.versions, keys.evidence(configuration_id, n))
    )
    return _tests(tests) if tests else VersionTests(), _recorded(evidence) if evidence else Recorded()


def content(text: str) -> Content:
    """The text, for a list to have. A large one is written to S3 now, by its hash."""
    stored = large_texts.write(text, _FOLDER, largest=_LARGEST_IN_LIST)
    compressed, key = stored.get("content"), stored.get("content_key")
    return Content(
        text_digest(text),
        len(text.encode()),
        compressed if isinstance(compressed, bytes) else None,
        key if isinstance(key, str) else None,
    )


def text(content: Content) -> str:
    """The text again; a GET if it is an object."""
    return large_texts.read({"content": content.compressed, "content_key": content.key})


def save(configuration_id: str, n: int, before: VersionTests, after: VersionTests, *conditions: Write) -> None:
    """One transaction. Raises LostRace if a condition does not hold, or the tests are no longer as in `before`."""
    item = _item(configuration_id, n, after)
    table.transact([table.versions.put_if(item, *_as_in(before.revision)), *conditions])


def carried(configuration_id: str, n: int, tests: VersionTests, to: int) -> list[Write]:
    """For the transaction that makes the version `to`: it gets these tests of version `n`, if they are still these."""
    writes = [unchanged(configuration_id, n, tests)]
    if tests.tests:
        first = VersionTests(tests.tests, 1)
        writes.append(table.versions.put_new(_item(configuration_id, to, first)))
    return writes


def deleting(configuration_id: str, n: int) -> list[Write]:
    """The writes that delete what a version has of both."""
    return [table.versions.delete(build(configuration_id, n)) for build in (keys.tests, keys.evidence)]


def unchanged(configuration_id: str, n: int, known: VersionTests) -> Write:
    """For another change's transaction, which fails unless the version's tests are still these."""
    return table.versions.check(keys.tests(configuration_id, n), *_as_in(known.revision))


def recording(configuration_id: str, n: int, before: Recorded, after: Recorded) -> Write:
    """For a transaction, which fails if the evidence is no longer as in `before`."""
    item = keys.evidence(configuration_id, n) | {
        "revision": after.revision,
        "evidence": [_evidence_item(one) for one in after.entries],
    }
    return table.versions.put_if(item, *_as_in(before.revision))


def evidence_unchanged(configuration_id: str, n: int, known: Recorded) -> Write:
    """For another change's transaction, which fails unless the version's evidence is still this."""
    return table.versions.check(keys.evidence(configuration_id, n), *_as_in(known.revision))


def _as_in(revision: int) -> tuple[str, Item]:
    if revision == 0:
        return "attribute_not_exists(configuration_id)", {}
    return "revision = :known", {":known": revision}


def _item(configuration_id: str, n: int, tests: VersionTests) -> Item:
    listed = [
        {
            "name": one.name,
            "target_pipeline": one.target_pipeline,
            "signal_type": one.signal_type,
            "rules": one.rules,
            "expects_output": one.expects_output,
            "sha256": one.content.sha256,
            "size": one.content.size,
            "content": one.content.compressed,
            "content_key": one.content.key,
            "updated_at": clock.rfc3339(one.updated_at),
            "updated_by": principals.attribute(one.updated_by),
        }
        for one in tests.tests
    ]
    given = [{name: value for name, value in one.items() if value is not None} for one in listed]
    return keys.tests(configuration_id, n) | {"revision": tests.revision, "tests": cast("list[Value]", given)}


def _tests(item: Item) -> VersionTests:
    listed = cast("list[Mapping[str, Value]]", item["tests"])
    return VersionTests(tuple(_listed(one) for one in listed), items.number(item, "revision"))


def _listed(item: Mapping[str, Value]) -> Listed:
    compressed = item.get("content")
    return Listed(
        name=items.text(item, "name"),
        target_pipeline=items.text(item, "target_pipeline"),
        signal_type=cast("Signal", items.text(item, "signal_type")),
        rules=items.number(item, "rules"),
        expects_output=item["expects_output"] is True,
        content=Content(
            items.text(item, "sha256"),
            items.number(item, "size"),
            compressed if isinstance(compressed, bytes) else None,
            items.optional_text(item, "content_key"),
        ),
        updated_at=clock.parse(items.text(item, "updated_at")),
        updated_by=principals.read(item, "updated_by"),
    )


def _evidence_item(evidence: Evidence) -> Item:
    return {
        "job_id": evidence.job_id,
        "text_sha256": evidence.text_sha256,
        "tests_sha256": evidence.tests_sha256,
        "collector_version": evidence.collector_version,
        "tests": [{"name": one.name, "status": one.status} for one in evidence.tests],
        "finished_at": clock.rfc3339(evidence.finished_at),
        **({"first_build": True} if evidence.first_build else {}),
    }


def _recorded(item: Item) -> Recorded:
    entries = cast("list[Mapping[str, Value]]", item["evidence"])
    return Recorded(tuple(_evidence(one) for one in entries), items.number(item, "revision"))


def _evidence(item: Mapping[str, Value]) -> Evidence:
    tests = cast("list[Mapping[str, Value]]", item["tests"])
    return Evidence(
        job_id=items.text(item, "job_id"),
        text_sha256=items.text(item, "text_sha256"),
        tests_sha256=items.text(item, "tests_sha256"),
        collector_version=items.text(item, "collector_version"),
        tests=tuple(TestVerdict(items.text(one, "name"), cast("Verdict", items.text(one, "status"))) for one in tests),
        finished_at=clock.parse(items.text(item, "finished_at")),
        first_build=item.get("first_build") is True,
    )
