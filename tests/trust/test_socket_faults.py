"""Every endpoint and page with the connection to AWS failing at each of their calls in turn, as connections do.

As `test_faults`, with real sockets: the requests are the same, and so is what is wrong with how they end. A connection
is refused, ended before the request was read, reset before and after the request was carried out, cut in the head and
in the body of the answer, or brings half a body that says it is whole, or what is no HTTP. It stays silent, stalls in
the body, and answers when everybody has gone.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.support import sizes
from tests.support.endpoints import ROWS
from tests.support.faults.aws_faults import Fault
from tests.support.faults.bench import Bench
from tests.support.faults.every_message import MESSAGES
from tests.support.faults.every_page import PAGES
from tests.support.faults.rows import Row
from tests.support.faults.socket_faults import KINDS, TIMED_KINDS, socket_bench, waiting
from tests.support.faults.verdicts import clean, problems_of

pytestmark = pytest.mark.sized

EVERY_ROW: Final = [*ROWS, *PAGES, *MESSAGES]
WAYS: Final = [(kind, once) for kind in KINDS for once in (True, False)]
# Each costs the time-out, or that three times.
# tests/trust/test_faults.py goes through every row that writes on each change, with faults of AWS.
BROKEN_ROWS: Final = sizes.either(EVERY_ROW[::8], EVERY_ROW)
WAITING_ROWS: Final = sizes.either(EVERY_ROW[::54], EVERY_ROW)
# For the kinds that last until then; the others keep the time-outs of production. A busy machine is not so slow twice.
SHORT_SECONDS: Final = sizes.either(0.6, 0.3)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with socket_bench(tmp_path_factory.mktemp("state")) as bench:
        yield bench


@pytest.mark.parametrize("row", BROKEN_ROWS, ids=str)
def test_a_connection_that_breaks_at_any_call_ends_as_it_should(row: Row, bench: Bench) -> None:
    undisturbed = clean(row, bench)
    number = BROKEN_ROWS.index(row)
    faults = [
        Fault(kind, at, once)
        for at in sizes.turn(range(undisturbed.calls), number)
        for kind, once in sizes.turn(WAYS, number)
    ]
    problems = list(problems_of(row, bench, faults, undisturbed))
    assert not problems, "\n".join([f"{undisturbed.calls} calls", *problems])


@pytest.mark.parametrize("row", WAITING_ROWS, ids=str)
def test_a_connection_that_says_nothing_at_any_call_ends_as_it_should(row: Row, bench: Bench) -> None:
    number = WAITING_ROWS.index(row)
    with waiting(bench, SHORT_SECONDS):
        undisturbed = clean(row, bench)
        # Six rows: each kind once at every attempt, and once at the first alone.
        faults = [
            Fault(kind, at, once=(place + TIMED_KINDS.index(kind)) % 2 == 0)
            for place, at in enumerate(sizes.turn(range(undisturbed.calls), number), number // len(TIMED_KINDS))
            for kind in sizes.turn(TIMED_KINDS, number)
        ]
        problems = list(problems_of(row, bench, faults, undisturbed))
    assert not problems, "\n".join([f"{undisturbed.calls} calls", *problems])
