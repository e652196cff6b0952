"""A webhook to its item and back: by the converter, and copied field by field, which is the baseline.

python -m tests.benchmarks.bench_stored [--rounds 25]

Processor time of this process, a thousand objects at once, in turns.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final, cast

from headgate.foundation import clock
from headgate.foundation.principal import Principal
from headgate.storage.items import Item
from headgate.storage.stored import Stored, declared
from headgate.webhooks import store  # noqa: F401  this import registers how webhooks are stored
from headgate.webhooks.model import Webhook

_AT_ONCE: Final = 1_000
_AT: Final = datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
WEBHOOK: Final = Webhook(
    id="whk_1",
    organization_id="org_1",
    name="on-call",
    host="hooks.example.com",
    format="cloudevents",
    types=["instance.apply_failed", "instance.recovered"],
    fleet_ids=["flt_1", "flt_2"],
    enabled=True,
    target=b"sealed",
    secret=b"sealed",
    previous_secret=None,
    previous_until=_AT,
    created_by=Principal("user", "usr_1", "ann@example.com"),
    created_at=_AT,
    updated_at=_AT,
    revision=3,
)
DECLARED: Final[Stored[Webhook]] = next(form for form in declared() if form.cls is Webhook)


def written_by_hand(webhook: Webhook) -> Item:
    by = webhook.created_by
    until = webhook.previous_until
    return {
        "webhook_id": webhook.id,
        "organization_id": webhook.organization_id,
        "name": webhook.name,
        "host": webhook.host,
        "format": webhook.format,
        "types": list(webhook.types),
        "fleet_ids": list(webhook.fleet_ids),
        "enabled": webhook.enabled,
        "target": webhook.target,
        "secret": webhook.secret,
        "previous_secret": webhook.previous_secret,
        "previous_until": clock.rfc3339(until) if until else None,
        "created_by": {"kind": by.kind, "id": by.id, "name": by.name},
        "created_at": clock.rfc3339(webhook.created_at),
        "updated_at": clock.rfc3339(webhook.updated_at),
        "revision": webhook.revision,
    }


def read_by_hand(item: Item) -> Webhook:
    of = cast("dict[str, Any]", item)
    by, until = of["created_by"], of.get("previous_until")
    return Webhook(
        id=of["webhook_id"],
        organization_id=of["organization_id"],
        name=of["name"],
        host=of["host"],
        format=of["format"],
        types=of["types"],
        fleet_ids=of["fleet_ids"],
        enabled=of["enabled"] is True,
        target=of["target"],
        secret=of["secret"],
        previous_secret=of.get("previous_secret"),
        previous_until=clock.parse(until) if until else None,
        created_by=Principal(by["kind"], by["id"], by["name"]),
        created_at=clock.parse(of["created_at"]),
        updated_at=clock.parse(of["updated_at"]),
        revision=int(of["revision"]),
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=25)
    rounds = arguments.parse_args().rounds
    item = DECLARED.item(WEBHOOK)
    assert written_by_hand(WEBHOOK) == item, (written_by_hand(WEBHOOK), item)
    assert written_by_hand(read_by_hand(item)) == written_by_hand(DECLARED.read(item)) == item
    print(f"{'milliseconds for 1,000 webhooks':<34} {'by hand':>9} {'converter':>10} {'ratio':>7}")
    for name, by_hand, converted in (
        ("written", lambda: written_by_hand(WEBHOOK), lambda: DECLARED.item(WEBHOOK)),
        ("read", lambda: read_by_hand(item), lambda: DECLARED.read(item)),
    ):
        spent: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for way, times in zip((by_hand, converted), spent, strict=True):
                times.append(_milliseconds(way))
        base, ours = map(median, spent)
        print(f"{name:<34} {base:>9.2f} {ours:>10.2f} {ours / base:>6.2f}x")


def _milliseconds(way: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(_AT_ONCE):
        way()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
