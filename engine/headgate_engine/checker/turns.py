"""Order of questions to the collector: fair between credentials, and never all processes for one organization."""

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerBusy
from headgate_engine.checker.limits import Limits


@dataclass(eq=False, slots=True)
class _Place:
    """One question's place in its credential's queue."""

    asker: Asker
    granted: bool = False


class Turns:
    """Thread-safe. As many questions at once as there are processes; each credential has a queue of its own.

    The queues are served in turn, so a credential with a hundred questions delays another's by one at most. One
    credential uses all processes but one at most, and one organization all but the spares: a question that takes its
    full time delays nobody else.
    """

    def __init__(self, limits: Limits) -> None:
        self.total = limits.processes + limits.spares
        self._of_organization = limits.processes
        self._of_credential = max(1, limits.processes - 1)
        self._limits = limits
        self._changed = threading.Condition()
        # In the order of their turns.
        self._queues: dict[str, deque[_Place]] = {}
        self._organizations: Counter[str] = Counter()
        self._credentials: Counter[str] = Counter()

    @contextmanager
    def turn(self, asker: Asker, ends: float | None = None) -> Iterator[None]:
        """Hold a turn, before `ends` by the monotonic clock.

        Raises CheckerBusy when none came in time, or when too many of this credential wait already.
        """
        self._enter(asker, math.inf if ends is None else ends)
        try:
            yield
        finally:
            with self._changed:
                self._count(asker, -1)
                self._grant()

    def waiting(self) -> int:
        """The questions that wait for their turn."""
        with self._changed:
            return sum(map(len, self._queues.values()))

    def _enter(self, asker: Asker, ends: float) -> None:
        begun = time.monotonic()
        deadline = min(begun + self._limits.queue_seconds, ends)
        place = _Place(asker)
        with self._changed:
            queue = self._queues.setdefault(asker.credential_id, deque())
            if len(queue) >= self._limits.queue_length:
                raise CheckerBusy(
                    f"{len(queue)} questions of this credential already wait for the checker; let one end first"
                )
            queue.append(place)
            try:
                self._grant()
                while not place.granted:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise CheckerBusy(f"The checker was busy for {time.monotonic() - begun:.0f} s")
                    self._changed.wait(left)
            except BaseException:
                self._withdraw(place)
                raise

    def _withdraw(self, place: _Place) -> None:
        if place.granted:
            self._count(place.asker, -1)
            self._grant()
            return
        queue = self._queues[place.asker.credential_id]
        queue.remove(place)
        if not queue:
            del self._queues[place.asker.credential_id]

    def _grant(self) -> None:
        while self._grant_one():
            self._changed.notify_all()

    def _grant_one(self) -> bool:
        for credential, queue in self._queues.items():
            place = queue[0]
            if self._may_ask(place.asker):
                queue.popleft()
                place.granted = True
                self._count(place.asker, 1)
                # Its next question waits until every other credential has had a turn.
                del self._queues[credential]
                if queue:
                    self._queues[credential] = queue
                return True
        return False

    def _may_ask(self, asker: Asker) -> bool:
        return (
            self._credentials.total() < self.total
            and self._organizations[asker.organization_id] < self._of_organization
            and self._credentials[asker.credential_id] < self._of_credential
        )

    def _count(self, asker: Asker, by: int) -> None:
        for counter, key in ((self._organizations, asker.organization_id), (self._credentials, asker.credential_id)):
            counter[key] += by
            if not counter[key]:
                del counter[key]
