"""Refusals of suites."""

from collections.abc import Sequence

from headgate.foundation import errors


class NoTests(errors.Invalid):
    """A suite of a version that has no tests."""

    code = "no_tests"
    at = ("body", "version_number")

    def __init__(self, n: int) -> None:
        super().__init__(f"Version {n} has no tests; save one with `PUT …/versions/{n}/tests/{{name}}` first")


class TestsNotFound(errors.Invalid):
    """A suite of tests that the version does not have."""

    __test__ = False
    code = "test_not_found"

    def __init__(self, n: int, unknown: Sequence[tuple[int, str]]) -> None:
        wrong = [
            errors.FieldError(("body", "tests", place), f"Version {n} has no test '{name}'") for place, name in unknown
        ]
        super().__init__(wrong[0].message, wrong)
