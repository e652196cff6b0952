"""A configuration inside of another text: a Kubernetes resource, a ConfigMap, or the values of a Helm chart."""

from __future__ import annotations

from headgate_cli.api import Api
from headgate_cli.output import say
from headgate_cli.shapes import ValidationResult
from headgate_cli.untrusted import one_line


def unwrapped(api: Api, label: str, content: str) -> str:
    """The configuration inside of a text, or the text itself if it is one. Raises Failed."""
    part = api.post(ValidationResult, "/validate", {"yaml": content}).get("wrapped") if content else None
    if not part:
        return content
    say(f"{one_line(label)}: taking the configuration under {one_line(part['path'])}, from line {part['line']} on")
    return part["yaml"]
