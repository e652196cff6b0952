"""An organization's policy settings in a file:

etag: policies-3          # of `policy get`: `policy set` refuses to overwrite a later change
severities: {insecure_tls: error, detailed_debug: off}
not_suppressible: [insecure_tls]
rules:
  - name: no_debug
    expression: "'debug' in config.?exporters.orValue({})"
    message: Send telemetry somewhere
    examples:
      - {yaml: "exporters: {debug: {}}", violated: true}
publish_requires: [policies]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from headgate_cli.api import ServerError, message_of
from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.shapes import PolicySettingsOut
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.yaml_files import parse

_Field = Literal["severities", "not_suppressible", "rules", "publish_requires"]
FIELDS: Final[tuple[_Field, ...]] = ("severities", "not_suppressible", "rules", "publish_requires")
_COUNTED: Final[tuple[tuple[_Field, str, str], ...]] = (
    ("rules", "rule", "rules"),
    ("severities", "severity", "severities"),
    ("not_suppressible", "code that no comment suppresses", "codes that no comment suppresses"),
    ("publish_requires", "requirement of publishing", "requirements of publishing"),
)
_FORMAT: Final = "`headgate policy set --help` shows the format"


def of_answer(settings: PolicySettingsOut, etag: str) -> dict[str, object]:
    """The settings of an answer in the form of a file."""
    return {"etag": etag.strip('"'), **{field: settings[field] for field in FIELDS}}


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


def in_words(settings: PolicySettingsOut) -> str:
    """`2 rules, 1 severity`; empty for the default settings."""
    counts = [(len(settings[field]), singular, plural) for field, singular, plural in _COUNTED]
    return ", ".join(f"{count} {singular if count == 1 else plural}" for count, singular, plural in counts if count)


def refusal(error: ServerError, file: str, body: Mapping[str, object]) -> Failed:
    """The server's refusal with rules by their names; the error itself if it is not about fields."""
    lines = []
    for entry in error.errors:
        location, label = entry.get("loc"), ""
        match location:
            case ["body", "rules", int(at), *fields]:
                label = _name_of(body, at)
                named = f" ({one_line(label)})" if label else ""
                where = f"rule {at + 1}{named}{''.join(f', {one_line(str(field))}' for field in fields)}"
            case ["body", *fields]:
                where = one_line(".".join(map(str, fields)))
            case _:
                return error
        # The message names the rule, as its place does.
        message = quoted(message_of(entry).removeprefix(f"Rule {label}: "))
        lines.append(f"{one_line(name(file))}: {f'{where}: ' if where else ''}{message}")
    return Failed("\n  ".join(lines)) if lines else error


def _name_of(body: Mapping[str, object], at: int) -> str:
    rules = body.get("rules")
    rule = rules[at] if isinstance(rules, list) and at < len(rules) else None
    return str(rule.get("name") or "") if isinstance(rule, Mapping) else ""
