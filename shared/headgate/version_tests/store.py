"""The list of a version's tests and its evidence: two items of the versions table. One function, one access pattern."""

from __future__ import annotations

from typing import Final

from headgate.storage import large_texts, table
from headgate.storage.stored import Stored
from headgate.storage.table import Write
from headgate.version_tests import keys
from headgate.version_tests.model import Content, Evidence, ListedTest, Recorded, VersionTests, text_digest

_TESTS: Final = Stored(VersionTests)
Stored(ListedTest, flat=["content"], sparse=True)
Stored(Content, names={"compressed": "content", "key": "content_key"})
_RECORDED: Final = Stored(Recorded, names={"entries": "evidence"})
Stored(Evidence, sparse=True)

# The bucket's folder of texts that are too large for an item; those of versions are there too.
_FOLDER: Final = "versions"
# Fifty of them, each with a pipeline's name of 4 KB at worst, fit an item of 400 KB.
_LARGEST_IN_LIST: Final = 2_000


def tests(configuration_id: str, n: int) -> VersionTests:
    """One read. No tests if there is no item."""
    return table.versions.find(keys.tests(configuration_id, n), _TESTS.read) or VersionTests()


def evidence(configuration_id: str, n: int) -> Recorded:
    """One read. No evidence if there is no item."""
    return table.versions.find(keys.evidence(configuration_id, n), _RECORDED.read) or Recorded()


def tests_and_evidence(configuration_id: str, n: int) -> tuple[VersionTests, Recorded]:
    """One read of both, as they were at one moment."""
    tests, evidence = table.get_together(
        (table.versions, keys.tests(configuration_id, n)), (table.versions, keys.evidence(configuration_id, n))
    )
    return _TESTS.read(tests) if tests else VersionTests(), _RECORDED.read(evidence) if evidence else Recorded()


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
    item = keys.tests(configuration_id, n) | _TESTS.item(after)
    table.transact([table.versions.put_if(item, *table.versions.at_revision(before.revision)), *conditions])


def carried(configuration_id: str, n: int, tests: VersionTests, to: int) -> list[Write]:
    """For the transaction that makes the version `to`: it gets these tests of version `n`, if they are still these."""
    writes = [unchanged(configuration_id, n, tests)]
    if tests.tests:
        first = VersionTests(tests.tests, 1)
        writes.append(table.versions.put_new(keys.tests(configuration_id, to) | _TESTS.item(first)))
    return writes


def deleting(configuration_id: str, n: int) -> list[Write]:
    """The writes that delete what a version has of both."""
    return [table.versions.delete(build(configuration_id, n)) for build in (keys.tests, keys.evidence)]


def unchanged(configuration_id: str, n: int, known: VersionTests) -> Write:
    """For another change's transaction, which fails unless the version's tests are still these."""
    return table.versions.check(keys.tests(configuration_id, n), *table.versions.at_revision(known.revision))


def recording(configuration_id: str, n: int, before: Recorded, after: Recorded) -> Write:
    """For a transaction, which fails if the evidence is no longer as in `before`."""
    item = keys.evidence(configuration_id, n) | _RECORDED.item(after)
    return table.versions.put_if(item, *table.versions.at_revision(before.revision))


def evidence_unchanged(configuration_id: str, n: int, known: Recorded) -> Write:
    """For another change's transaction, which fails unless the version's evidence is still this."""
    return table.versions.check(keys.evidence(configuration_id, n), *table.versions.at_revision(known.revision))
