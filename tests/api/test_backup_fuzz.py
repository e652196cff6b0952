"""Archives that are changed at random: what is read is refused, or is of the archive's organization alone."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.backup import archive, contents
from headgate.backup.kind import PLACES
from headgate.backup.kinds import KINDS
from headgate.foundation.ids import new_id
from headgate_local import template
from tests.support import documented_data, sizes
from tests.support.backups import alone, ann, export_to, fleet_endpoint, furnished
from tests.support.members import Member

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]

pytestmark = [pytest.mark.usefixtures("fleet_endpoint"), pytest.mark.sized]

_PLACES = {
    "configurations": "ConfigurationsTable",
    "versions": "VersionsTable",
    "fleets": "FleetsTable",
    "events": "EventsTable",
    "identity": "IdentityTable",
}
OTHERS = [new_id("org"), new_id("cfg"), new_id("flt"), new_id("dep"), new_id("usr"), "install/manifest.json", "", "#"]
BINARY = {
    ("Configuration of observed collectors", "text"),
    ("Health of a collector's parts", "tree"),
    ("Instance", "totals"),
    ("Text of a version", "content"),
    *(("Webhook", name) for name in ("target", "secret", "previous_secret")),
}
VALUES = st.one_of(
    st.sampled_from(OTHERS),
    st.text(max_size=12),
    st.integers(-(10**40), 10**40),
    st.booleans(),
    st.none(),
    st.sampled_from(
        [{"N": "1e999999"}, {"S": OTHERS[0]}, {"M": {}}, {"L": []}, {"B": "eJwDAAAAAAE="}, {"NULL": True}, {}, []]
    ),
)


def test_kinds_of_records_have_the_attributes_of_the_page() -> None:
    # The page also names a folder of the bucket.
    listed = {(kind.place, kind.name): kind.attributes - {"versions/"} for kind in documented_data.kinds()}

    assert {
        kind.title: listed[_PLACES[kind.table], kind.title] ^ {*kind.required, *kind.optional}
        for kind in KINDS
        if listed[_PLACES[kind.table], kind.title] != {*kind.required, *kind.optional}
    } == {}


def test_what_every_record_has_is_required_though_its_class_has_a_default() -> None:
    required = {kind.title: {*kind.required} for kind in KINDS}

    assert required["Labels that select hosts"] >= {"selectors"}
    assert required["Revision of a deployment's variables"] >= {"variables"}
    assert required["Instance"] >= {"judged", "told_seconds", "accepts_config", "outcomes", "reported_status"}


def test_a_binary_attribute_is_known_to_be_no_secret_or_to_be_closed_for_an_archive() -> None:
    """Sealed values are bytes, and attributes of a stored class leave with its items: a new one is looked at here."""
    binary = {
        (kind.title, name)
        for kind in KINDS
        for name, check in {**kind.required, **kind.optional}.items()
        if check(b"a")
    }

    assert binary == BINARY


def test_a_removed_variable_may_have_any_name() -> None:
    kinds = [kind for kind in KINDS if "removed" in kind.optional]

    assert len(kinds) == 2
    assert all(kind.optional["removed"](["A" * 300]) for kind in kinds)


def test_an_archive_that_is_changed_at_random_reaches_nothing_of_others(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path, changed = tmp_path / "acme.jsonl.gz", tmp_path / "changed.gz"
    export_to(path, ann.organization_id)
    entries = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    light = [entry for entry in entries if len(json.dumps(entry)) < 4_000]
    header = archive.Header(ann.organization_id, "Acme", "2026-01-01T00:00:00.000Z")
    ours = {ann.organization_id} | {
        str(entry["item"][name]["S"])
        for entry in entries
        for name in ("configuration_id", "fleet_id", "deployment_id", "user_id", "value_hash")
        if name in entry.get("item", {})
    }

    @settings(max_examples=sizes.ARCHIVES, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        forged = copy.deepcopy(light)
        for _ in range(data.draw(st.integers(1, 3))):
            change(data, forged)
        changed.write_bytes(gzip.compress(b"".join(json.dumps(one).encode() + b"\n" for one in forged), 1))
        try:
            read = list(contents.records(changed, contents.index(changed, header)))
        except archive.BadArchive:
            return
        for record in read:
            require_ours(record, ann.organization_id, ours)

    try_one()


def change(data: st.DataObject, forged: list[Any]) -> None:
    """Replace, remove or repeat something at a random place."""
    at: Any = forged
    while True:
        keys = list(range(len(at))) if isinstance(at, list) else list(at)
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = at[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.integers(0, 5)):
            at = inner
            continue
        match data.draw(st.integers(0, 3)):
            case 0:
                del at[key]
            case 1 if isinstance(at, list):
                at.append(copy.deepcopy(inner))
            case _:
                at[key] = copy.deepcopy(data.draw(VALUES))
        return


def require_ours(record: archive.Record, organization_id: str, ours: set[str]) -> None:
    if isinstance(record, archive.BucketObject):
        assert record.key.startswith("versions/")
        return
    partition, _ = PLACES[record.table]
    owner = str(record.item[partition]).partition("#")[2] or str(record.item[partition])
    assert owner in ours, record
    assert record.item.get("organization_id", organization_id) == organization_id
