"""Each function's role allows what the function calls in all the other tests here, and nothing else. Runs last."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import calls
from tests.support.aws import read_template
from tests.support.calls import Call
from tests.support.policies import lacking, roles, unused

pytestmark = pytest.mark.end_to_end

OURS = read_template()


def test_no_function_lacks_a_permission(recorded_calls: Path) -> None:
    assert lacking(calls.read(recorded_calls), roles(OURS)) == []


def test_no_function_has_a_permission_that_it_never_uses(recorded_calls: Path, whole_suite: bool) -> None:
    made = calls.read(recorded_calls)
    if whole_suite:
        assert unused(made, roles(OURS)) == []
    else:
        # A part of the suite does not make every call: only check that calls are counted.
        assert len(unused(made, roles(OURS))) < len(unused([], roles(OURS)))


def test_a_missing_permission_and_a_superfluous_one_are_told() -> None:
    table = OURS.name_of("IdentityTable")
    known = Call("IdentityFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", ("rate#",), ("rate#",))
    given = {"IdentityFunction": roles(OURS)["IdentityFunction"]}

    assert lacking([known], given) == []
    assert "IdentityFunction lacks dynamodb:Scan" in lacking([replace(known, action="dynamodb:Scan")], given)[0]
    assert "IdentityFunction lacks dynamodb:UpdateItem" in lacking([replace(known, leading_keys=("token#",))], given)[0]
    assert [one for one in unused([], given) if one not in unused([known], given)] == [
        f"IdentityFunction, RateWindows: dynamodb:UpdateItem on dynamodb:::{table} (rate#*)"
    ]


def test_changing_a_record_of_changes_is_denied() -> None:
    table = OURS.name_of("IdentityTable")
    change = Call("ApplicationFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", ("audit#",), ("audit#",))

    assert "denied by TheRecordOfChangesIsAppendOnly" in lacking([change], roles(OURS))[-1]
