"""The configuration inside of another text, such as a ConfigMap, as the server's verdict has it."""

from __future__ import annotations

from headgate_cli.output import say
from headgate_cli.shapes import NamedResult, ValidationResult
from headgate_cli.untrusted import one_line

_WRAPPED = "wrapped_configuration"


def unwrapped(file: str, answer: ValidationResult | NamedResult) -> str | None:
    """The configuration inside of a file, after a message that says where it is; None if there is none."""
    part = answer.get("wrapped")
    if not part:
        return None
    say(f"{one_line(file)}: taking the configuration under {one_line(part['path'])}, from line {part['line']} on")
    for warning in answer["warnings"]:
        if warning["code"] == _WRAPPED:
            say(f"{one_line(file)}: {one_line(warning['message'])}")
    return part["yaml"]
