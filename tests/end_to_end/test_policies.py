"""Each function's role allows what the function calls in all the other tests here, and nothing else. Runs last."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate_local import calls, template
from headgate_local.calls import Call
from tests.policies import lacking, permissions, unused

pytestmark = pytest.mark.end_to_end

OURS = template.read()


def test_no_function_lacks_a_permission(recorded_calls: Path) -> None:
    assert lacking(calls.read(recorded_calls), permissions(OURS)) == []


def test_no_function_has_a_permission_that_it_never_uses(recorded_calls: Path, whole_suite: bool) -> None:
    made = calls.read(recorded_calls)
    if whole_suite:
        assert unused(made, permissions(OURS)) == []
    else:
        # Of a part of the suite only this can be said: what was called is told apart from what was not.
        assert len(unused(made, permissions(OURS))) < len(unused([], permissions(OURS)))


def test_a_missing_permission_and_a_superfluous_one_are_told() -> None:
    table = OURS.name_of("IdentityTable")
    known = Call("IdentityFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", leading_key="credential#")
    given = [one for one in permissions(OURS) if one.function == "IdentityFunction"]

    assert lacking([known], given) == []
    assert "IdentityFunction lacks dynamodb:Scan" in lacking([replace(known, action="dynamodb:Scan")], given)[0]
    assert all("dynamodb:UpdateItem" not in one for one in unused([known], given))
    assert unused([], given) == sorted(map(str, given))


def test_changing_a_record_of_changes_is_denied() -> None:
    table = OURS.name_of("IdentityTable")
    change = Call("ApplicationFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", leading_key="audit#")

    assert "denied by TheRecordOfChangesIsAppendOnly" in lacking([change], permissions(OURS))[0]
