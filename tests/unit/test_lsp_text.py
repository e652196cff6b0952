"""The text of an open document: positions in the editor's units, incremental changes, YAML with places."""

import random

import pytest

from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.text import DocumentText, Encoding
from headgate_cli.lsp.tree import NotParsed, entries, get, mended, parse

ASTRAL = "a😀b: é\r\nline\rnext\n\u2028same line\n"


@pytest.mark.parametrize(
    ("encoding", "units"),
    [(Encoding.UTF8, 5), (Encoding.UTF16, 3), (Encoding.UTF32, 2)],
)
def test_a_position_counts_the_units_of_the_editor(encoding: Encoding, units: int) -> None:
    text = DocumentText(ASTRAL, encoding)

    assert (text.position(ASTRAL.index("b")), text.offset(0, units)) == ((0, units), ASTRAL.index("b"))


def test_only_the_line_ends_of_the_protocol_end_a_line() -> None:
    text = DocumentText(ASTRAL)

    assert [text.line(number) for number in range(text.line_count)] == [
        "a😀b: é",
        "line",
        "next",
        "\u2028same line",
        "",
    ]


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 3), (1, 0, 4), (9, 0, 7), (-1, 5, 0), (1, -3, 4)],
    ids=["past the end of a line", "start", "past the last line", "before the first", "before the line"],
)
def test_a_position_out_of_the_text_is_its_nearest_place(line: int, character: int, offset: int) -> None:
    assert DocumentText("abc\ndef").offset(line, character) == offset


def test_a_place_within_a_character_is_its_start() -> None:
    assert DocumentText("😀", Encoding.UTF16).offset(0, 1) == 0


def test_a_findings_line_counts_the_line_ends_of_yaml() -> None:
    text = DocumentText(ASTRAL)

    assert text.of_finding(5, 1) == ASTRAL.index("same")


@pytest.mark.parametrize("encoding", list(Encoding))
def test_incremental_changes_make_the_same_text_as_the_editor_has(encoding: Encoding) -> None:
    rng = random.Random(7)
    document = OpenDocument("file:///c.yaml", "yaml", ASTRAL, 1, encoding)
    expected = ASTRAL
    for _ in range(300):
        start = rng.randint(0, len(expected))
        end = rng.randint(start, min(start + 5, len(expected)))
        # A carriage return and its newline are one line end: an editor cannot be between them.
        start, end = (at - 1 if expected[at - 1 : at + 1] == "\r\n" else at for at in (start, end))
        by = rng.choice(["", "x", "é😀", "\n", "\r\n", "  key: value\n"])
        document.edit(document.text.position(start), document.text.position(end), by)
        expected = expected[:start] + by + expected[end:]

    assert document.text.content == expected


def test_a_node_knows_its_place_behind_an_anchor_a_tag_and_a_byte_order_mark() -> None:
    content = "\ufeffa: &x !!str word\nb: *x\n"
    tree = parse(content)
    value = get(tree.root, "a")

    assert value is not None
    assert content[value.start : value.end] == "word"


def test_merged_keys_are_found_after_a_mappings_own() -> None:
    tree = parse("base: &b {a: 1, c: 2}\nuse:\n  <<: *b\n  a: 3\n")

    assert [(key.text, value.text) for key, value in entries(get(tree.root, "use"))] == [("a", "3"), ("c", "2")]


def test_aliases_of_aliases_do_not_expand() -> None:
    levels = "\n".join(
        f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 60)
    )
    tree = parse(f"a0: &a0 {{k: v}}\n{levels}\n")

    assert len(list(entries(get(tree.root, "a59")))) == 60


@pytest.mark.parametrize("content", ["[" * 300_000, "- " * 300_000, "{a: " * 100_000, "? " * 300_000])
def test_a_text_that_nests_too_deeply_is_refused_not_descended(content: str) -> None:
    with pytest.raises(NotParsed):
        parse(content)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("receivers:\n  otlp:\n  ot\nexporters:\n  debug:\n", ["receivers", "exporters"]),
        ("a: [1,\nb:\n  c: d\ne: f\n", ["b", "e"]),
        ("a: 'x\n", None),
    ],
    ids=["a key without a colon", "an open bracket", "nothing to mend"],
)
def test_a_text_with_a_broken_line_is_read_without_it(content: str, names: list[str] | None) -> None:
    tree, exact = mended(content)

    assert not exact
    assert ([key.text for key, _ in tree.root.pairs] if tree and names else None) == names


def test_the_last_tree_moves_with_a_text_that_cannot_be_mended() -> None:
    document = OpenDocument("file:///c.yaml", "yaml", "a: 1\nb: 2\nlast: 3\n", 1, Encoding.UTF16)
    assert document.tree is not None
    document.edit((0, 0), (0, 0), "x: {{{\ny: ]]]\nz: }}}\nw: '\nv: [\n")
    tree = document.tree

    assert tree is not None
    assert not document.is_exact
    moved = tree.scalar_at(document.text.content.index("last"))
    assert moved is not None
    assert moved.text == "last"
