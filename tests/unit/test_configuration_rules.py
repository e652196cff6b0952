"""Who sees a draft, and what its ETags are."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from headgate.configurations.model import Configuration, Version
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal

AT: Final = datetime(2026, 11, 26, tzinfo=UTC)
OWNER, AUTHOR = Principal("user", "usr_5", "Olga"), Principal("user", "usr_3", "Ann")
SHARED: Final = Configuration("cfg_1", "org_1", "edge", None, "otelcol-contrib", OWNER, 2, 1, AT, AT)
DRAFT: Final = Version(2, "draft", "0.139.0", "otelcol-contrib", None, AUTHOR, AT, AT, None, 4, "text")


def calling(principal: Principal) -> Caller:
    return Caller("org_1", "Acme", principal, "token", "contributor", "read_write", "tok_1")


def test_a_draft_is_seen_by_its_author_and_the_owner() -> None:
    assert SHARED.shows_version(calling(AUTHOR), DRAFT)
    assert SHARED.shows_version(calling(OWNER), DRAFT)


@pytest.mark.parametrize("stranger", ["usr_1", "usr_4", "usr_9"])
def test_a_draft_of_another_member_is_hidden_whatever_the_order_of_their_ids(stranger: str) -> None:
    somebody = calling(Principal("user", stranger, "Bob"))

    assert not SHARED.shows_version(somebody, DRAFT)
    assert SHARED.shows_version(somebody, replace(DRAFT, status="published"))


def test_each_change_of_a_draft_makes_the_next_etag() -> None:
    edited = DRAFT.edit("other text", None, AT)

    assert [edited.etag, edited.edit(None, "0.158.0", AT).etag] == ['"2-5"', '"2-6"']


def test_publishing_is_one_change_and_the_etag_of_the_draft_before_it_stays_known() -> None:
    published = DRAFT.publish(AT)

    assert (published.etag, published.draft_etag) == ('"2-5"', DRAFT.etag)
    assert published.publish(AT) == published
