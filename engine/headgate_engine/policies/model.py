"""Policies, an organization's settings of them, and what they find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator

from headgate_engine import errors
from headgate_engine.entries import Entries

Severity = Literal["error", "warning", "info"]
Setting = Literal["error", "warning", "info", "off"]
Requirement = Literal["policies", "tests"]

MAX_RULES: Final = 50
MAX_EXAMPLES: Final = 10
MAX_EXPRESSION: Final = 4_000
MAX_MESSAGE: Final = 500
MAX_EXAMPLE: Final = 16_000
MAX_RULES_BYTES: Final = 200_000
"""All rules together: they are stored in one item, which may have 400 KB."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A built-in policy. `severity` is the collector's own opinion, which makes nothing an error by itself."""

    code: str
    title: str
    severity: Severity
    why: str
    way_out: str
    failing: str
    passing: str
    seen: Sequence[str] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class PolicyExample:
    """A configuration, and whether it breaks the rule."""

    yaml: str
    violated: bool


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """An organization's own policy: a CEL expression over the configuration, true where it is broken."""

    name: str
    expression: str
    message: str
    severity: Severity
    suppressible: bool
    examples: Sequence[PolicyExample] = ()


@dataclass(frozen=True, slots=True)
class PolicyChoices:
    """An organization's settings of policies.

    `severities` has the built-in policies that it judges otherwise than the default, `not_suppressible` those that no
    comment suppresses, `publish_requires` what has to be fulfilled to publish.
    """

    severities: Mapping[str, Setting] = field(default_factory=dict)
    not_suppressible: Sequence[str] = ()
    rules: Sequence[PolicyRule] = ()
    publish_requires: Sequence[Requirement] = ()

    def severity(self, policy: str, own: Severity) -> Setting:
        """The severity of a built-in policy, whose own one is `own`: no finding is an error unless Admins decide so."""
        return self.severities.get(policy, "warning" if own == "error" else own)


# The collector writes 0 and an empty text for what is not known.
_EMPTY_IS_NONE: Final = BeforeValidator(lambda value: value or None)
_Position = Annotated[int | None, _EMPTY_IS_NONE]
_Until = Annotated[str | None, _EMPTY_IS_NONE]


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The comment that suppresses a finding. `until` is a month or a day, None if it does not expire."""

    line: int
    until: _Until
    reason: str


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """A place where a configuration breaks a policy; `way_out` is empty for a rule of one's own."""

    code: str
    severity: Severity
    message: str
    way_out: str
    component_path: str
    line: _Position
    column: _Position
    suppressed: Suppressed | None

    @property
    def counts(self) -> bool:
        """True if it is an error that no comment suppresses."""
        return self.severity == "error" and self.suppressed is None


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that suppresses findings of one code. `problem` says why it does not do what it says."""

    code: str
    line: int
    until: _Until
    reason: str
    used: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class FailedRule:
    """A rule that could not be evaluated on this text; what it would have found is not known."""

    name: str
    severity: Severity
    error: str


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """`passed` unless something counts as an error, or a rule that does could not be evaluated.

    At most 50 findings of a code are listed, 20 of a rule.
    """

    passed: bool
    findings: Entries[PolicyFinding]
    suppressions: Entries[Suppression]
    failed_rules: Entries[FailedRule]


class PoliciesNotPossible(errors.Invalid):
    """The request names an official release, which knows no policies."""

    code = "policies_not_possible"

    def __init__(self, version: str, loc: tuple[str, ...]) -> None:
        super().__init__(
            f"Collector {version} is an official release, which knows no policies: use a version that the list of "
            "collector versions shows with `can.lint`",
            at=loc,
        )


class NotAConfiguration(errors.Invalid):
    """Policies judge what would run: the text is not YAML, or not a configuration."""

    code = "yaml_syntax"
