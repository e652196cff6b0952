"""Files of archives: the seal at their end, and what of a host is left out where nobody vouches for them."""

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from headgate.backup import archive, contents
from headgate.backup.archive import BadArchive, BucketObject, Header, TableItem
from headgate.foundation.ids import new_id

HEADER: Final = Header(new_id("org"), "Acme", "2026-11-26T12:00:00.000Z", "0" * 32)
RECORDS: Final = (TableItem("identity", {"pk": "a", "sk": "b"}), BucketObject("versions/a", b"a"))


@pytest.mark.parametrize(
    "change",
    [{"seal": "0" * 64}, {"seal": "f" * 64}, *({name: n} for name in ("items", "objects") for n in (0, 2, None))],
    ids=str,
)
def test_an_archive_with_another_seal_or_count_is_damaged(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "acme.jsonl.gz"
    archive.write(path, HEADER, RECORDS, lambda digest: digest)
    assert archive.read_header(path)[0] == HEADER
    *lines, seal = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join([*lines, json.dumps({**json.loads(seal), **change}).encode()])))

    with pytest.raises(BadArchive, match="does not match its seal"):
        archive.read_header(path)


def test_without_a_voucher_an_instance_loses_the_key_of_its_host_and_nothing_else() -> None:
    instance = TableItem("fleets", {"pk": "fleet#a", "sk": "instance#a", "instance_id": "a", "key": {"number": 1}})
    others = [*RECORDS, TableItem("fleets", {"pk": "a", "sk": "b", "key": "c"}), TableItem("identity", {"key": "c"})]

    assert contents.without_key(instance).item == {"pk": "fleet#a", "sk": "instance#a", "instance_id": "a"}
    assert [contents.without_key(record) for record in others] == others
