"""The answer of a check that may have lint, policies and pipelines beside the verdict."""

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from headgate_engine.errors import Invalid, Unavailable, code_of
from headgate_engine.policies.model import PolicyResult
from headgate_engine.validation.checking import CheckResult
from headgate_engine.validation.findings import ListedFinding
from headgate_engine.validation.grouping import FindingGroup, grouped
from headgate_engine.validation.model import (
    CheckRequest,
    Finding,
    Graph,
    LintResult,
    StartResult,
    Variable,
    WrappedConfiguration,
)
from headgate_engine.wire.inputs import CollectorVersion, FeatureGates, Files, Input, Variables, Yaml


class CheckedText(Input):
    """A whole configuration, the collector version that validates it, and values for its `${env:NAME}`.

    Values of variables that components read themselves, such as `AWS_REGION`, are in their environment as well.
    """

    yaml: Yaml
    version: CollectorVersion | None = None
    env: Variables = Field(default_factory=dict)
    files: Files = Field(default_factory=dict)
    feature_gates: FeatureGates = Field(default_factory=list)

    def request(self) -> CheckRequest:
        return CheckRequest(self.yaml, self.version, self.env, tuple(self.feature_gates), self.files)


class LintedText(Input):
    """A whole configuration, and the collector version whose parsers check its OTTL."""

    yaml: Yaml
    version: CollectorVersion | None = None
    feature_gates: FeatureGates = Field(default_factory=list)


class PartProblem(BaseModel):
    """The reason why the part is missing: `code` and `detail` of the problem that it alone would be answered with."""

    code: str
    detail: str

    @classmethod
    def of(cls, problem: Invalid | Unavailable) -> Self:
        return cls(code=code_of(problem), detail=problem.detail)


class PartNotChecked(BaseModel):
    """This part was not checked."""

    problem: PartProblem


class ValidationResult(BaseModel):
    """The verdict. `lint`, `policies`, `graph` and `start` are there if the request asks for them.

    `findings` has everything that was found in all of these, in the order of the text, each mistake once. `wrapped` is
    there if the text is not a configuration, but has one inside. `reduced` is there, and true, if the build that
    answered lacks components of the official release: none of them is in the text.
    """

    valid: bool
    version: str
    distribution: str
    errors: list[Finding]
    warnings: list[Finding]
    environment: list[Variable]
    findings: list[ListedFinding]
    valid_on_host: bool | None = None
    reduced: bool | SkipJsonSchema[None] = None
    wrapped: WrappedConfiguration | SkipJsonSchema[None] = None
    lint: LintResult | PartNotChecked | SkipJsonSchema[None] = None
    policies: PolicyResult | PartNotChecked | SkipJsonSchema[None] = None
    graph: Graph | PartNotChecked | SkipJsonSchema[None] = None
    start: StartResult | PartNotChecked | SkipJsonSchema[None] = None

    @classmethod
    def of(cls, checked: CheckResult) -> Self:
        verdict = {name: getattr(checked.verdict, name) for name in cls.model_fields if hasattr(checked.verdict, name)}
        parts = {name: getattr(checked, name) for name in ("lint", "policies", "graph", "start")}
        answers = {name: part.result or _not_checked(part.problem) for name, part in parts.items() if part is not None}
        # What is not set is not part of the answer.
        for name in ("reduced", "wrapped"):
            if not verdict[name]:
                del verdict[name]
        return cls.model_validate(verdict | answers | {"findings": checked.findings()})


def _not_checked(problem: Invalid | Unavailable) -> PartNotChecked:
    return PartNotChecked(problem=PartProblem.of(problem))


class NamedResult(ValidationResult):
    """The verdict on one of several texts."""

    name: str | None


class NamedProblem(PartNotChecked):
    """One of several texts has no verdict: it may be valid or not."""

    name: str | None


class ValidationResults(BaseModel):
    """One entry for each text, in the order of the request.

    `groups` are there if the request asks for them: what was found in all texts, an entry for each kind.
    """

    items: list[NamedResult | NamedProblem]
    groups: list[FindingGroup] | SkipJsonSchema[None] = None

    @classmethod
    def of(
        cls,
        names: Sequence[str | None],
        results: Iterable[CheckResult | Invalid | Unavailable],
        *,
        groups: bool = False,
    ) -> Self:
        items = [_named(name, result) for name, result in zip(names, results, strict=True)]
        if not groups:
            return cls(items=items)
        return cls(
            items=items, groups=grouped([item.findings if isinstance(item, NamedResult) else [] for item in items])
        )


def _named(name: str | None, result: CheckResult | Invalid | Unavailable) -> NamedResult | NamedProblem:
    if isinstance(result, CheckResult):
        return NamedResult(name=name, **ValidationResult.of(result).model_dump(exclude_unset=True))
    return NamedProblem(name=name, problem=PartProblem.of(result))
