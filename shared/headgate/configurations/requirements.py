"""Requirements of an organization for publishing a version, and those that a version does not meet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.foundation import errors
from headgate.foundation.errors import FieldError
from headgate_engine.policies.model import PolicyResult

MOST_MISSING: Final = 100
"""A refusal lists no more."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A requirement that is not fulfilled, what is missing, and what to do about it."""

    requirement: str
    missing: Sequence[FieldError]
    ways_out: Sequence[str]

    def sentence(self) -> str:
        more = f" (and {len(self.missing) - 1} more)" if len(self.missing) > 1 else ""
        return f"{self.requirement}: {self.missing[0].message.rstrip('.')}{more}. {'. '.join(self.ways_out)}"


class PublishRequirements(errors.Conflict):
    """Publishing needs what the organization requires; `errors` has what is missing."""

    code = "publish_requirements"

    def __init__(self, unmet: Sequence[Unmet]) -> None:
        super().__init__(". ".join(requirement.sentence() for requirement in unmet))
        self.errors = tuple(missing for requirement in unmet for missing in requirement.missing)[:MOST_MISSING]


def of_policies(result: PolicyResult) -> Unmet:
    """For a result that has not passed."""
    return Unmet(
        "Your organization publishes only versions without policy errors", _broken(result), [*_mending(result)]
    )


def of_tests(missing: Sequence[FieldError], *, asked: bool) -> Unmet:
    """For a version that lacks evidence that its tests passed; `missing` is not empty.

    `asked` if the request asks for it, and not the organization.
    """
    run = "Run all of them: `POST /testing/suites` with the version and without `tests`"
    ways_out = {
        "no_tests": "Save one first: `PUT …/tests/{name}`",
        "test_not_passed": "Mend the version or the test, and run all tests again: `POST /testing/suites`",
    }
    way_out = ways_out.get(missing[0].code or "", run)
    who = "The request publishes" if asked else "Your organization publishes"
    return Unmet(f"{who} only versions whose tests passed", missing, [way_out])


def _mending(result: PolicyResult) -> Iterator[str]:
    """The ways out of findings and failed rules for which neither the text nor a comment helps."""
    if any(finding.counts for finding in result.findings):
        yield "Fix what is found in a draft, or suppress it with a comment if that is allowed"
    if any(rule.severity == "error" for rule in result.failed_rules):
        yield "An Admin has to mend the rules that could not be evaluated, with `headgate policy set`: no comment helps"


def _broken(result: PolicyResult) -> list[FieldError]:
    place = ("policies",)
    missing = [
        FieldError(place, finding.message, finding.component_path, finding.line, finding.column, finding.code)
        for finding in result.findings
        if finding.counts
    ]
    missing += [
        FieldError(place, f"The rule {rule.name} could not be evaluated: {rule.error}", code=rule.name)
        for rule in result.failed_rules
        if rule.severity == "error"
    ]
    return missing
