"""The queue of an organization's test runs: a limited number runs at once, the others wait in order.

The queue of all organizations (`EVERYONE`) has the places that they share, and in it organizations wait, each once.

Every change of it is one conditional write of the whole queue, so it is exact under any concurrency. A run that begins
gets a place. Its execution is named by the run, so starting it twice starts it once.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Self

from headgate.foundation import errors
from headgate.foundation.ids import is_id
from headgate_engine.testing.model import LONGEST

_RETRY_AFTER: Final = 15
EVERYONE: Final = "everyone"
# By then a run with a place has been prepared, and one that has ended has given its place back.
PLACE_SETTLED_AFTER: Final = timedelta(minutes=2)


class TooManyRuns(errors.TooManyRequests):
    """The organization has as many waiting runs as it may have; one of them has to begin first."""

    code = "too_many_runs_waiting"

    def __init__(self, waiting: int, shared: int = 0) -> None:
        """With `shared`, all of so many places that organizations share are taken."""
        waits = f"{waiting} test runs of this organization wait for their turn"
        why = f", and all {shared} places that the organizations of this service share are taken" if shared else ""
        super().__init__(f"{waits}{why}; try again later", _RETRY_AFTER)


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """A place among the runs that are running, and since when the run has it."""

    run_id: str
    since: datetime

    def is_lost(self, at: datetime) -> bool:
        """True if the run has held its place for longer than any run can take."""
        return at > self.since + LONGEST


@dataclass(frozen=True, slots=True)
class Queue:
    """The runs that are running, and those that wait. `revision` is 0 for a queue that is not stored yet."""

    organization_id: str
    revision: int = 0
    places: tuple[QueuePlace, ...] = ()
    waiting: tuple[str, ...] = ()

    def place(self, run_id: str) -> QueuePlace | None:
        return next((place for place in self.places if place.run_id == run_id), None)

    def holds(self, run_id: str) -> bool:
        return run_id in self.waiting or self.place(run_id) is not None

    def require_room(self, max_waiting: int, places: int) -> None:
        """Raises TooManyRuns when another run could neither begin nor wait."""
        if len(self.waiting) >= max_waiting and (self.waiting or len(self.places) >= places):
            raise TooManyRuns(len(self.waiting))

    def enter(self, run_id: str) -> Self:
        """Add what waits at the end, if it does not wait yet."""
        return self if run_id in self.waiting else replace(self, waiting=(*self.waiting, run_id))

    def leave(self, *run_ids: str) -> Self:
        return replace(
            self,
            places=tuple(place for place in self.places if place.run_id not in run_ids),
            waiting=tuple(run_id for run_id in self.waiting if run_id not in run_ids),
        )

    def without_lost(self, at: datetime) -> Self:
        """Without the places of runs that never ended."""
        return replace(self, places=tuple(place for place in self.places if not place.is_lost(at)))

    def next(self, places: int, jobs: int) -> str | None:
        """The run whose turn it is, if there is a place for it; with so many jobs under way, the first that is none."""
        if len(self.places) >= places:
            return None
        jobs_wait = sum(is_id("job", place.run_id) for place in self.places) >= jobs
        return next((run_id for run_id in self.waiting if not (jobs_wait and is_id("job", run_id))), None)

    def begin(self, run_id: str, at: datetime) -> Self:
        """Give the run a place."""
        left = self.leave(run_id)
        return replace(left, places=(*left.places, QueuePlace(run_id, at)))
