"""Hosts that count, as our supervisor reports it, and a plain model of what a group's series have to say of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headgate.foundation import clock
from headgate.instances.series import store
from headgate.instances.series.model import COVERED, HOUR, QUEUE, SLOT, Totals
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.stored import COMPRESSED_JSON
from headgate_local.moto_data import _stored
from tests.support.opamp_agent import Agent

RECEIVER, FILTER, EXPORTER = "logs|logs/audit|receiver/otlp", "logs|processor/filter", "logs|exporter/otlphttp"
KEYS = (RECEIVER, FILTER, EXPORTER)


def numbers(accepted: int) -> Mapping[str, list[int]]:
    """What a host counts that takes so many records, drops a tenth of them and loses a hundredth."""
    kept = accepted - accepted // 10
    failed = kept // 100
    return {
        RECEIVER: [accepted, 1, 0, 0, 0, 20 * accepted],
        FILTER: [accepted, 0, kept, 0, 0, 20 * accepted, 20 * kept],
        EXPORTER: [kept, 0, kept - failed, failed, 0, 0, 20 * kept, 40],
    }


@dataclass
class CountingHost:
    """What one host counts since its supervisor's start at `run`, and `ever`, over all of its supervisors."""

    run: int
    milliseconds: int = 0
    pipelines: int = 1
    more: dict[str, object] = field(default_factory=dict)
    of: dict[str, list[int]] = field(default_factory=dict)
    ever: Counter[tuple[str, int]] = field(default_factory=Counter)

    def counts(self, accepted: int, milliseconds: int) -> None:
        self.milliseconds += milliseconds
        counted = numbers(accepted)
        if self.pipelines > 1:
            of_all = range(self.pipelines)
            counted = {key.replace("logs", f"logs/{n}"): counted[key] for n in of_all for key in counted}
        for key, added in counted.items():
            before = self.of.get(key, [0] * (QUEUE + 1))
            added = [*added, *[0] * (QUEUE + 1 - len(added))]
            self.of[key] = [
                *(one + other for one, other in zip(before[:QUEUE], added[:QUEUE], strict=True)),
                added[QUEUE],
            ]
            self.ever.update({(key, place): number for place, number in enumerate(added[:QUEUE]) if number})

    def restarts(self, run: int) -> None:
        """Its supervisor starts again. What it had not told by then nobody will know."""
        self.run, self.milliseconds, self.of = run, 0, {}

    def totals(self) -> Totals:
        return Totals(self.run, self.milliseconds, {key: [*counted] for key, counted in self.of.items()})

    def report(self) -> bytes:
        told: dict[str, object] = {"run": self.run, "milliseconds": self.milliseconds, "of": self.of}
        return json.dumps({"v": 1, "supervisor": {"version": "0.5.0"}, "totals": told, **self.more}).encode()

    def tells(self, agent: Agent) -> None:
        agent.tells(self.report())


def image(
    instance_id: str, deployment_id: str, revision: int, at: int, totals: Totals, first_seen: int
) -> dict[str, Any]:
    """The item of an instance as a stream has it."""
    seen = clock.rfc3339(datetime.fromtimestamp(at, UTC))
    item: Item = {
        "instance_id": instance_id,
        "deployment_id": deployment_id,
        "first_seen_at": clock.rfc3339(datetime.fromtimestamp(first_seen, UTC)),
        "last_seen_at": seen,
        "revision": revision,
        "totals": COMPRESSED_JSON.write(totals),
    }
    return {name: _stored(attribute) for name, attribute in items.marshal(item).items()}


def sums(deployment_id: str, seconds: int) -> Counter[tuple[str, int]]:
    """What a group's buckets of so many seconds hold, by key and by the place of the number."""
    found: Counter[tuple[str, int]] = Counter()
    for key, counted in cells(deployment_id, seconds):
        found.update(
            {(key, place): number for place, number in enumerate(counted[:QUEUE]) if number and key != COVERED}
        )
    return found


def cells(deployment_id: str, seconds: int) -> Iterator[tuple[str, list[int]]]:
    for bucket in store.between(deployment_id, seconds, 0, 9_999_999_999):
        for key, of_key in bucket.cells.items():
            for counted in of_key.values():
                yield key, [*counted]


def require_sums(deployment_id: str, expected: Counter[tuple[str, int]]) -> None:
    """Both kinds of buckets hold exactly what was counted."""
    for seconds in (SLOT, HOUR):
        assert sums(deployment_id, seconds) == expected, seconds
