"""Every endpoint with the connection to AWS failing at each of its calls in turn, as connections do.

As `test_faults`, with real sockets: the requests are the same, and so is what is wrong with how they end. A connection
is refused, ended before the request was read, reset before and after the request was carried out, cut in the head and
in the body of the answer, or brings half a body that says it is whole, or what is no HTTP. It stays silent, stalls in
the body, and answers when everybody has gone.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from tests.trust.aws_faults import Fault, SocketKind
from tests.trust.every_request import ROWS, Bench, Row
from tests.trust.socket_faults import KINDS, SHORT_SECONDS, TIMED_KINDS, socket_bench, waiting
from tests.trust.verdicts import clean, problems_of

# All faults take a quarter of an hour; without that, each call of each row meets one, and the ways take turns.
ALL: Final = "HEADGATE_TRUST_FAULTS" in os.environ
WAYS: Final = [(kind, once) for kind in KINDS for once in (True, False)]
TIMED_WAYS: Final = [(kind, once) for kind in TIMED_KINDS for once in (True, False)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with socket_bench(tmp_path_factory.mktemp("state")) as bench:
        yield bench


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_connection_that_breaks_at_any_call_ends_as_it_should(row: Row, bench: Bench) -> None:
    problems_at_each_call(row, bench, WAYS)


@pytest.mark.parametrize("row", ROWS if ALL else ROWS[::8], ids=str)
def test_a_connection_that_says_nothing_at_any_call_ends_as_it_should(row: Row, bench: Bench) -> None:
    with waiting(bench, SHORT_SECONDS):
        problems_at_each_call(row, bench, TIMED_WAYS)


def problems_at_each_call(row: Row, bench: Bench, ways: Sequence[tuple[SocketKind, bool]]) -> None:
    undisturbed = clean(row, bench)
    faults = [
        Fault(kind, at, once)
        for at in range(undisturbed.calls)
        for kind, once in (ways if ALL else [ways[(ROWS.index(row) + at) % len(ways)]])
    ]
    problems = list(problems_of(row, bench, faults, undisturbed))
    assert not problems, "\n".join([f"{undisturbed.calls} calls", *problems])
