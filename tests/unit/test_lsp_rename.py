"""Renaming in texts that name a component in unusual ways: the text has to mean the same afterwards."""

import pytest
import yaml

from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.navigation import RenameRefused, rename
from headgate_cli.lsp.text import Encoding

NAMED = {
    "plain": "[otlp]",
    "quoted": "['otlp']",
    "in double quotes with an escape": '["ot\\x6cp"]',
    "by a tag": "[!!str otlp]",
    "behind an emoji": "[ '😀', otlp ]",
    "by an anchor and its alias": "[&r otlp, *r]",
    "on a line of its own": "\r\n      - otlp\r\n",
}
BLOCKS = [">-\n        otlp", "|-\n        otlp"]


def text(named: str) -> str:
    pipeline = f"      receivers: {named}\n      exporters: [a]\n"
    return f"receivers:\n  otlp: {{}}\nservice:\n  pipelines:\n    traces:\n{pipeline}"


def renamed(content: str) -> str:
    document = OpenDocument("file:///a.yaml", "yaml", content, 1, Encoding.UTF16)
    for (start, end), new in sorted(rename(document, content.index("otlp"), "otlp/😀edge", None).items(), reverse=True):
        content = content[:start] + new + content[end:]
    return content


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_every_use_has_the_new_name_and_nothing_else_changes(named: str) -> None:
    before = yaml.safe_load(text(named).replace("\\x6c", "l").replace("otlp", "otlp/😀edge"))

    assert yaml.safe_load(renamed(text(named))) == before


@pytest.mark.parametrize("block", BLOCKS)
def test_a_name_in_a_block_of_text_is_not_renamed_in_half(block: str) -> None:
    with pytest.raises(RenameRefused, match="line 7 names it in a block of text"):
        renamed(text(f"\n      - {block}"))
