"""How long an assignment takes until hosts run it, simulated: by the interval at rest and the number of hosts.

Each host learns of it with its next message, and sends four more while it applies the version. The stage of API Gateway
takes 4,000 messages a second, and a host repeats a refused one as opamp-go does: after half a second, and half as long
again each time. Baseline: the interval at rest and the time to apply, the most that it takes without a throttle.
"""

import heapq
import random

from headgate.opamp import decision

A_SECOND = 4_000
AT_ONCE = 4_000
# Measured by bench_rollout: the supervisor waits for ten of them.
APPLIES_SECONDS = 14.0
# After the answer with the version: it is applying, it has applied, its health, a heartbeat.
AFTERWARDS = (0.1, APPLIES_SECONDS, APPLIES_SECONDS + 0.1, APPLIES_SECONDS + 20)
APPLIED = 1
FIRST_BACKOFF, LONGEST_BACKOFF = 0.5, 60.0


def main() -> None:
    print(f"{'hosts':>8} {'at rest':>8} {'median s':>9} {'p99 s':>7} {'last s':>7} {'refused':>9} {'baseline s':>11}")
    for hosts in (1_000, 10_000, 100_000):
        for at_rest in (60, 120, 300):
            seconds, refused = applied(hosts, at_rest, random.Random(hosts + at_rest))
            median, p99 = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
            baseline = at_rest + APPLIES_SECONDS
            print(
                f"{hosts:>8,} {at_rest:>6} s {median:>9.0f} {p99:>7.0f} {seconds[-1]:>7.0f} {refused:>9,}"
                f" {baseline:>11.0f}"
            )


def applied(hosts: int, at_rest: int, chance: random.Random) -> tuple[list[float], int]:
    """When each host reported that it runs the version, in order, and how many messages were refused."""
    shortest = 1 - decision._JITTER
    # Time of a message, its host, which of the host's messages it is (-1 the one that learns), and earlier attempts.
    coming = [
        (chance.random() * at_rest * (shortest + (1 - shortest) * chance.random()), host, -1, 0)
        for host in range(hosts)
    ]
    heapq.heapify(coming)
    left, since, refused, ended = float(AT_ONCE), 0.0, 0, []
    while coming:
        at, host, which, tries = heapq.heappop(coming)
        left, since = min(AT_ONCE, left + (at - since) * A_SECOND), at
        if left < 1:
            refused += 1
            wait = min(LONGEST_BACKOFF, FIRST_BACKOFF * 1.5**tries) * (0.5 + chance.random())
            heapq.heappush(coming, (at + wait, host, which, tries + 1))
            continue
        left -= 1
        if which == -1:
            for place, after in enumerate(AFTERWARDS):
                heapq.heappush(coming, (at + after, host, place, 0))
        elif which == APPLIED:
            ended.append(at)
    return ended, refused


if __name__ == "__main__":
    main()
