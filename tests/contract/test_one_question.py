"""One question finds what the four ask for themselves: nothing that its parts read of one another changes an answer."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from headgate.checker import Asker, Checker, Refused
from tests.support import local_cases, sizes

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

ROOT: Final = Path(__file__).parents[2]
BROKEN: Final = sorted((ROOT / "tests/contract/broken_configurations").glob("*.yaml"))
FLOWS: Final = sorted((ROOT / "flows").glob("*/collector.yaml"))
FILES: Final = [*FLOWS, *BROKEN]
PARTS: Final = ("lint", "policies", "graph")


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    checker = local_cases.checker()
    yield checker
    checker.close()


def answer(asker: Asker, op: str, question: dict[str, object]) -> dict[str, Any]:
    try:
        return {"result": asker.ask(op, question)}
    except Refused as refused:
        return {"problem": {"code": refused.code, "message": refused.message}}


def in_order(value: Any) -> Any:
    """The same without the order of lists, and of the words of messages, in which the collector lists sets."""
    if isinstance(value, str):
        return " ".join(sorted(re.split(r"[\s,\[\]]+", value)))
    if isinstance(value, dict):
        return {name: in_order(entry) for name, entry in value.items()}
    return sorted(map(in_order, value), key=repr) if isinstance(value, list) else value


def compare(asker: Asker, text: str, label: str) -> None:
    question: dict[str, object] = {"yaml": text, "env": {}}
    policies = question | {"rules": [], "not_suppressible": [], "today": "2026-11-22"}
    together = answer(asker, "check", policies | {"parts": list(PARTS)})
    apart = {"lint": {"yaml": text}, "policies": policies, "graph": question}

    verdict = {name: value for name, value in together["result"].items() if name not in (*PARTS, "ends")}
    assert in_order(verdict) == in_order(answer(asker, "validate", question)["result"]), label
    for part in PARTS:
        assert in_order(together["result"][part]) == in_order(answer(asker, part, apart[part])), (label, part)


def test_the_gallery_and_broken_texts_have_the_same_answers(checker: Checker) -> None:
    asker = Asker("org", "tok", checker)
    for file in FILES[:: sizes.either(4, 1)]:
        compare(asker, file.read_text(), file.name)


def test_the_examples_of_policies_have_the_same_answers(checker: Checker) -> None:
    asker = Asker("org", "tok", checker)
    policies: Any = asker.ask("policy_list", {})["policies"]
    assert len(policies) > 30
    for policy in policies[:: sizes.either(4, 1)]:
        for example in ("failing", "passing"):
            compare(asker, policy[example], f"{policy['code']}, {example}")


def test_contexts_that_the_dry_run_has_inferred_are_those_that_lint_infers(checker: Checker) -> None:
    text = """
receivers: {otlp: {protocols: {grpc: {}}}}
exporters: {debug: {}}
processors:
  transform/several:
    log_statements: ['set(log.attributes["x"], "y")', 'set(resource.attributes["x"], "y")']
    trace_statements:
      - {context: span, statements: ['set(attributes["a"], 1)']}
      - {statements: ['set(span.attributes["a"], 1)'], conditions: ['span.attributes["b"] == 1']}
      - {statements: ['set(resource.attributes["a"], 1)']}
    metric_statements: ['set(metric.name, "x")', 'set(datapoint.attributes["q"], "x")']
  transform/variable:
    log_statements: ['set(log.body, "${env:BODY:-x}")', 'set(scope.attributes["q"], "x")']
service:
  pipelines:
    logs: {receivers: [otlp], processors: [transform/several, transform/variable], exporters: [debug]}
    logs/2: {receivers: [otlp], processors: [transform/several], exporters: [debug]}
    traces: {receivers: [otlp], processors: [transform/several], exporters: [debug]}
"""
    asker = Asker("org", "tok", checker)

    compare(asker, text, "with a variable")
    compare(asker, text.replace("${env:BODY:-x}", "x"), "without one")
