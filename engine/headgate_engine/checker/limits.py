"""The numbers that bound the check processes."""

import os
from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on check processes: their number, time and memory.

    One organization may ask `processes` at once, and all together `spares` more. A spare is warm, has read nothing, and
    is for an organization that has no process yet. `queue_length` questions of a credential may wait; each occupies one
    of the server's 40 threads.

    `start_seconds`, or twice `request_seconds`, stays below the 30 seconds after which API Gateway gives up, so that
    even a request that hangs the checker and then the plain command gets our answer. (Nothing queues in Lambda.)

    A process is worn at `recycle_bytes` resident, of which some 280 MB are pages of the binary, shared by all. Near
    600 MB its garbage collector runs at every chance, and a question takes up to twice as long; the kernel ends it at
    `kill_bytes` of its own data.

    A process of a version beside the default one ends after `idle_seconds` without a question.
    """

    processes: int = 1
    spares: int = 0
    start_seconds: float = 10.0
    queue_seconds: float = 5.0
    queue_length: int = 8
    request_seconds: float = 10.0
    recycle_calls: int = 400
    recycle_bytes: int = 560 * MEBIBYTE
    kill_bytes: int = 700 * MEBIBYTE
    answer_bytes: int = 32 * MEBIBYTE
    retry_start_seconds: float = 1.0
    idle_seconds: float = 60.0


def in_lambda() -> bool:
    return "AWS_LAMBDA_FUNCTION_NAME" in os.environ


def confined_by_platform() -> bool:
    """True if the template says that the platform is the wall: a function with environments of one tenant each.

    Only then may a collector start without the kernel's means, which Lambda refuses. Elsewhere nothing starts
    without them, whatever the variable says.
    """
    return in_lambda() and os.environ.get("HEADGATE_CONFINED_BY") == "platform"


def default_limits() -> Limits:
    """A Lambda instance has one request at a time and one organization, so one process.

    Elsewhere one for each core, and two at least: one credential has one less.
    """
    if in_lambda():
        return Limits(processes=1)
    return Limits(processes=max(2, os.cpu_count() or 1), spares=1)
