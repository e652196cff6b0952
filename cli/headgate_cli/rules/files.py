"""Rules in a file: by pipeline as below, or a plain list for any pipeline.

logs/edge:
  name: Edge            # optional
  rules:
    - name: no debug records
      condition: log.severity_number < 9
      expect: none
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from headgate_cli.api import Entity, ServerError, message_of
from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.shapes import RuleSetOut
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.yaml_files import SIGNALS, parse, signal_of

_FORMAT = "`headgate rules set --help` shows the format"
# What the server says of an absent field.
_REQUIRED = "This field is required"
_FIELDS: Final[tuple[Literal["name", "condition", "context", "expect", "min", "max"], ...]] = (
    *("name", "condition", "context", "expect", "min", "max"),
)


@dataclass(frozen=True, slots=True)
class FileRules:
    pipeline: str
    signal_type: str
    name: str
    rules: list[Entity]


def rule_sets(file: str) -> list[FileRules]:
    """The rule sets of a file, by pipeline. Raises Failed for any other form."""
    document = parse(read(file), name(file))
    if not isinstance(document, Mapping) or not document:
        raise Failed(f"{one_line(name(file))} must hold rules by pipeline: {_FORMAT}")
    for pipeline in document:
        if str(pipeline).partition("/")[0] not in SIGNALS:
            raise Failed(
                f"{one_line(name(file))}: {one_line(repr(pipeline))} is not a pipeline: write a pipeline's name, such "
                f"as logs or logs/edge, and its rules below it; {_FORMAT}"
            )
    return [_set(one_line(name(file)), str(pipeline), content) for pipeline, content in document.items()]


def rules_for(file: str, pipeline: str) -> list[Entity]:
    """The file's rules for the pipeline. A plain list is for any pipeline. Raises Failed if there are none."""
    document = parse(read(file), name(file))
    if isinstance(document, list):
        return _rules(one_line(name(file)), document)
    sets = {rule_set.pipeline: rule_set for rule_set in rule_sets(file)}
    if pipeline not in sets:
        raise Failed(
            f"{one_line(name(file))} has no rules for the pipeline {one_line(pipeline)}; it has rules for "
            f"{one_line(', '.join(sets))}"
        )
    return sets[pipeline].rules


def of_answer(saved: Sequence[RuleSetOut]) -> dict[str, object]:
    """The saved rule sets in the form of a file, without the rules added in the application."""
    return {
        rule_set["pipeline"]: {
            "name": rule_set["name"],
            "signal_type": rule_set["signal_type"],
            "rules": [
                {field: rule[field] for field in _FIELDS if rule[field] is not None}
                for rule in rule_set["rules"]
                if rule["api_owned"]
            ],
        }
        for rule_set in saved
    }


def refusal(error: ServerError, file: str, pipeline: str) -> Failed:
    """The server's refusal of the pipeline's rules, with places in the file instead of those in the request.

    The error itself if none of its places is a rule.
    """
    where = f"{one_line(name(file))}: {one_line(pipeline)}"
    lines, of_rules = [], False
    for entry in error.errors:
        location, message = entry.get("loc"), quoted(message_of(entry))
        match location:
            case ["body", "rules", int(at), *fields]:
                of_rules = True
                field = one_line(".".join(map(str, fields)))
                if message == _REQUIRED:
                    lines.append(f"{where}, rule {at + 1}: {field} is missing")
                else:
                    lines.append(f"{where}, rule {at + 1}: {f'{field}: ' if field else ''}{message}")
            case _:
                lines.append(f"{where}: {message}")
    return Failed("\n  ".join(lines)) if of_rules else error


def _set(file: str, pipeline: str, content: object) -> FileRules:
    if isinstance(content, list):
        content = {"rules": content}
    if not isinstance(content, Mapping) or not isinstance(content.get("rules"), list):
        raise Failed(f"{file}: {one_line(pipeline)} must be a list of rules, or contain one as `rules`")
    unknown = set(content) - {"name", "signal_type", "rules"}
    if unknown:
        named = one_line(", ".join(sorted(map(str, unknown))))
        raise Failed(f"{file}: {one_line(pipeline)} has the unknown field {named}; use name, signal_type and rules")
    return FileRules(
        pipeline,
        str(content.get("signal_type") or signal_of(pipeline)),
        str(content.get("name") or ""),
        _rules(f"{file}: {one_line(pipeline)}", content["rules"]),
    )


def _rules(where: str, rules: list[object]) -> list[Entity]:
    checked: list[Entity] = []
    for at, rule in enumerate(rules, 1):
        if not isinstance(rule, Mapping):
            raise Failed(f"{where}: rule {at} must have the fields name and condition")
        # The server checks everything else.
        checked.append({str(field): value for field, value in rule.items()})
    return checked
