"""What `make deploy` says of a parameter before it builds."""

import pytest

from scripts import parameters
from scripts.stack import Stop
from tests.support.aws import read_template


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        # SAM leaves out what a template does not have, and says nothing.
        ("RateLimit", "61", "There is no parameter RateLimit; did you mean RateLimitPerMinute?"),
        ("Oops", "61", "There is no parameter Oops; template.yaml lists the parameters"),
        (
            "RateLimitPerMinute",
            "0",
            "RateLimitPerMinute cannot be '0': it must be at least 1. Requests that a credential",
        ),
        ("FleetHeartbeatSeconds", "301", "it must be at most 300"),
        ("FleetLimit", "many", "it must be a whole number"),
        ("FirstOrganization", "", "it must have at least 1 characters"),
        ("FirstOrganization", "x" * 201, "it must have at most 200 characters"),
        ("Architecture", "amd64", "it must be one of x86_64, arm64"),
        ("LogRetentionDays", "8", "it must be one of 7, 14, 30"),
        ("FirstAdminEmail", "ada", "FirstAdminEmail cannot be 'ada': it does not match ^("),
    ],
)
def test_a_slip_is_told_with_what_would_do(name: str, value: str, said: str) -> None:
    with pytest.raises(Stop) as told:
        parameters.check({name: value})

    assert said in str(told.value)


def test_what_the_template_says_itself_is_taken() -> None:
    ours = read_template()

    parameters.check({name: str(ours.parameter(name).get("Default", "")) for name in ours.parameters()})
    parameters.check({"FirstAdminEmail": "ada@example.com", "RunnerZone": "eu-central-1b", "RollBackOnAlarms": "no"})
