"""The answer of a check that may have lint and policies beside the verdict."""

from typing import Self

from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema

from headgate.policies.checking import Checked, Part
from headgate.policies.model import PolicyResult
from headgate.validation.model import Finding, LintResult, Variable


class PartProblem(BaseModel):
    """Why a part could not be had: `code` and `detail` of the problem that the part alone would be answered with."""

    code: str
    detail: str


class NotChecked(BaseModel):
    """This part was not checked."""

    problem: PartProblem


class ValidationResult(BaseModel):
    """The verdict. `lint` and `policies` are there if the request asks for them."""

    valid: bool
    version: str
    distribution: str
    errors: list[Finding]
    warnings: list[Finding]
    environment: list[Variable]
    lint: LintResult | NotChecked | SkipJsonSchema[None] = None
    policies: PolicyResult | NotChecked | SkipJsonSchema[None] = None

    @classmethod
    def of(cls, checked: Checked) -> Self:
        verdict = checked.verdict
        check = cls(
            valid=verdict.valid,
            version=verdict.version,
            distribution=verdict.distribution,
            errors=list(verdict.errors),
            warnings=list(verdict.warnings),
            environment=list(verdict.environment),
        )
        # What is not set is not part of the answer.
        if checked.lint is not None:
            check.lint = checked.lint.result or _not_checked(checked.lint)
        if checked.policies is not None:
            check.policies = checked.policies.result or _not_checked(checked.policies)
        return check


def _not_checked(part: Part[LintResult] | Part[PolicyResult]) -> NotChecked:
    assert part.problem is not None
    return NotChecked(problem=PartProblem(code=part.problem.code, detail=part.problem.detail))
