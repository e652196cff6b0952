"""Verdicts of the real collector, lint of the real OTTL parser, and the rules of versions."""

from __future__ import annotations

from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import EDGE, Bench
from headgate_cli.accept.model import check
from headgate_cli.api import Entity

_NOT_INSTALLED: Final = "0.1.0"
_MOST_EXPRESSIONS: Final = 200
_BROKEN: Final = EDGE.replace("http:", "htpp:")
_RULES: Final = {"signal_type": "logs", "rules": [{"name": "has a team", "condition": 'log.attributes["team"] != nil'}]}


def _verdict(bench: Bench, yaml: str, **more: object) -> Entity:
    return expect.entity(bench.write.post("/validate", {"yaml": yaml, **more}))


def _first(verdict: Entity) -> Entity:
    """The first error of a verdict; empty if there is none."""
    errors = verdict.get("errors")
    return next((error for error in errors if isinstance(error, dict)), {}) if isinstance(errors, list) else {}


@check("verdicts.walls", "A collector answers, and names the walls around its processes.")
def walls(bench: Bench) -> str:
    listed = expect.items(expect.entity(bench.write.get("/collector-versions")))
    named = next((version.get("confined_by") for version in listed if version.get("default") is True), None)
    expect.that(isinstance(named, list) and bool(named), f"the default collector names none: {expect.shown(named)}")
    return f"walls: {', '.join(map(str, named))}" if isinstance(named, list) else ""


@check("verdicts.valid", "A valid text is valid, and the verdict names the collector version.")
def valid(bench: Bench) -> None:
    verdict = _verdict(bench, EDGE)
    expect.equal("`valid`", verdict.get("valid"), True)
    expect.equal("`errors`", verdict.get("errors"), [])
    expect.that(bool(expect.text(verdict, "version")), "`version` is empty")


@check("verdicts.invalid", "Each error says which component, line and column it is about.")
def invalid(bench: Bench) -> None:
    verdict = _verdict(bench, _BROKEN)
    expect.equal("`valid`", verdict.get("valid"), False)
    first = _first(verdict)
    place = {name: first.get(name) for name in ("component_path", "code", "line", "column")}
    expected = {"component_path": "receivers::otlp::protocols::htpp", "code": "unknown_key", "line": 4, "column": 7}
    expect.equal("the first error", place, expected)


@check("verdicts.variables", "A variable without a value is a warning that names it, and `env` supplies one.")
def variables(bench: Bench) -> None:
    text = EDGE.replace("127.0.0.1:4318", "${env:ACCEPTED_ADDRESS}")
    warnings = _verdict(bench, text).get("warnings")
    expect.that("ACCEPTED_ADDRESS" in str(warnings), f"no warning names the variable: {expect.shown(warnings)}")
    expect.equal("`valid` with a value", _verdict(bench, text, env={"ACCEPTED_ADDRESS": "::1:1"}).get("valid"), True)


@check("verdicts.nothing-read", "A text that would read a file is refused, and nothing is read.")
def nothing_read(bench: Bench) -> None:
    verdict = _verdict(bench, EDGE.replace("127.0.0.1:4318", "${file:/etc/hostname}"))
    expect.equal("the first error's code", _first(verdict).get("code"), "provider_not_allowed")


@check("verdicts.not-installed", "A collector version that is not installed is 422, never a verdict.")
def not_installed(bench: Bench) -> None:
    answer = bench.write.post("/validate", {"yaml": EDGE, "version": _NOT_INSTALLED})
    expect.problem(answer, 422, code="collector_version_not_installed")


@check("verdicts.versions", "Each collector version that is listed gives verdicts, and says that it did.")
def versions(bench: Bench) -> None:
    listed = expect.items(expect.entity(bench.write.get("/collector-versions")))
    expect.equal("the number of defaults", sum(collector.get("default") is True for collector in listed), 1)
    for collector in listed:
        version = expect.text(collector, "version")
        verdict = _verdict(bench, EDGE, version=version)
        expect.equal(f"the verdict of {version}", (verdict.get("valid"), verdict.get("version")), (True, version))


@check("verdicts.batch", "A batch is answered in its order, in one request of the limit.")
def batch(bench: Bench) -> None:
    texts = [{"name": "broken", "yaml": _BROKEN}, {"name": "right", "yaml": EDGE}]
    answers = expect.items(expect.entity(bench.write.post("/validate/batch", {"items": texts})))
    verdicts = [(answer.get("name"), answer.get("valid")) for answer in answers]
    expect.equal("the verdicts", verdicts, [("broken", False), ("right", True)])


@check("lint.text", "Each OTTL expression of a text is judged, with its line.")
def lint_text(bench: Bench) -> None:
    lint = expect.entity(bench.write.post("/ottl/lint", {"yaml": EDGE.replace("set(", "sett(")}))
    expect.equal("`valid`, `checked`", (lint.get("valid"), lint.get("checked")), (False, 1))
    (item,) = expect.items(lint)
    location = item.get("location")
    expect.equal("the line", location.get("line") if isinstance(location, dict) else None, 9)
    expect.that("sett" in str(item.get("error")), f"the error does not name the function: {expect.shown(item)}")


@check("lint.context", "Expressions are judged in the context that the request names.")
def lint_context(bench: Bench) -> None:
    for context, expected in (("log", True), ("span", False)):
        body = {"context": context, "conditions": ["log.severity_number > 9"]}
        lint = expect.entity(bench.write.post("/ottl/lint", body))
        expect.equal(f"`valid` in the context {context}", lint.get("valid"), expected)


@check("lint.limit", "200 expressions are checked in a request, and 201 are 422.")
def lint_limit(bench: Bench) -> None:
    def body(count: int) -> dict[str, object]:
        return {"context": "log", "conditions": ["severity_number > 9"] * count}

    lint = expect.entity(bench.write.post("/ottl/lint", body(_MOST_EXPRESSIONS)))
    expect.equal("`checked`", lint.get("checked"), _MOST_EXPRESSIONS)
    expect.problem(bench.write.post("/ottl/lint", body(_MOST_EXPRESSIONS + 1)), 422)


@check("rules.saved", "Rules of a pipeline are saved and read, and marked as saved by the API.")
def rules_saved(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('rules'), 'id')}/versions/1/validation-pipelines"
    expect.entity(bench.write.put(f"{path}/logs", _RULES))
    (stored,) = expect.items(expect.entity(bench.write.get(path)))
    expect.equal("`name`", stored.get("name"), "API tests — logs")
    rules = stored.get("rules")
    marks = [(rule.get("name"), rule.get("api_owned")) for rule in rules] if isinstance(rules, list) else rules
    expect.equal("the rules", marks, [("has a team", True)])


@check("rules.refused", "A rule that OTTL does not accept is 422, and so is a pipeline that is not there.")
def rules_refused(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('refused'), 'id')}/versions/1/validation-pipelines"
    wrong = {**_RULES, "rules": [{"name": "wrong", "condition": "sett("}]}
    expect.problem(bench.write.put(f"{path}/logs", wrong), 422)
    expect.problem(bench.write.put(f"{path}/traces", _RULES), 422)
    expect.problem(bench.write.put(f"{path}/logs", {**_RULES, "rules": []}), 422)
