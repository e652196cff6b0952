"""A configuration inside of another text: a Kubernetes resource, a ConfigMap, or the values of a Helm chart."""

from __future__ import annotations

from headgate_cli.api import Api, Entity, number, text
from headgate_cli.output import say
from headgate_cli.untrusted import one_line


def unwrapped(api: Api, label: str, content: str) -> str:
    """The configuration inside of a text, or the text itself if it is one. Raises Failed."""
    part = of_answer(api.post("/validate", {"yaml": content})) if content else None
    if part is None:
        return content
    path, line = one_line(text(part, "path")), number(part, "line")
    say(f"{one_line(label)}: taking the configuration under {path}, from line {line} on")
    return text(part, "yaml")


def of_answer(answer: Entity) -> Entity | None:
    """What an answer of POST /validate says of the configuration inside, None if there is none."""
    part = answer.get("wrapped")
    return part if isinstance(part, dict) else None
