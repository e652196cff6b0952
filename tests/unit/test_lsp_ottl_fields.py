"""The settings that hold OTTL, by the list of places that also tests the console's editor."""

import json
from typing import Any

import pytest

from headgate_cli.lsp.ottl_fields import field_at
from tests.support.service import ROOT

PLACES = json.loads((ROOT / "tests" / "support" / "ottl_places.json").read_text())


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(place["path"]))
def test_the_editor_and_the_language_server_read_a_place_alike(place: dict[str, Any]) -> None:
    found = field_at(tuple(0 if step == "[]" else step for step in place["path"]))

    assert (found.kind if found else None, list(found.contexts) if found else []) == (place["kind"], place["contexts"])
