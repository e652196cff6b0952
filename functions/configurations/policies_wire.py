"""The bodies and answers of the policies endpoints."""

import json
from typing import Annotated, Self, get_args

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from headgate.http.wire import Answer, PrincipalOut
from headgate.policies.service import OrganizationPolicies
from headgate_engine.policies.model import (
    MAX_EXAMPLE,
    MAX_EXAMPLES,
    MAX_EXPRESSION,
    MAX_MESSAGE,
    MAX_RULES,
    MAX_RULES_BYTES,
    PolicyChoices,
    PolicyExample,
    PolicyRule,
    Requirement,
    Setting,
    Severity,
)
from headgate_engine.wire.inputs import Input
from headgate_engine.wire.times import Time

_MAX_CODES = 100


def _each_once(values: list[str]) -> list[str]:
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is listed twice")
    return values


Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


class ExampleIn(Input):
    """A configuration, and whether it breaks the rule; it is tried when the rule is saved."""

    yaml: Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXAMPLE)]
    violated: bool


def _some(examples: list[ExampleIn]) -> list[ExampleIn]:
    if not examples:
        raise ValueError("Add an example: a small configuration as `yaml`, and whether it is `violated` by the rule")
    return examples


class OwnRuleIn(Input):
    """A rule of one's own. `expression` is CEL: true, or a list of component paths, where a configuration breaks it."""

    name: Code
    expression: Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPRESSION)]
    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE)]
    severity: Severity = "warning"
    suppressible: bool = True
    examples: Annotated[list[ExampleIn], Field(max_length=MAX_EXAMPLES), AfterValidator(_some)] = Field(
        default_factory=list, validate_default=True, json_schema_extra={"minItems": 1}
    )

    def rule(self) -> PolicyRule:
        examples = tuple(PolicyExample(example.yaml, example.violated) for example in self.examples)
        return PolicyRule(self.name, self.expression, self.message, self.severity, self.suppressible, examples)


class PolicySettings(Input):
    """An organization's settings of policies: `PUT` replaces all of them.

    `severities` says how built-in policies count, by their codes; `not_suppressible` has the codes that no comment
    suppresses; `publish_requires` has what a version needs to be published.
    """

    severities: Annotated[dict[Code, Setting], Field(max_length=_MAX_CODES)]
    not_suppressible: Annotated[list[Code], Field(max_length=_MAX_CODES), AfterValidator(_each_once)]
    rules: Annotated[list[OwnRuleIn], Field(max_length=MAX_RULES)]
    publish_requires: Annotated[
        list[Requirement],
        Field(max_length=len(get_args(Requirement))),
        AfterValidator(_each_once),
    ] = Field(
        description="`policies`: no errors of policies; `tests`: evidence of a suite that the version's tests passed"
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        size = len(json.dumps([rule.model_dump() for rule in self.rules], ensure_ascii=False).encode())
        if size > MAX_RULES_BYTES:
            raise ValueError(f"The rules with their examples have {size} bytes; the limit is {MAX_RULES_BYTES}")
        return self

    def settings(self) -> PolicyChoices:
        return PolicyChoices(
            self.severities,
            self.not_suppressible,
            tuple(rule.rule() for rule in self.rules),
            self.publish_requires,
        )


class PolicyOut(Answer):
    """A built-in policy. `severity` is how it counts in this organization, `failing` and `passing` are examples.

    `seen` has links to where people met the mistake. It holds from the collector version `since` on, and no longer in
    `until`; null for no limit.
    """

    code: str
    title: str
    severity: Setting
    default_severity: Severity
    suppressible: bool
    why: str
    way_out: str
    failing: str
    passing: str
    seen: list[str]
    since: str | None
    until: str | None


class RuleExampleOut(Answer):
    yaml: str
    violated: bool


class RuleOut(Answer):
    name: str
    expression: str
    message: str
    severity: Severity
    suppressible: bool
    examples: list[RuleExampleOut]


class PolicySettingsOut(Answer):
    """The settings in the form that `PUT /policies` takes."""

    severities: dict[str, Setting]
    not_suppressible: list[str]
    rules: list[RuleOut]
    publish_requires: list[Requirement]


class PoliciesOut(Answer):
    """The built-in policies as they count here, and the organization's settings.

    `updated_at` and `updated_by` are null as long as the settings are the default.
    """

    policies: list[PolicyOut]
    settings: PolicySettingsOut
    updated_at: Time | None
    updated_by: PrincipalOut | None

    @classmethod
    def of_policies(cls, policies: OrganizationPolicies) -> Self:
        settings = policies.stored.settings
        built_in = [
            PolicyOut.of(
                policy,
                severity=settings.severity(policy.code, policy.severity),
                default_severity=PolicyChoices().severity(policy.code, policy.severity),
                suppressible=policy.code not in settings.not_suppressible,
                since=policy.since or None,
                until=policy.until or None,
            )
            for policy in policies.built_in
        ]
        return cls.of(policies.stored, policies=built_in)
