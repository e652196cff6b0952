"""Asking for the OTTL of a whole text, however many expressions it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.api import Api, ServerError
from headgate_cli.checks import many
from headgate_cli.checks.findings import Linted, problem_of
from headgate_cli.errors import Failed
from headgate_cli.shaped import shaped
from headgate_cli.shapes import LintResult, ValidationResult

# A reduced build gives no verdict on a text with a component that it lacks, and lints what it has.
_NO_VERDICT: Final = "component_not_in_build"
_SYNTAX: Final = "yaml_syntax"


def asked(api: Api, request: Mapping[str, object]) -> Linted | Failed:
    """The result of the linter, or the error that it ended with."""
    answer = many.answer(api, ValidationResult, "/validate?lint=true", request)
    if isinstance(answer, ServerError) and answer.code == _NO_VERDICT:
        lint = many.answer(api, LintResult, "/ottl/lint", request)
        return lint if isinstance(lint, Failed) else Linted(lint)
    if isinstance(answer, Failed):
        return answer
    if syntax := [entry for entry in answer["errors"] if entry["code"] == _SYNTAX]:
        return Linted(shaped(LintResult, {"valid": False, "checked": 0, "items": [], "skipped": []}), syntax)
    part = answer.get("lint")
    if problem := problem_of(part):
        return ServerError.of_part(problem["code"], problem["detail"])
    return Linted(shaped(LintResult, part)) if part else ServerError.of_part("", "the server does not lint whole texts")
