"""The language server's answers while a text is broken or hostile: no exception, and time that is bounded.

The texts are those that would take minutes if something were quadratic: then the test's own time limit ends it.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from headgate_cli.api import Entity
from headgate_cli.errors import Failed
from headgate_cli.local.api import LocalApi
from headgate_cli.lsp import actions, completion, convert, diagnostics, hover, navigation, ottl
from headgate_cli.lsp.diagnostics import Diagnostic
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.schema import ServedSchema
from headgate_cli.lsp.sources import Backend
from headgate_cli.lsp.text import DocumentText, Encoding
from tests.support import sizes
from tests.support.service import ROOT

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

FLOWS = [file.read_text() for file in sorted(Path(ROOT, "flows").glob("*/collector.yaml"))]
PIECES = (
    *("\n", "  ", "    ", ": ", "- ", "[", "]", "{", "}", '"', "'", "#", "&a ", "*a", "<<: *a\n", "|\n", ">-\n", "\t"),
    *("é", "😀", "\r\n", "\r", "\u2028", "\ufeff", "\x00", "\ud800", "${env:", "${env:A}", "$$", "otlp", "receivers:"),
    *("? ", "!!str ", "%", "@", "`", "---\n", "...\n", ",", ":", "/", 'set(log.body["', "where ", "(((("),
)
UNUSED = Diagnostic(0, 0, "warning", "unused_component", 'x; did you mean "batch"?', "receivers::otlp[0]::protocols")


@pytest.fixture(scope="module")
def collector() -> Iterator[Backend]:
    backend = Backend(LocalApi())
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def reference(collector: Backend) -> ServedSchema:
    return ServedSchema(collector.document())


@pytest.fixture(scope="module")
def lookup(collector: Backend) -> ottl.Lookup:
    """The real grammar of a component's context; nothing for a context that it does not have."""
    known: dict[tuple[str, str], Entity] = {}

    def look_up(component: str, context: str) -> Entity:
        if (component, context) not in known:
            try:
                known[component, context] = collector.ottl(component, context)
            except Failed:
                known[component, context] = {}
        return known[component, context]

    return look_up


@pytest.fixture
def ask(reference: ServedSchema, lookup: ottl.Lookup) -> Callable[[OpenDocument, int], None]:
    """Ask a document everything that an editor asks at a place, and convert the answers as they are sent."""

    def asked(document: OpenDocument, at: int) -> None:
        text = document.text
        end = min(at + 40, len(text.content))
        here = Diagnostic(at, end, *[getattr(UNUSED, name) for name in ("severity", "code", "message", "path")])
        for item in completion.complete(document, at, reference, lookup):
            sent = convert.completion(text, at, item)
            assert sent.text_edit is not None
        if (told := hover.hover(document, at, reference, lookup)) is not None:
            convert.hover(text, told)
        spans = navigation.references(document, at, reference, declaration=True)
        if (declared := navigation.definition(document, at, reference)) is not None:
            spans.append(declared)
        assert all(0 <= start <= stop <= len(text.content) for start, stop in spans)
        for symbol in navigation.symbols(document, reference):
            convert.symbol(text, symbol)
        if navigation.renameable(document, at, reference) is not None:
            for name in ("otlp/never-used", "traces/never-used"):
                # A pipeline takes the second alone, and a name in a block of text neither.
                with suppress(navigation.RenameRefused):
                    navigation.rename(document, at, name, reference)
        for action in actions.actions(document, at, end, [here], reference):
            convert.action(document, action)

    return asked


@pytest.mark.parametrize("seed", range(sizes.either(4, 400)))
def test_no_edit_of_a_flow_makes_an_answer_fail(ask: Callable[[OpenDocument, int], None], seed: int) -> None:
    rng = random.Random(seed)
    document = OpenDocument("file:///c.yaml", "yaml", rng.choice(FLOWS), 1, rng.choice(list(Encoding)))
    for _ in range(30):
        content = document.text.content
        start = rng.randint(0, len(content))
        end = min(len(content), start + rng.choice([0, 0, 0, 1, 3, 20, 300]))
        copied = rng.randint(0, len(content))
        by = rng.choice(PIECES) if rng.random() < 0.7 else content[copied : copied + rng.choice([1, 10, 200])]
        document.edit(document.text.position(start), document.text.position(end), by)
        ask(document, rng.randint(0, len(document.text.content)))


HEAD = "receivers:\n  otlp:\nexporters:\n"
HOSTILE = {
    "brackets": HEAD + "[" * 500_000,
    "braces": HEAD + "x: " + "{a: " * 200_000,
    "dashes": HEAD + "- " * 300_000,
    "white space": HEAD + "a" + " " * 900_000 + "b",
    "a long word": HEAD + "a" * 900_000,
    "quotes": HEAD + '"' * 900_000,
    "anchors": HEAD + "x: " + "&a " * 300_000,
    "tags": HEAD + "x: " + "!t" * 400_000,
    "steps": HEAD + "".join(f"{' ' * n}a{n}:\n" for n in range(1_200)),
    "lines": HEAD + "  otlp/a:\n" * 90_000,
    "one line": "receivers: {" + "otlp: {a: [1, 2]}, " * 50_000,
    "an alias bomb": HEAD
    + "x0: &x0 {a: b}\n"
    + "".join(f"x{n}: &x{n} {{<<: [*x{n - 1}, *x{n - 1}], b: [*x{n - 1}, *x{n - 1}]}}\n" for n in range(1, 5_000)),
    "variables": HEAD + "x: " + "${env:A" * 120_000,
    "an expression": "processors:\n  transform:\n    log_statements:\n      - set(" + 'log.body["a"] + (' * 50_000,
    "references": "extensions:\n  zpages:\nexporters:\nservice:\n  extensions: [" + "zpages, " * 100_000 + "]\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_of_a_megabyte_is_answered(ask: Callable[[OpenDocument, int], None], name: str) -> None:
    document = OpenDocument("file:///c.yaml", "yaml", HOSTILE[name], 1, Encoding.UTF16)

    for at in sizes.turn((0, len(HOSTILE[name]) // 2, len(HOSTILE[name])), [*HOSTILE].index(name)):
        ask(document, at)


@pytest.mark.parametrize(
    "place",
    [
        {"line": 10**9, "column": 10**9},
        {"line": -1, "column": -1},
        {"line": "1", "column": None},
        {"component_path": "receivers::otlp[99]::x" + "::y" * 500},
        {"component_path": "[[[]]]::" + "[1]" * 300},
    ],
)
def test_a_finding_at_no_place_of_the_text_is_shown_within_it(place: dict[str, object]) -> None:
    entry = {"message": "m", "code": "other", **place}
    found = diagnostics.of_answer(
        {"findings": [entry, {**entry, "end_line": 10**9, "end_column": -1}]}, DocumentText(FLOWS[0])
    )

    assert found
    assert all(0 <= one.start <= one.end <= len(FLOWS[0]) for one in found)
