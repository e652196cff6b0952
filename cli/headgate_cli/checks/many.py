"""The verdicts on many texts, by as few requests as possible, and the OTTL of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.checks.findings import NOT_CHECKED, Linted, problem_of
from headgate_cli.errors import Failed, NotAuthenticated
from headgate_cli.shaped import PlainAnswer, listed, shaped
from headgate_cli.shapes import LintResult, ValidationResult

T = TypeVar("T")

# What a server takes in one request.
_MOST_TEXTS: Final = 50
_MOST_BYTES: Final = 1_000_000
# A reduced build gives no verdict on a text with a component that it lacks, and lints what it has.
_NO_VERDICT: Final = "component_not_in_build"
_SYNTAX: Final = "yaml_syntax"


def verdicts(
    api: Api, requests: Sequence[Mapping[str, object]], query: str = ""
) -> Iterator[ValidationResult | Failed]:
    """The answer of POST /validate to each request, in order, or the error that it ended with. Raises NotAuthenticated.

    `query` is one of POST /validate. A server without POST /validate/batch is asked for each text.
    """
    batches, path = api.batches, f"/validate{query}"
    at = 0
    while at < len(requests):
        batch = _beginning(requests[at:]) if batches else ()
        answers = _in_time(_batch(api, batch, query)) if len(batch) > 1 else ()
        batches = batches and (bool(answers) or len(batch) < 2)
        for request, verdict in zip(batch, answers, strict=False):
            # Alone it may be checked; if not, the error says all.
            alone = "problem" in verdict
            # No request here names its text.
            unnamed = {field: part for field, part in verdict.items() if field != "name"}
            yield answer(api, ValidationResult, path, request) if alone else shaped(ValidationResult, unnamed)
        at += len(answers)
        if not answers:
            yield answer(api, ValidationResult, path, requests[at])
            at += 1


def _in_time(answers: Sequence[Entity]) -> Sequence[Entity]:
    """Leave out the last answers if they are that nothing was checked: those before them took the time of a request."""
    count = len(answers)
    while count and (problem := problem_of(answers[count - 1])) and problem["code"] == NOT_CHECKED:
        count -= 1
    return answers[:count]


def answer(api: Api, shape: type[T], path: str, request: Mapping[str, object]) -> T | Failed:
    """The answer to one request, or the error that it ended with. Raises NotAuthenticated."""
    try:
        return api.post(shape, path, request)
    except NotAuthenticated:
        raise
    except Failed as error:
        return error


def linted(api: Api, request: Mapping[str, object]) -> Linted | Failed:
    """The result of the linter, or the error that it ended with."""
    verdict = answer(api, ValidationResult, "/validate?lint=true", request)
    if isinstance(verdict, ServerError) and verdict.code == _NO_VERDICT:
        lint = answer(api, LintResult, "/ottl/lint", request)
        return lint if isinstance(lint, Failed) else Linted(lint)
    if isinstance(verdict, Failed):
        return verdict
    if syntax := [entry for entry in verdict["errors"] if entry["code"] == _SYNTAX]:
        return Linted(shaped(LintResult, {"valid": False, "checked": 0, "items": [], "skipped": []}), syntax)
    part = verdict.get("lint")
    if problem := problem_of(part):
        return ServerError.of_part(problem["code"], problem["detail"])
    return Linted(shaped(LintResult, part)) if part else ServerError.of_part("", "the server does not lint whole texts")


def _batch(api: Api, batch: Sequence[Mapping[str, object]], query: str) -> Sequence[Entity]:
    """Ask for a batch; empty if the server refuses or fails, since alone each text gets its own error."""
    try:
        answers = api.post(PlainAnswer, f"/validate/batch{query}", {"items": batch})
        return listed(PlainAnswer, answers)[: len(batch)]
    except NotAuthenticated:
        raise
    except Failed:
        return ()


def _beginning(requests: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
    """Take as many of the first requests as fit into one."""
    size = 0
    for count, request in enumerate(requests[:_MOST_TEXTS]):
        size += len(json.dumps(request, ensure_ascii=False).encode(errors="replace")) + 2
        if size > _MOST_BYTES:
            return requests[:count]
    return requests[:_MOST_TEXTS]
