"""Asking for the OTTL of a whole text, however many expressions it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.api import Api, Entity, ServerError, entities, optional
from headgate_cli.checks import many
from headgate_cli.errors import Failed

# A reduced build gives no verdict on a text with a component that it lacks, and lints what it has.
_NO_VERDICT: Final = "component_not_in_build"
_SYNTAX: Final = "yaml_syntax"


def asked(api: Api, request: Mapping[str, object]) -> Entity | Failed:
    """The result of the linter, or why there is none. A text that is not YAML has no expressions, and its error."""
    answer = many.answer(api, "/validate?lint=true", request)
    if isinstance(answer, ServerError) and answer.code == _NO_VERDICT:
        return many.answer(api, "/ottl/lint", request)
    if isinstance(answer, Failed):
        return answer
    syntax = [entry for entry in entities(answer, "errors") if entry.get("code") == _SYNTAX]
    if syntax:
        return {"valid": False, "checked": 0, "items": [], "skipped": [], "errors": syntax}
    part = answer.get("lint")
    problem = part.get("problem") if isinstance(part, dict) else {"detail": "the server does not lint whole texts"}
    if isinstance(problem, dict):
        return ServerError.of(optional(problem, "code"), optional(problem, "detail"))
    assert isinstance(part, dict)
    return part
