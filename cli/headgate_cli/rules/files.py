"""Rules in a file: of several pipelines, or a plain list of them.

logs/edge:
  name: Edge            # optional
  rules:
    - name: no debug records
      condition: log.severity_number < 9
      expect: none
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate_cli.api import Entity, entities, optional, text
from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import parse, signal_of

_FIELDS = ("name", "condition", "context", "expect", "min", "max")


@dataclass(frozen=True, slots=True)
class RuleSet:
    pipeline: str
    signal_type: str
    name: str
    rules: list[Entity]


def rule_sets(file: str) -> list[RuleSet]:
    """The sets of a file, by pipeline. Raises Failed for another form."""
    document = parse(read(file), name(file))
    if not isinstance(document, Mapping) or not document:
        raise Failed(f"{one_line(name(file))} has to hold rules by pipeline: `logs/edge: {{rules: [...]}}`")
    return [_set(one_line(name(file)), str(pipeline), content) for pipeline, content in document.items()]


def rules_for(file: str, pipeline: str) -> list[Entity]:
    """The rules that a file has for a pipeline: a plain list is for any."""
    document = parse(read(file), name(file))
    if isinstance(document, list):
        return _rules(one_line(name(file)), document)
    found = [one for one in rule_sets(file) if one.pipeline == pipeline]
    if not found:
        raise Failed(f"{one_line(name(file))} has no rules for the pipeline {one_line(pipeline)}")
    return found[0].rules


def of_answer(answer: Entity) -> dict[str, object]:
    """The saved sets as a file holds them."""
    return {
        text(one, "pipeline"): {
            "name": optional(one, "name"),
            "signal_type": text(one, "signal_type"),
            "rules": [
                {field: rule[field] for field in _FIELDS if rule.get(field) is not None}
                for rule in entities(one, "rules")
                if rule.get("api_owned")
            ],
        }
        for one in entities(answer, "items")
    }


def _set(file: str, pipeline: str, content: object) -> RuleSet:
    if isinstance(content, list):
        content = {"rules": content}
    if not isinstance(content, Mapping) or not isinstance(content.get("rules"), list):
        raise Failed(f"{file}: {one_line(pipeline)} has to hold a list of rules")
    unknown = set(content) - {"name", "signal_type", "rules"}
    if unknown:
        named = one_line(", ".join(sorted(map(str, unknown))))
        raise Failed(f"{file}: {one_line(pipeline)} has {named}; it takes name, signal_type, rules")
    return RuleSet(
        pipeline,
        str(content.get("signal_type") or signal_of(pipeline)),
        str(content.get("name") or ""),
        _rules(f"{file}: {one_line(pipeline)}", content["rules"]),
    )


def _rules(where: str, rules: list[object]) -> list[Entity]:
    found: list[Entity] = []
    for at, rule in enumerate(rules, 1):
        if not isinstance(rule, Mapping):
            raise Failed(f"{where}: rule {at} has to hold name and condition")
        # What else is wrong with it the server says, which knows.
        found.append({str(field): value for field, value in rule.items()})
    return found
