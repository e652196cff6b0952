"""The linter's verdict on an expression against that of the real component given just that expression."""

import itertools
import json
import os
import selectors
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.checker import Checker
from headgate.checker.installed import Installed
from headgate.checker.limits import Limits
from headgate.settings import settings
from tests.support import lint_corpus
from tests.support.askers import ASKER
from tests.support.lint_corpus import FIELDS, Body, Expression

pytestmark = pytest.mark.contract

LATE = "processors::tail_sampling"  # reads its expressions when it starts, so validating does not show their faults


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    made = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    yield made
    made.close()


def verdict(checker: Checker, expression: Expression) -> bool:
    """What the linter says of a collector that holds just this expression."""
    result = checker.call("lint", {"yaml": expression.collector()}, asker=ASKER)
    assert result["skipped"] == [], expression
    assert expression.text in [item["expression"] for item in items(result)], expression
    return bool(result["valid"])


def items(result: dict[str, object]) -> list[dict[str, object]]:
    listed = result["items"]
    assert isinstance(listed, list)
    return listed


def accepted(checker: Checker, expression: Expression) -> bool:
    """What the collector says of the same text."""
    if expression.component == LATE:
        return starts(expression.collector())
    return bool(checker.call("validate", {"yaml": expression.collector(), "env": {}}, asker=ASKER)["valid"])


def starts(configuration: str) -> bool:
    """Whether a real collector comes up with this configuration."""
    binary = Installed(Path(settings().collectors_dir)).binary(settings().collector_version)
    with subprocess.Popen(
        [binary, "--config", f"yaml:{configuration}"], env={}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stderr is not None
        said = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stderr, selectors.EVENT_READ)
            deadline = time.monotonic() + 60
            while b"Everything is ready" not in said:
                assert selector.select(deadline - time.monotonic()), said
                chunk = os.read(process.stderr.fileno(), 65536)
                if not chunk:
                    break
                said += chunk
        process.kill()
    assert b"Everything is ready" in said or b"OTTL" in said, said
    return b"Everything is ready" in said


def compare(checker: Checker, expressions: list[Expression]) -> Counter[str]:
    """Count the compared expressions by component, failing with all that differ."""
    compared: Counter[str] = Counter()
    differing = []
    for expression in expressions:
        linted = verdict(checker, expression)
        compared[expression.component] += 1
        compared["accepted" if linted else "refused"] += 1
        if linted != accepted(checker, expression):
            differing.append((expression, linted))
    assert not differing
    return compared


def distinct(expressions: Iterator[Expression]) -> list[Expression]:
    return [e for e in dict.fromkeys(expressions) if lint_corpus.is_judged(e.text)]


def test_every_expression_of_test_data_and_documentation(checker: Checker) -> None:
    expressions = distinct(
        itertools.chain(
            (e for body in lint_corpus.bodies() for e in body.expressions()),
            lint_corpus.statements_of_ottls_own_tests(),
            lint_corpus.examples_of_functions(),
        )
    )

    compared = compare(checker, expressions)

    print(f"\ncompared {len(expressions)}: {dict(compared)}")
    assert set(FIELDS) <= set(compared)
    assert len(expressions) > 600


def test_every_condition_in_the_fields_of_other_components(checker: Checker) -> None:
    """Their contexts and functions differ, so that what one accepts another refuses."""
    conditions = [e for body in lint_corpus.bodies() for e in body.expressions() if e.is_condition]
    texts = sorted({e.text for e in conditions if lint_corpus.is_judged(e.text)})
    fields = [
        (component, pattern)
        for component, patterns in FIELDS.items()
        for pattern in patterns
        if Expression(component, pattern, "").is_condition and component != LATE and "profile" not in pattern
    ]
    pairs = [(text, field) for text in texts for field in fields][::3]

    compared = compare(checker, [Expression(component, pattern, text) for text, (component, pattern) in pairs])

    print(f"\ncompared {len(pairs)}: {dict(compared)}")
    assert min(compared["accepted"], compared["refused"]) > 100


def test_whole_components_of_test_data_and_documentation_have_every_expression_found(checker: Checker) -> None:
    for body in lint_corpus.bodies():
        section, name = body.component.split("::")
        result = checker.call("lint", {"yaml": json.dumps({section: {name: body.content}}, default=str)}, asker=ASKER)

        assert found(result) == len(list(body.expressions())), body


def found(result: dict[str, object]) -> int:
    skipped = result["skipped"]
    assert isinstance(skipped, list)
    strings = [entry for entry in skipped if "a string is expected" not in entry["reason"]]
    return len(items(result)) + len([entry for entry in strings if "a list of strings" not in entry["reason"]])


def test_statements_read_together_are_judged_as_the_component_judges_them(checker: Checker) -> None:
    """The context that a group infers depends on all of its statements."""
    groups = [
        ['set(span.attributes["a"], 1)', 'set(resource.attributes["b"], 2)'],
        ['set(spanevent.attributes["a"], 1)', 'set(span.attributes["b"], 2) where IsRootSpan()'],
        ['set(resource.attributes["a"], 1)', 'set(scope.name, "x")'],
        ['set(span.name, "a")', "set(name)", 'set(nothing.name, "x")'],
        ['set(attributes["a"], 1)'],
        ["keep_keys(span.attributes, [])", 'set(datapoint.attributes["a"], 1)'],
    ]
    for statements in groups:
        for style in (statements, [{"statements": statements}]):
            body = Body("processors::transform", {"trace_statements": style})
            pipeline = {"receivers": ["nop"], "processors": ["transform"], "exporters": ["nop"]}
            text = json.dumps(
                {
                    "receivers": {"nop": {}},
                    "exporters": {"nop": {}},
                    "processors": {"transform": body.content},
                    "service": {"pipelines": {"traces": pipeline}},
                }
            )
            linted = checker.call("lint", {"yaml": text}, asker=ASKER)
            assert linted["valid"] == checker.call("validate", {"yaml": text, "env": {}}, asker=ASKER)["valid"], (
                text,
                linted,
            )
