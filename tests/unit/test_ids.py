from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headgate.foundation.ids import id_pattern, is_id, new_id

A_TIME = datetime(2026, 11, 20, 19, 32, 2, 123000, UTC)


def test_an_id_is_a_typeid_of_a_uuid_of_version_7() -> None:
    _, _, suffix = new_id("cfg", A_TIME).partition("_")
    number = 0
    for character in suffix:
        number = number << 5 | "0123456789abcdefghjkmnpqrstvwxyz".index(character)
    uuid = UUID(int=number)

    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert uuid.int >> 80 == int(A_TIME.timestamp() * 1000)


def test_ids_sort_as_the_times_of_their_making() -> None:
    ids = [new_id("run", A_TIME + timedelta(milliseconds=step)) for step in range(50)]

    assert sorted(ids) == ids


def test_ids_of_one_moment_sort_as_they_were_made() -> None:
    ids = [new_id("cfg", A_TIME) for _ in range(10_000)]

    assert sorted(set(ids)) == ids


def test_ids_that_threads_make_at_one_moment_differ() -> None:
    with ThreadPoolExecutor(4) as threads:
        ids = set(threads.map(lambda _: new_id("cfg", A_TIME), range(10_000)))

    assert len(ids) == 10_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cfg",
        "cfg_",
        "cfg_01jz",
        "org_01jz0000000000000000000000",
        "cfg_81jz0000000000000000000000",
        "cfg_01jz00000000000000000000u0",
        "cfg_01JZ0000000000000000000000",
        "cfg_01jz0000000000000000000000 ",
        "cfg_01jz000000000000000000000é",
    ],
)
def test_what_has_not_the_shape_of_an_id_is_none(text: str) -> None:
    assert not is_id("cfg", text)


def test_the_documented_pattern_means_the_same_shape() -> None:
    import re

    made = new_id("flt")

    assert is_id("flt", made)
    assert re.fullmatch(id_pattern("flt"), made)
