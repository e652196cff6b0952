"""Every attribute that docs/data.md lists of what an export contains may be in an import."""

import pytest

from headgate.backup.kinds import KINDS, Kind
from tests.support.documented_data import kinds

DOCUMENTED = {row.name: row.attributes for row in kinds()}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)
def test_an_import_takes_what_this_release_stores(kind: Kind) -> None:
    attributes = {name for name in DOCUMENTED[kind.title] if name.isidentifier()}

    assert attributes - {"pk", "sk"} <= kind.required.keys() | kind.optional.keys()
