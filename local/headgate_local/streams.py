"""The streams of tables, and who reads them, in the place of Lambda's poller.

moto keeps every record of a stream for ever. Here a record is kept from the write that it tells of until it was taken;
what was not taken when the process is killed is not told, which costs the series their last seconds.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Event
from typing import Final, cast

from headgate_local.database import DatabaseChange
from headgate_local.handlers import FunctionError, Handler, invoke
from headgate_local.running import Local, in_background
from headgate_local.template import Node, Template

logger: Final = logging.getLogger("headgate_local")
# The longest that a person waits for a number here, where invocations cost nothing.
_LOOK_SECONDS: Final = 10.0
_MOST: Final = 100_000


@dataclass
class Stream:
    """A function's subscription to a table: changes of items whose sort keys begin with `prefix`, in their order.

    An item has to have the attributes `needed` after its change.
    """

    function: str
    place: str
    prefix: str
    needed: frozenset[str]
    batch: int
    records: deque[Mapping[str, Node]] = field(default_factory=lambda: deque(maxlen=_MOST))
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def note(self, before: DatabaseChange, after: DatabaseChange) -> None:
        """Note a change, if it is one of those."""
        if after.place != self.place or not self._is_followed(after):
            return
        images = {"OldImage": before.value, "NewImage": after.value}
        message: dict[str, Node] = {"SequenceNumber": str(next(self._numbers))}
        message |= {name: cast("Node", image) for name, image in images.items() if image is not None}
        self.records.append({"dynamodb": message})

    def take(self, handler: Handler) -> int:
        """Hand up to a batch to the function; what it could not do comes again. Returns how many it did.

        Raises FunctionError if it fails.
        """
        batch = [self.records[place] for place in range(min(self.batch, len(self.records)))]
        if not batch:
            return 0
        answer = cast("Mapping[str, Sequence[Mapping[str, str]]]", invoke(handler, {"Records": cast("Node", batch)}))
        failed = min((int(failure["itemIdentifier"]) for failure in answer["batchItemFailures"]), default=None)
        done = [entry for entry in batch if failed is None or _number(entry) < failed]
        for _ in done:
            self.records.popleft()
        return len(done)

    def _is_followed(self, after: DatabaseChange) -> bool:
        key = str(json.loads(after.key).get("sk", {}).get("S", ""))
        attributes = after.value if isinstance(after.value, dict) else {}
        return key.startswith(self.prefix) and self.needed <= attributes.keys()


_followed: Final[list[Stream]] = []
followers: Final[list[Callable[[DatabaseChange], None]]] = []
"""Called with each change, by the thread that wrote it."""


def note(before: DatabaseChange, after: DatabaseChange) -> None:
    """Note a change of an item that was written."""
    for follower in followers:
        follower(after)
    for stream in _followed:
        stream.note(before, after)


def of_template(template: Template) -> list[Stream]:
    """The streams that the template's functions read."""
    mappings = [
        entry for _, entry in template.of_type("AWS::Lambda::EventSourceMapping") if "StartingPosition" in entry
    ]
    return [_stream(template, cast("Mapping[str, Node]", mapping)) for mapping in mappings]


@contextmanager
def followed(template: Template) -> Iterator[list[Stream]]:
    """Changes are noted until the end of the `with` block."""
    streams = of_template(template)
    _followed.extend(streams)
    try:
        yield streams
    finally:
        for stream in streams:
            _followed.remove(stream)


@contextmanager
def part(local: Local) -> Iterator[None]:
    """Functions are told of changes until the end of the `with` block, and at its end of what they were not told."""
    handlers = {function.logical_id: local.handler(function) for function in local.template.functions()}
    with followed(local.template) as streams:
        tasks = [(f"stream of {each.function}", partial(_read, each, handlers[each.function])) for each in streams]
        with in_background(*tasks):
            yield


def _read(stream: Stream, handler: Handler, ended: Event) -> None:
    while True:
        last = ended.wait(_LOOK_SECONDS)
        try:
            while stream.take(handler):
                pass
        except FunctionError:
            logger.exception("stream_not_read", extra={"function": stream.function})
        if last:
            return


def _stream(template: Template, mapping: Mapping[str, Node]) -> Stream:
    table = cast("Mapping[str, Sequence[str]]", mapping["EventSourceArn"])["Fn::GetAtt"][0]
    function = cast("Mapping[str, str]", mapping["FunctionName"])["Ref"].removesuffix(".Alias")
    filters = cast("Mapping[str, Sequence[Mapping[str, str]]]", mapping["FilterCriteria"])["Filters"]
    pattern = json.loads(filters[0]["Pattern"])
    (prefix,) = (entry["prefix"] for entry in pattern["dynamodb"]["Keys"]["sk"]["S"])
    needed = frozenset(pattern["dynamodb"]["NewImage"])
    return Stream(function, f"table/{template.name_of(table)}", prefix, needed, int(str(mapping["BatchSize"])))


def _number(record: Mapping[str, Node]) -> int:
    return int(str(cast("Mapping[str, Node]", record["dynamodb"])["SequenceNumber"]))
