"""The OTTL that is being typed, by the texts that also test the console's editor."""

import json
from typing import Any

import pytest

from headgate_cli.lsp.completion import chosen_beside, expression_before
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.ottl import contexts_of
from headgate_cli.lsp.place import place_at
from headgate_cli.lsp.text import Encoding
from tests.support.service import ROOT

TYPED = json.loads((ROOT / "tests" / "support" / "ottl_typed.json").read_text())


@pytest.mark.parametrize("case", TYPED, ids=lambda case: case["name"])
def test_the_editor_and_the_language_server_read_what_is_typed_alike(case: dict[str, Any]) -> None:
    offset = case["text"].index("‸")
    document = OpenDocument("file:///a.yaml", "yaml", case["text"].replace("‸", ""), 1, Encoding.UTF16)

    field, expression, _ = expression_before(document, place_at(document.text, offset), offset)

    contexts = contexts_of(field, chosen_beside(document, field, offset)) if field else ()
    assert (list(contexts), expression.lstrip() if field else None) == (case["contexts"], case["before"])
