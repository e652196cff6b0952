"""Findings about a configuration, in the shape of both the checker's answers and the API's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from headgate_engine.entries import Entries
from headgate_engine.errors import FieldError, Invalid, Unavailable

Code = Literal[
    "yaml_syntax",
    "unknown_section",
    "unknown_component",
    "unknown_key",
    "wrong_type",
    "invalid_value",
    "undefined_reference",
    "unused_component",
    "pipeline_graph",
    "provider_not_allowed",
    "unset_variable",
    "ignored_key",
    "changed_value",
    "wrapped_configuration",
    "crash",
    "depends_on_host",
    "start_failed",
    "other",
]
"""The kinds of finding; docs/findings.md says what each means."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a text: what stands from a place up to another gives way to `text`. Lines and columns are from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """The source of a finding, where it is not the text alone.

    `names` are a component's type, a key, a feature gate, or variables. `instead` is what this release calls it, what
    replaced it, or the distribution that has it; empty where that is not known.
    """

    kind: Literal["newer_release", "older_release", "removed", "other_distribution", "feature_gate", "variable"]
    names: Entries[str]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a configuration, with its place: in the collector's path syntax, and in the text (from 1).

    `line` and `column` are None where only the plain `validate` command could be asked. `fix` mends it, None where that
    is not known, as is `cause`.
    """

    message: str
    component_path: str
    code: Code
    line: int | None = None
    column: int | None = None
    fix: Entries[Edit] | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that a configuration refers to: what an install will have to supply."""

    name: str
    has_default: bool
    component_path: str


@dataclass(frozen=True, slots=True)
class WrappedConfiguration:
    """A configuration inside of another text, such as a Kubernetes resource.

    Its findings have their places in that text. `path` leads to it (`spec.config`), and `yaml` is the configuration as
    a text of its own.
    """

    path: str
    line: int
    yaml: str
    errors: Entries[Finding]
    warnings: Entries[Finding]


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The verdict of `otelcol-contrib validate` of that version, with all findings.

    `valid_on_host` is what remains without errors that depend on the host, None if these decide. `reduced`: that build
    lacks components of the official release, none of which is in the text. `no_configuration`: the text is something
    else, such as a Deployment, and has no configuration inside.
    """

    valid: bool
    version: str
    distribution: str
    errors: Entries[Finding]
    warnings: Entries[Finding]
    environment: Entries[Variable]
    wrapped: WrappedConfiguration | None = None
    valid_on_host: bool | None = None
    reduced: bool = False
    no_configuration: bool = False


@dataclass(frozen=True, slots=True)
class StartResult:
    """The result of starting the processors and connectors of a configuration.

    `started` are the paths of those that were started, also if they failed. It is empty for a text of which nothing can
    be built.
    """

    started: Sequence[str] = ()
    findings: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a text and its time; the number of errors, and the first one up to a length."""

    valid: bool
    errors: int
    problem: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a configuration (a path and a position), or in the lists of a request (`conditions[0]`)."""

    path: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class LintNote:
    """Advice on an expression that is valid, with a stable code and a proposal."""

    code: str
    message: str
    way_out: str


@dataclass(frozen=True, slots=True)
class LintItem:
    """One checked expression: `error` is the parser's message if it is wrong, `note` a remark.

    `notes` are those parts of the remark that have a code and a way out.
    """

    location: Location
    context: str | None
    kind: Literal["condition", "statement", "value_expression"]
    expression: str
    error: str | None = None
    note: str | None = None
    notes: Entries[LintNote] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An expression that the linter cannot check, and why."""

    location: Location
    expression: str
    reason: str


@dataclass(frozen=True, slots=True)
class LintResult:
    """`checked` counts the checked expressions; each has an item."""

    valid: bool
    ottl_version: str
    checked: int
    items: Entries[LintItem]
    skipped: Entries[Skipped]


@dataclass(frozen=True, slots=True)
class DeclaredComponent:
    """A component in its section (`processors`), and where the text declares it."""

    section: str
    id: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ListedComponent:
    """A component in a pipeline's list; `section` is where it is declared, empty if it is not."""

    id: str
    section: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline, and its components in their order."""

    id: str
    signal: str
    line: int
    column: int
    receivers: Entries[ListedComponent]
    processors: Entries[ListedComponent]
    exporters: Entries[ListedComponent]


@dataclass(frozen=True, slots=True)
class Graph:
    """The pipelines as the collector resolves them. `incomplete` is set if lists have more names than are told."""

    components: Entries[DeclaredComponent]
    pipelines: Entries[Pipeline]
    incomplete: bool


class NotChecked(Unavailable):
    """No collector could be asked. The YAML may be valid or not."""

    code = "not_checked"


class ComponentNotInBuild(NotChecked):
    """A reduced build of that collector version lacks a component that the text needs and the official release has."""

    code = "component_not_in_build"
    no_fault = True
    may_pass = False

    def __init__(self, message: str, version: str) -> None:
        super().__init__(
            f"{message.removesuffix(_TEXT_NOT_CHECKED)}; the YAML was not checked: choose a collector version that has "
            f"it, or have {version} built whole"
        )


_TEXT_NOT_CHECKED: Final = "; the text was not checked"
YAML_IN_BODY: Final = ("body", "yaml")
TOO_COSTLY: Final = "too_costly"
"""The checker's word for a text that it does not take on, or that took more than a text may."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A text, the collector version that it is for (None for the default one), and how the collector runs with it.

    `files` are the texts that stand for `${file:PATH}`, by path. `loc` and `version_loc` are the parts of the request
    that name the text and its version.
    """

    yaml: str
    version: str | None
    env: Mapping[str, str]
    feature_gates: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    loc: tuple[str, ...] = YAML_IN_BODY
    version_loc: tuple[str, ...] = ("body", "version")

    def question(self) -> dict[str, object]:
        """The fields of the collector's operations on a text."""
        return {"yaml": self.yaml, "env": dict(self.env), "files": dict(self.files)}


class TooCostly(Invalid):
    """The collector would take too long over the text, or too much memory. It was not checked.

    A stored version's text is not in the body: there, `at` is the part of the request that names the text.
    """

    code = "yaml_too_costly"
    at = YAML_IN_BODY


class CollectorVersionNotInstalled(Invalid):
    """The request names a collector that this deployment does not have; the message lists those that it has."""

    code = "collector_version_not_installed"


class YamlInvalid(Invalid):
    """The collector does not accept the YAML; `errors` are its findings."""

    code = "yaml_invalid"

    def __init__(self, findings: Sequence[Finding]) -> None:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__(
            f"The collector does not accept this YAML: {findings[0].message}{more}",
            [
                FieldError(YAML_IN_BODY, finding.message, finding.component_path, finding.line, finding.column)
                for finding in findings
            ],
        )


class LintNotPossible(Invalid):
    """The request names an official release, which has no linter: it gives verdicts and nothing more."""

    code = "lint_not_possible"
    at = ("body", "version")

    def __init__(self, version: str) -> None:
        super().__init__(
            f"Collector {version} is an official release, which has no linter: validate with it, or lint with a "
            "version that the list of collector versions shows with `can.lint`"
        )


class NoGraph(Invalid):
    """The collector cannot read the text, so nobody can say what it connects."""

    code = "no_graph"
    at = YAML_IN_BODY


class NotLintable(Invalid):
    """The request cannot be linted: not YAML, an unknown context, or too many expressions."""

    code = "not_lintable"
