"""The life of a run or a job from its launch to its end, however it ends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation import clock, errors, metrics
from headgate.foundation.caller import Caller
from headgate.runs import files, turns
from headgate.runs.execution import AlreadyFinal, Changeable

E = TypeVar("E", bound=Changeable)

_COUNTED: Final[dict[str, metrics.OfDeployment]] = {"Success": "RunsSuccess", "Done": "RunsSuccess", "Fail": "RunsFail"}


class TestingUnavailable(errors.Unavailable):
    """No run can be started just now, and none was started."""

    __test__ = False
    code = "testing_unavailable"
    detail = "The testing service is unavailable; no test run was made, try again shortly"


class Store(Protocol[E]):
    """The table of runs, or of jobs."""

    def find(self, execution_id: str, /) -> E | None: ...

    def unfinished(self) -> Iterator[E]: ...

    def update(self, after: E, /) -> None: ...

    def delete(self, execution_id: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Lifecycle(Generic[E]):
    """The operations on runs, or on jobs. `inputs` are the names of the files that `launch` stores."""

    noun: str
    store: Store[E]
    inputs: tuple[str, ...]

    def seen(self, caller: Caller, execution_id: str, at: datetime) -> E | None:
        """One read. None if the caller does not see it.

        On the way, one that has waited long is begun if it can be, and one that is lost ends as Error.
        """
        execution = self.store.find(execution_id)
        if execution is None or not execution.visible_to(caller, at):
            return None
        lost = execution.is_lost(at) or (execution.has_waited(at) and not turns.advance(execution))
        return self.finish_lost(execution) if lost else execution

    def launch(self, execution: E, write: Callable[[], None]) -> None:
        """Let `write` store it with its files, and let it take its turn.

        Raises TestingUnavailable, and what `write` and `turns.enter` raise; nothing stays then.
        """
        try:
            write()
            turns.enter(execution)
        except (BotoCoreError, ClientError) as error:
            self._forget(execution)
            raise TestingUnavailable from error
        except errors.HeadgateError:
            self._forget(execution)
            raise

    def end(self, after: E, update: Callable[[], None] | None = None) -> None:
        """Store it as it ended, by `update` if there is one, and make room for the next. Raises AlreadyFinal.

        What is secret goes first: if this fails, it has not ended, and whatever was to end it is repeated.
        """
        files.delete_secrets(after)
        if update is None:
            self.store.update(after)
        else:
            update()
        self._count(after)
        turns.make_room(after.organization_id, after.id)

    def finish_lost(self, lost: E) -> E:
        """End one whose execution is gone as Error. Returns it as it ended."""
        ended = self.interrupt(lost)
        turns.make_room(lost.organization_id, lost.id)
        return ended

    def interrupt(self, lost: E) -> E:
        """The same, without making room for the next."""
        files.delete_secrets(lost)
        ended = lost.fail(f"The {self.noun} was interrupted: its execution did not come to an end", clock.now())
        try:
            self.store.update(ended)
        except AlreadyFinal:
            return self.store.find(lost.id) or ended
        self._count(ended)
        return ended

    def interrupt_begun(self) -> tuple[set[str], set[str]]:
        """Interrupt every one that does not wait for its turn.

        Returns the organizations of all that had not ended, and the ids of those that have now.
        """
        unfinished = list(self.store.unfinished())
        begun = [execution for execution in unfinished if not turns.waits(execution)]
        for execution in begun:
            self.interrupt(execution)
        return {execution.organization_id for execution in unfinished}, {execution.id for execution in begun}

    def _count(self, ended: E) -> None:
        metrics.count(_COUNTED.get(ended.status, "RunsError"))

    def _forget(self, execution: E) -> None:
        """An execution that cannot be removed now ends as Error when it is next read, and expires."""
        try:
            self.store.delete(execution.id)
            files.delete_secrets(execution)
            files.delete(execution.id, *self.inputs)
            turns.make_room(execution.organization_id, execution.id)
        except (BotoCoreError, ClientError, errors.Contention):
            return
