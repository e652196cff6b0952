"""What `make deploy` says of a parameter before it builds."""

import pytest

from headgate_local import template
from scripts import parameters
from scripts.stack import Stop


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        # SAM leaves out what a template does not have, and says nothing.
        ("RateLimit", "61", "There is no parameter RateLimit; is it RateLimitPerMinute?"),
        ("Oops", "61", "There is no parameter Oops; template.yaml has them"),
        ("RateLimitPerMinute", "0", "RateLimitPerMinute cannot be '0': it has to be at least 1. Requests a credential"),
        ("FleetHeartbeatSeconds", "301", "it has to be at most 300"),
        ("FleetLimit", "many", "it has to be a whole number"),
        ("FirstOrganization", "", "it has to have at least 1 characters"),
        ("FirstOrganization", "x" * 201, "it has to have at most 200 characters"),
        ("Architecture", "amd64", "it has to be one of x86_64, arm64"),
        ("LogRetentionDays", "8", "it has to be one of 7, 14, 30"),
        ("FirstAdminEmail", "ada", "FirstAdminEmail cannot be 'ada': it has another form. Address of its first Admin"),
    ],
)
def test_a_slip_is_told_with_what_would_do(name: str, value: str, said: str) -> None:
    with pytest.raises(Stop) as told:
        parameters.check({name: value})

    assert said in str(told.value)


def test_what_the_template_says_itself_is_taken() -> None:
    ours = template.read()

    parameters.check({name: str(ours.parameter(name).get("Default", "")) for name in ours.parameters()})
    parameters.check({"FirstAdminEmail": "ada@example.com", "RunnerZone": "eu-central-1b", "RollBackOnAlarms": "no"})
