"""What is wrong with how a request ended that met a fault: with its answer, what it left, and the next one's answer."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from httpx2 import Response

from headgate_opamp import opamp_pb2 as wire
from tests.support.faults.aws_faults import PLANTED, Fault
from tests.support.faults.bench import Bench
from tests.support.faults.faulty_proxy import GARBAGE
from tests.support.faults.rows import ONCE, Row

OUTAGES: Final = (502, 503, 429)


@dataclass(frozen=True)
class Clean:
    """How a row's request ends with nothing wrong: its answer, what it changes, and how many calls to AWS it takes."""

    response: Response
    changes: set[str]
    calls: int
    looked: str


def clean(row: Row, bench: Bench) -> Clean:
    bench.reset(row)
    response = bench.send(row)
    assert response.status_code == row.status, response.text
    changes, calls = bench.changed(), len(bench.aws.calls)
    return Clean(response, changes, calls, bench.look(row))


def problems_of(row: Row, bench: Bench, faults: Iterable[Fault], clean: Clean) -> Iterator[str]:
    """What is wrong with the row's request, made from the same state once for each of the faults."""
    for fault in faults:
        bench.reset(row)
        response = bench.send(row, fault)
        call = bench.aws.calls[fault.at] if fault.at < len(bench.aws.calls) else "no such call"
        for problem in judged(row, fault, response, bench, clean):
            yield f"{fault} ({call}): {problem}"


def judged(row: Row, fault: Fault, response: Response, bench: Bench, clean: Clean) -> Iterator[str]:
    made = bench.changed()
    seen = _seen(response)
    if not bench.aws.hit:
        yield "the fault did not happen"
    if fault.kind == "denied" and bench.aws.calls[fault.at].service == "s3" and response.status_code == row.denied:
        # Nobody can tell it from what is not there.
        if made:
            yield f"{seen}, and yet {sorted(made)}"
    elif response.status_code == row.status:
        if made != clean.changes:
            yield f"{seen}, and yet {made ^ clean.changes} is otherwise"
        if row.reads and _text(row, response) != _text(row, clean.response):
            yield f"{seen}, and not what is read at other times"
    elif fault.once:
        yield f"a passing fault was noticed: {seen}"
    else:
        yield from outage_problems(row, response)
        if made and not (row.in_steps or (fault.may_be_done and made == clean.changes)):
            yield f"{seen}, and half saved: {sorted(made)}"
    for secret in secrets(bench):
        if secret in response.text:
            yield f"{secret[:8]}… is in the answer"
        if secret in bench.log.getvalue():
            yield f"{secret[:8]}… is in the log"
    if fault.once:
        return
    again = bench.send(row)
    if again.status_code != row.status and not (made and again.status_code in row.repeated):
        yield f"after {seen}, the same again: {_seen(again)}"
    elif row.taken_back and again.status_code in row.repeated:
        return
    elif (row.in_steps or row.settles or row.headers == ONCE) and bench.changed() != clean.changes:
        yield f"after {seen}, the same again came to {bench.changed() ^ clean.changes}"
    elif row.settles and _answered(again) != _answered(clean.response):
        yield f"after {seen}, the same again got {again.content!r}, and not {clean.response.content!r}"
    elif (looked := bench.look(row)) != clean.looked:
        yield f"after {seen}, the same again came to {looked}, and not {clean.looked}"


def _text(row: Row, response: Response) -> str:
    """The answer without what each has anew."""
    text = re.sub(r'name="form_key" value="[^"]+"', "", response.text)
    return re.sub(r'"at":"[^"]+"', "", text) if row.timed else text


def _answered(response: Response) -> wire.ServerToAgent:
    """The answer to a message, without the interval of heartbeats: it is told again to who repeats a message."""
    answer = wire.ServerToAgent.FromString(response.content)
    answer.ClearField("connection_settings")
    return answer


def outage_problems(row: Row, response: Response) -> Iterator[str]:
    """What is wrong with the answer that an outage gets."""
    if response.status_code not in OUTAGES:
        yield f"this is not an outage: {_seen(response)}"
        return
    if not response.headers.get("retry-after", "").isdigit():
        yield f"{response.status_code} without Retry-After"
    expected = "text/html; charset=utf-8" if row.page else "application/problem+json"
    if response.headers["content-type"] != expected:
        yield f"{response.headers['content-type']} for {response.status_code}"
    if row.page:
        missing = [one for one in ('<a class="brand"', 'role="alert"', "</html>") if one not in response.text]
        missing += [one for one in ("content-security-policy", "x-frame-options") if one not in response.headers]
        if missing:
            yield f"the page has no {missing}"


def _seen(response: Response) -> str:
    """The answer in a line; of a page, what it warns of."""
    told = re.search(r'role="alert">([^<]*)', response.text)
    return f"{response.status_code} {told[1] if told else response.text[:200]}"


def secrets(bench: Bench) -> list[str]:
    """What nobody else may read: words of AWS, and the credentials of the world."""
    planted = [PLANTED, GARBAGE[6:40].decode()]
    return [*planted, *bench.secrets]
