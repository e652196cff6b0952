"""How long tokens of fleets are valid, and which generations of them may be."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, get_args

import pytest

from headgate.fleets import service, tokens
from headgate.fleets.model import ExpiresIn, Fleet, FleetObserved, FleetToken, Grace
from headgate.foundation.principal import Principal
from headgate.identity.model import NotAuthenticated

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
MOMENT: Final = timedelta(milliseconds=1)
FLEET: Final = Fleet(
    *("flt_1", "org_1", "edge", "server-supervisor", "1y", AT + timedelta(days=365), 1, None),
    *(Principal("user", "usr_1", "Ann"), AT),
)
TOKEN: Final = FleetToken("flt_1", "org_1", AT)


def test_a_token_lives_as_long_as_was_chosen() -> None:
    days = {"180d": 180, "1y": 365, "2y": 730}

    for choice in get_args(ExpiresIn):
        assert service.expiry(choice, AT) == (AT + timedelta(days=days[choice]) if choice in days else None)


@pytest.mark.parametrize(("grace", "days"), [("none", None), ("1d", 1), ("7d", 7), ("unused", 30)])
def test_the_token_before_ends_with_the_grace_and_not_after_its_own_end(grace: Grace, days: int | None) -> None:
    end = None if days is None else AT + timedelta(days=days)

    assert service.previous_ends_at(grace, None, AT) == end
    assert service.previous_ends_at(grace, AT + timedelta(days=31), AT) == end
    assert service.previous_ends_at(grace, AT + timedelta(hours=1), AT) == (end and AT + timedelta(hours=1))


def test_a_token_ends_at_the_moment_of_its_expiry() -> None:
    assert tokens.require_valid(TOKEN, "flt_1", AT - MOMENT) == TOKEN
    assert tokens.require_valid(replace(TOKEN, expires_at=None), "flt_1", AT + timedelta(days=9_999)).expires_at is None
    expired = [replace(FLEET, token_expires_at=AT).token_expired(at) for at in (AT - MOMENT, AT, AT + MOMENT)]
    assert expired == [False, True, True]
    lasting = replace(TOKEN, expires_at=None)
    for token, fleet_id in ((TOKEN, "flt_1"), (lasting, "flt_0"), (lasting, "flt_2"), (None, "flt_1")):
        with pytest.raises(NotAuthenticated):
            tokens.require_valid(token, fleet_id, AT)


@pytest.mark.parametrize(
    "credential",
    ["", "ft_", "ft_" + "a" * 42, "ft_" + "a" * 44, "tf_" + "a" * 43, "FT_" + "a" * 43, "ft_" + "a" * 42 + "é"],
)
def test_what_is_no_token_is_refused_before_it_is_looked_up(credential: str) -> None:
    assert len(tokens.hash_of_credential("ft_" + "a" * 43)) == 64
    with pytest.raises(NotAuthenticated):
        tokens.hash_of_credential(credential)


def test_the_id_of_a_token_is_what_hosts_are_stored_with() -> None:
    assert tokens.id_of("0123456789abcdef" * 4) == "0123456789abcdef"


def test_a_token_opens_its_group_or_else_its_fleet() -> None:
    assert (TOKEN.scope, replace(TOKEN, deployment_id="dep_1").scope) == ("flt_1", "dep_1")


def test_only_a_managed_fleet_takes_configurations() -> None:
    FLEET.require_managed()
    with pytest.raises(FleetObserved):
        replace(FLEET, mode="observed").require_managed()
