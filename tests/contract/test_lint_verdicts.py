"""The linter's verdict on an expression against that of the real component given just that expression."""

import itertools
import json
import os
import selectors
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.collector import by_age
from tests.support import lint_corpus, sizes
from tests.support.askers import ASKER
from tests.support.lint_corpus import FIELDS, Body, Expression
from tests.support.second_version import needs_second_version, second_version

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

LATE = "processors::tail_sampling"  # reads its expressions when it starts, so validating does not show their faults


DEFAULT = settings().collector_version
SECOND = second_version() or "second version"


@dataclass(frozen=True)
class Version:
    """A collector, the components of the corpus that it has, and a receiver that it has."""

    name: str
    checker: Checker
    components: frozenset[str]
    receivers: dict[str, dict[str, object]]

    def ask(self, operation: str, text: str) -> dict[str, Any]:
        fields: dict[str, object] = {"yaml": text} if operation == "lint" else {"yaml": text, "env": {}}
        return self.checker.call(operation, fields, asker=ASKER)

    def bodies(self) -> list[Body]:
        return [body for body in lint_corpus.bodies(self.name) if body.component in self.components]

    def fields(self) -> list[tuple[str, str]]:
        """The components that it has, each with its fields."""
        return [
            (component, pattern)
            for component in sorted(self.components)
            for pattern in FIELDS[component]
            if (component, pattern) not in lint_corpus.SINCE
            or by_age(self.name) >= lint_corpus.SINCE[component, pattern]
        ]


@pytest.fixture(scope="module", params=[DEFAULT, pytest.param(SECOND, marks=needs_second_version)])
def version(request: pytest.FixtureRequest) -> Iterator[Version]:
    checker = Checker(Installed(Path(settings().collectors_dir)), request.param, Limits(processes=1))
    described = checker.describe(request.param, asker=ASKER)["components"]
    assert isinstance(described, list)
    names = {f"{one['kind']}s::{name}" for one in described for name in (one["type"], one["deprecated_type"])}
    receivers = lint_corpus.NOP if "receivers::nop" in names else lint_corpus.OTLP
    yield Version(request.param, checker, frozenset(names & set(FIELDS)), receivers)
    checker.close()


def verdict(version: Version, expression: Expression) -> bool:
    """What the linter says of a collector that holds just this expression."""
    result = version.ask("lint", expression.collector(version.receivers))
    assert result["skipped"] == [], expression
    assert expression.text in [item["expression"] for item in items(result)], expression
    return bool(result["valid"])


def items(result: dict[str, object]) -> list[dict[str, object]]:
    listed = result["items"]
    assert isinstance(listed, list)
    return listed


def accepted(version: Version, expression: Expression) -> bool:
    """What the collector says of the same text."""
    text = expression.collector(version.receivers)
    return starts(version, text) if expression.component == LATE else bool(version.ask("validate", text)["valid"])


def starts(version: Version, configuration: str) -> bool:
    """Whether a real collector comes up with this configuration."""
    binary = Installed(Path(settings().collectors_dir)).binary(version.name)
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


def compare(version: Version, expressions: Sequence[Expression]) -> Counter[str]:
    """Count the compared expressions by component, failing with all that differ."""
    compared: Counter[str] = Counter()
    differing = []
    for expression in expressions:
        linted = verdict(version, expression)
        compared[expression.component] += 1
        compared["accepted" if linted else "refused"] += 1
        if linted != accepted(version, expression):
            differing.append((expression, linted))
    assert not differing
    return compared


def distinct(expressions: Iterator[Expression]) -> list[Expression]:
    return [e for e in dict.fromkeys(expressions) if lint_corpus.is_judged(e.text)]


def test_every_expression_of_test_data_and_documentation(version: Version) -> None:
    every = distinct(
        itertools.chain(
            (e for body in version.bodies() for e in body.expressions()),
            lint_corpus.statements_of_ottls_own_tests(version.name),
            lint_corpus.examples_of_functions(version.name),
        )
    )

    # Each version sees another eighth, and the components with few expressions see all of theirs.
    few = Counter(expression.component for expression in every)
    expressions = [
        expression
        for number, expression in enumerate(every)
        if sizes.FULL or few[expression.component] < 8 or number % 8 == 4 * (version.name == DEFAULT)
    ]
    compared = compare(version, expressions)

    print(f"\n{len(expressions)} of {len(every)} expressions, compared on {version.name}: {dict(compared)}")
    assert set(compared) >= version.components
    assert len(every) > 600


def test_every_condition_in_the_fields_of_other_components(version: Version) -> None:
    """Their contexts and functions differ, so that what one accepts another refuses."""
    conditions = [e for body in version.bodies() for e in body.expressions() if e.is_condition]
    texts = sorted({e.text for e in conditions if lint_corpus.is_judged(e.text)})
    fields = [
        (component, pattern)
        for component, pattern in version.fields()
        if Expression(component, pattern, "").is_condition and component != LATE and "profile" not in pattern
    ]
    pairs = [(text, field) for text in texts for field in fields][:: sizes.either(36, 3)]
    expressions = [Expression(component, pattern, text) for text, (component, pattern) in pairs]

    compared = compare(version, expressions)

    print(f"\n{len(expressions)} expressions, compared on {version.name}: {dict(compared)}")
    assert min(compared["accepted"], compared["refused"]) > len(expressions) // 10


def test_whole_components_of_test_data_and_documentation_have_every_expression_found(version: Version) -> None:
    for body in version.bodies():
        section, name = body.component.split("::")
        result = version.ask("lint", json.dumps({section: {name: body.content}}, default=str))

        assert found(result) == len(list(body.expressions())), body


def found(result: dict[str, object]) -> int:
    skipped = result["skipped"]
    assert isinstance(skipped, list)
    strings = [entry for entry in skipped if "a string is expected" not in entry["reason"]]
    return len(items(result)) + len([entry for entry in strings if "a list of strings" not in entry["reason"]])


def test_statements_read_together_are_judged_as_the_component_judges_them(version: Version) -> None:
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
            pipeline = {"receivers": list(version.receivers), "processors": ["transform"], "exporters": ["nop"]}
            text = json.dumps(
                {
                    "receivers": version.receivers,
                    "exporters": {"nop": {}},
                    "processors": {"transform": body.content},
                    "service": {"pipelines": {"traces": pipeline}},
                }
            )
            linted = version.ask("lint", text)
            assert linted["valid"] == version.ask("validate", text)["valid"], (text, linted)
