"""An organization's policy settings in a file:

etag: policies-3          # of `policy get`: `policy set` refuses to overwrite a later change
severities: {insecure_tls: error, detailed_debug: off}
not_suppressible: [insecure_tls]
rules:
  - name: no_debug
    expression: "'debug' in config.exporters"
    message: Send telemetry somewhere
publish_requires: [policies]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.api import Entity, ServerError, optional
from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.yaml_files import parse

FIELDS: Final = ("severities", "not_suppressible", "rules", "publish_requires")
_FORMAT: Final = "`headgate policy set --help` shows the format"


def of_answer(answer: Entity, etag: str) -> dict[str, object]:
    """The settings of an answer in the form of a file."""
    settings = answer.get("settings")
    held: Entity = settings if isinstance(settings, Mapping) else {}
    return {"etag": etag.strip('"'), **{field: held.get(field) for field in FIELDS}}


def settings(file: str) -> tuple[dict[str, object], str]:
    """The settings of a file, whole, and the ETag of the state that they replace, empty without one. Raises Failed."""
    document = parse(read(file), name(file))
    if not isinstance(document, Mapping):
        raise Failed(f"{one_line(name(file))} must hold the settings: {_FORMAT}")
    unknown = [one_line(str(field)) for field in document if field not in ("etag", *FIELDS)]
    if unknown:
        raise Failed(f"{one_line(name(file))} has the unknown field {', '.join(unknown)}: {_FORMAT}")
    body: dict[str, object] = {"severities": {}, "not_suppressible": [], "rules": [], "publish_requires": []}
    body |= {field: document[field] for field in FIELDS if document.get(field) is not None}
    severities = body["severities"]
    if isinstance(severities, Mapping):
        # YAML 1.1 takes `off` for false.
        body["severities"] = {str(code): "off" if value is False else value for code, value in severities.items()}
    etag = document.get("etag")
    return body, f'"{etag}"' if etag else ""


def refusal(error: ServerError, file: str, body: Mapping[str, object]) -> Failed:
    """The server's refusal with rules by their names; the error itself if it is not about fields."""
    lines = []
    for entry in error.errors:
        location = entry.get("loc")
        match location:
            case ["body", "rules", int(at), *fields]:
                where = f"rule {at + 1}{_named(body, at)}{''.join(f', {one_line(str(field))}' for field in fields)}"
            case ["body", *fields]:
                where = one_line(".".join(map(str, fields)))
            case _:
                return error
        message = quoted(optional(entry, "message"))
        lines.append(f"{one_line(name(file))}: {f'{where}: ' if where else ''}{message}")
    return Failed("\n  ".join(lines)) if lines else error


def _named(body: Mapping[str, object], at: int) -> str:
    rules = body.get("rules")
    rule = rules[at] if isinstance(rules, list) and at < len(rules) else None
    label = rule.get("name") if isinstance(rule, Mapping) else None
    return f" ({one_line(str(label))})" if label else ""
