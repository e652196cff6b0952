"""Texts made to keep the real collector busy: refused before it is asked, and at the latest when they took too much."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from headgate.checker import Checker, Refused
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER

pytestmark = [pytest.mark.contract, pytest.mark.collector]

OTLP: Final = "receivers: {otlp: {protocols: {grpc: {}}}}\nexporters: {debug: {}}\n"
LOGS: Final = "service: {pipelines: {logs: {receivers: [otlp], processors: [%s], exporters: [debug]}}}\n"
REPEATED: Final = "(" + "a" * 190 + "){1000}"


def doubling(levels: int) -> str:
    """A grok pattern of 2 to the power of `levels` letters, in some hundred bytes."""
    definitions = ['"A0=a"'] + [f'"A{n}=%{{A{n - 1}}}%{{A{n - 1}}}"' for n in range(1, levels + 1)]
    return f'ExtractGrokPatterns(log.body, "%{{A{levels}:a}}", true, [{", ".join(definitions)}])["a"] != nil'


def filtering(*conditions: str) -> str:
    listed = ", ".join("'" + one.replace("'", "''") + "'" for one in conditions)
    return f"{OTLP}processors: {{filter: {{logs: {{log_record: [{listed}]}}}}}}\n{LOGS % 'filter'}"


def many(section: str, kind: str, body: str, count: int) -> str:
    return f"{section}:\n" + "".join(f"  {kind}/{n}: {body}\n" for n in range(count))


ACTION: Final = "{key: a, action: delete},"
HOSTS: Final = (
    "loadbalancing: {protocol: {otlp: {}}, resolver: {static: {hostnames: ["
    + ", ".join(f"a{n}" for n in range(88_000))
    + "]}}}"
)
COSTLY: Final[Mapping[str, Mapping[str, Any]]] = {
    "the 752 bytes of the review": {"yaml": filtering(doubling(24))},
    "the same in a variable": {"yaml": filtering("${env:A}"), "env": {"A": doubling(24)}},
    "the same in an escaped literal": {"yaml": filtering(doubling(24).replace("%", r"\x25"))},
    "the same behind an escaped definition": {"yaml": filtering(doubling(24).replace("=%", r"\x3d%"))},
    "a definition of another call in its place": {
        "yaml": filtering(doubling(24) + ' or ExtractGrokPatterns(log.body, "%{A23}", true, ["A23=a"])["a"] == nil')
    },
    "definitions that go in a circle": {
        "yaml": filtering('ExtractGrokPatterns(log.body, "%{A:a}", true, ["A=%{B}%{B}", "B=%{A}%{A}"])["a"] != nil')
    },
    "19,500 extensions": {"yaml": many("extensions", "sigv4auth", "{region: us-east-1}", 19_500) + OTLP},
    "10,000 pipelines": {
        "yaml": OTLP
        + "service:\n  pipelines:\n"
        + "".join(f"    logs/{n}: {{receivers: [otlp], exporters: [debug]}}\n" for n in range(10_000))
    },
    "a pipeline of 100,000 processors": {
        "yaml": f"{OTLP}processors: {{batch: {{}}}}\n{LOGS % ', '.join(['batch'] * 100_000)}"
    },
    "3,000 patterns that repeat": {
        "yaml": "receivers: {filelog: {include: [a], operators: ["
        + f"{{type: regex_parser, regex: '(?P<a>{REPEATED})'}}, " * 3_000
        + "]}}\n"
    },
    "one condition that 990 pipelines build": {
        "yaml": f"{OTLP}processors: {{filter: {{logs: {{log_record: [{', '.join(['body == 1'] * 700)}]}}}}}}\n"
        + "service:\n  pipelines:\n"
        + "".join(
            f"    logs/{n}: {{receivers: [otlp], processors: [filter], exporters: [debug]}}\n" for n in range(990)
        )
    },
    "690 KB of host names": {
        "yaml": OTLP.replace("debug: {}", HOSTS)
        + "service: {pipelines: {traces: {receivers: [otlp], exporters: [loadbalancing]}}}\n"
    },
    "100,000 short host names in five lists": {
        "yaml": f"{OTLP}extensions:\n" + "".join(f"  e/{n}: [{'a,' * 20_000}]\n" for n in range(5))
    },
    "30,000 small mappings": {
        "yaml": f"{OTLP}processors: {{attributes: {{actions: [{ACTION * 19_999}]}}}}\nextensions:\n"
        + "".join(f"  e/{n}: {{a: 1, b: 2}}\n" for n in range(5_000))
    },
    "thirty variables that double": {
        "yaml": f"{OTLP}processors: {{attributes: {{actions: [{{key: '${{env:A30}}', action: delete}}]}}}}\n",
        "env": {"A0": "x"} | {f"A{n + 1}": f"${{env:A{n}}}${{env:A{n}}}" for n in range(30)},
    },
}


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    """A checker of one process, which has 10 seconds for a request."""
    made = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    yield made
    made.close()


@pytest.mark.parametrize("op", ["validate", "price"])
@pytest.mark.parametrize("what", COSTLY)
def test_a_costly_text_is_refused_by_the_process_that_goes_on(op: str, what: str, checker: Checker) -> None:
    checker.call("validate", {"yaml": OTLP, "env": {}}, asker=ASKER)
    before = checker.pids()

    with pytest.raises(Refused) as refused:
        checker.call(op, {"env": {}, **COSTLY[what]}, asker=ASKER)

    assert (refused.value.code, refused.value.message[-19:]) == ("too_costly", "nothing was checked")
    assert checker.pids() == before


@pytest.mark.parametrize("what", ["the 752 bytes of the review", "19,500 extensions", "10,000 pipelines"])
def test_no_run_is_made_ready_of_one(what: str, checker: Checker) -> None:
    asked = {"target_pipeline": "logs", "signal_type": "logs", "sample": "a line", "sample_is_otlp": False}

    with pytest.raises(Refused, match="too_costly"):
        checker.call("prepare", {**asked, "yaml": COSTLY[what]["yaml"]}, asker=ASKER)


@pytest.mark.parametrize("op", ["compile", "evaluate"])
def test_a_rule_that_costs_too_much_is_refused_by_its_place(op: str, checker: Checker) -> None:
    rules = [{"name": n, "context": "log", "condition": c, "expect": "any"} for n, c in RULES.items()]

    if op == "evaluate":
        with pytest.raises(Refused, match='rule "costly": condition: the patterns of the expression'):
            checker.call(op, {"signals": ["logs"], "rules": rules, "documents": ""}, asker=ASKER)
        return
    refusals = checker.call(op, {"signals": ["logs"], "rules": rules}, asker=ASKER)["refusals"]

    assert isinstance(refusals, list)
    assert [(one["index"], one["field"]) for one in refusals] == [(1, "condition")]


RULES: Final = {"fine": 'log.body == "a"', "costly": doubling(24)}


# The next test comes to the same limit.
@pytest.mark.full
def test_a_rule_that_never_comes_to_an_end_is_ended_with_its_reason(checker: Checker) -> None:
    """A rule's functions may be dear on each record: time bounds those, and the next question is answered."""
    record = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"%s"}}]}]}]}\n' % ("a" * 50_000)
    rule = {"name": "slow", "context": "log", "expect": "any", "condition": f'IsMatch(body, "(a?){{400}}{"a" * 400}b")'}

    asked = {"signals": ["logs"], "rules": [rule], "documents": record * 40}

    with pytest.raises(Refused) as refused:
        checker.call("evaluate", asked, asker=ASKER, timeout=60)

    assert "took longer than" in refused.value.message or "seconds of processor time" in refused.value.message
    assert checker.call("validate", {"yaml": OTLP, "env": {}}, asker=ASKER)["valid"] is False


def test_what_nobody_thought_of_is_too_costly_once_it_took_too_much(checker: Checker) -> None:
    """Dear in a way that has no price: 1,900 exporters that hold memory each."""
    text = many("exporters", "datadog", "{api: {key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}", 1_900)
    text += (
        "receivers: {otlp: {protocols: {grpc: {}}}}\nservice: {pipelines: {metrics: {receivers: [otlp], exporters: ["
    )
    text += ", ".join(f"datadog/{n}" for n in range(1_900)) + "]}}}\n"

    with pytest.raises(Refused) as refused:
        checker.call("validate", {"yaml": text, "env": {}}, asker=ASKER, timeout=60)

    assert refused.value.code == "too_costly"
    assert checker.call("validate", {"yaml": OTLP, "env": {}}, asker=ASKER)["valid"] is False
