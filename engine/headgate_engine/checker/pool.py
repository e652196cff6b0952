"""The check processes of one collector: kept warm, handed out one question at a time, replaced before they wear out."""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.errors import (
    SHUT_DOWN,
    CheckerBusy,
    CheckerFailed,
    Exceeded,
    NoChecker,
    ProcessFailed,
    Refused,
    Retired,
    not_started,
)
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.spawn import InterpreterEnds

logger = logging.getLogger(__name__)


class Pool:
    """Thread-safe. Everything slow, starting a process and ending one, happens in threads of its own.

    From its first question on, a process serves one organization, noted in `_tenants`. An organization without a
    process takes one that has read nothing yet; a spare of those is always ready. If more than `max_bound` processes
    are bound to organizations, the one that was idle for longest ends. The sets say where a process stands:

    - `_serving`: from being ready to being taken out. One that fails on a question is taken out at once.
    - `_idle`: serving, and no question holds it; the last one given back comes last.
    - `_worn`: serving, until its replacement is ready.
    - `_leaving`: replaced; whoever holds it takes it out.

    No more than `max_asking` may ask at once (see `Turns`), so every question finds a process or room for one.
    """

    def __init__(self, binary: Path, limits: Limits, *, max_asking: int, max_bound: int) -> None:
        self._binary = binary
        self._limits = limits
        self._max_asking = max_asking
        self._max_bound = max_bound
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._serving: set[Child] = set()
        self._tenants: dict[Child, str] = {}
        self._worn: set[Child] = set()
        self._leaving: set[Child] = set()
        self._starting = 0
        self._wanting = 0
        self._starts_failed = 0
        self._why_not_started = ProcessFailed("")
        self._no_start_before = 0.0
        self._has_checker = True
        self._closed = False
        self._retired = False

    def warm(self) -> None:
        """Start what is missing, without waiting for it."""
        with self._changed:
            self._start_missing()

    def pids(self) -> list[int]:
        """The processes that serve now."""
        with self._changed:
            return [child.pid for child in self._serving]

    def held_by(self) -> str:
        """The walls around a process that serves now; empty if none does."""
        with self._changed:
            return next((child.held_by for child in self._serving), "")

    def has_idle(self) -> bool:
        """True if a process waits for a question."""
        with self._changed:
            return bool(self._idle)

    def ask(self, asker: Asker, op: str, fields: Mapping[str, object], ends: float | None = None) -> dict[str, object]:
        """The result of one operation, by a process of that organization, before `ends` by the monotonic clock.

        Raises Refused, CheckerFailed, Retired, CheckerBusy and NoChecker.
        """
        child = self._take(asker.organization_id, math.inf if ends is None else ends)
        try:
            seconds = self._limits.request_seconds if ends is None else ends - time.monotonic()
            result = child.ask(op, fields, seconds, asker.meanwhile)
        except Exceeded:
            self._drop(child)
            logger.warning("checker_exceeded", extra={"op": op, "pid": child.pid})
            raise
        except Refused:
            self._give_back(child)
            raise
        except ProcessFailed as error:
            crash = child.crash()
            self._drop(child)
            logger.warning("checker_failed", extra={"op": op, "pid": child.pid, "reason": str(error)})
            answered = child.usage.calls > 0
            raise CheckerFailed(f"The collector's checker {error}", crash, answered=answered) from error
        except BaseException:
            # Its answer may still come, and would be taken for the answer to the next question.
            self._drop(child)
            raise
        self._give_back(child)
        return result

    def close(self) -> None:
        """End every process. Waiting questions get CheckerFailed."""
        with self._changed:
            self._closed = True
            idle, asked = list(self._idle), self._serving - set(self._idle)
            self._forget(*self._serving)
            self._changed.notify_all()
        for child in idle:
            child.kill()
        for child in asked:
            child.interrupt()

    def rest(self) -> None:
        """End every process, unless a question needs one. The next question starts one."""
        with self._changed:
            if not (self._starting or self._wanting or self._serving - set(self._idle)):
                for child in list(self._idle):
                    self._take_out(child)

    def is_at_rest(self) -> bool:
        """True if there is no process, and none is starting or requested."""
        with self._changed:
            return not (self._starting or self._wanting or self._serving)

    def retire(self) -> None:
        """End every process, one that answers a question after that. Questions that wait get Retired."""
        with self._changed:
            self._closed = self._retired = True
            self._leaving |= self._serving
            for child in list(self._idle):
                self._take_out(child)
            self._changed.notify_all()

    def _take(self, organization_id: str, ends: float) -> Child:
        begun = time.monotonic()
        deadline = min(begun + self._limits.start_seconds, ends)
        with self._changed:
            failed_before = self._starts_failed
            self._wanting += 1
            try:
                while True:
                    if not self._has_checker:
                        raise NoChecker("This collector has no check command")
                    if self._retired:
                        raise Retired("The collector was replaced")
                    if self._closed:
                        raise CheckerFailed(SHUT_DOWN)
                    if child := self._idle_for(organization_id):
                        return child
                    if self._starts_failed == failed_before:
                        self._start_missing()
                    if not self._starting and not self._may_serve(organization_id):
                        raise not_started(self._why_not_started)
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise CheckerBusy(f"The checker was busy for {time.monotonic() - begun:.0f} s")
                    self._changed.wait(left)
            finally:
                self._wanting -= 1
                self._start_missing()

    def _may_serve(self, organization_id: str) -> bool:
        return any(self._tenants.get(child) in (organization_id, None) for child in self._serving)

    def _idle_for(self, organization_id: str) -> Child | None:
        """A process of that organization, else one that has read nothing, which now belongs to it.

        If there are several, it takes the one that was used last, so that they do not all wear out at the same time.
        """
        for tenant in (organization_id, None):
            for child in [idle for idle in reversed(self._idle) if self._tenants.get(idle) == tenant]:
                if not child.alive():
                    logger.warning("checker_died_idle", extra={"pid": child.pid})
                    self._take_out(child)
                    continue
                self._idle.remove(child)
                self._tenants[child] = organization_id
                return child
        return None

    def _give_back(self, child: Child) -> None:
        with self._changed:
            if child in self._leaving or child not in self._serving:
                self._take_out(child)
            else:
                self._idle.append(child)
                usage = child.usage
                is_worn = usage.calls >= self._limits.recycle_calls or usage.rss_bytes >= self._limits.recycle_bytes
                if is_worn and child not in self._worn and self._may_start():
                    self._worn.add(child)
                    self._start(replacing=child)
                if len(self._tenants) > self._max_bound:
                    self._retire_one()
            self._changed.notify_all()

    def _drop(self, child: Child) -> None:
        with self._changed:
            self._take_out(child)
            self._start_missing()
            self._changed.notify_all()

    def _take_out(self, child: Child) -> None:
        self._forget(child)
        _in_background(child.kill)

    def _forget(self, *children: Child) -> None:
        for child in children:
            self._serving.discard(child)
            self._worn.discard(child)
            self._leaving.discard(child)
            self._tenants.pop(child, None)
            if child in self._idle:
                self._idle.remove(child)

    def _retire_one(self) -> bool:
        """End the bound process that was idle for longest. Returns False if all are in use."""
        for child in self._idle:
            if child in self._tenants:
                self._take_out(child)
                return True
        return False

    def _start_missing(self) -> None:
        """Have as many fresh processes as there are waiting questions, and at least the spares."""
        unread = sum(child not in self._tenants for child in self._idle) + self._starting
        needed = max(self._limits.spares, self._wanting, 0 if self._serving else 1)
        for _ in range(needed - unread):
            full = len(self._serving) + self._starting >= self._max_asking + self._limits.spares
            if not self._may_start() or (full and not self._retire_one()):
                return
            self._start(replacing=None)

    def _may_start(self) -> bool:
        return not self._closed and self._has_checker and time.monotonic() >= self._no_start_before

    def _start(self, replacing: Child | None) -> None:
        self._starting += 1
        _in_background(lambda: self._start_one(replacing))

    def _start_one(self, replacing: Child | None) -> None:
        try:
            child = Child.start(self._binary, self._limits)
        except (NoChecker, ProcessFailed) as error:
            self._not_started(error, replacing)
            return
        except InterpreterEnds:
            # Nobody asks any more.
            return
        with self._changed:
            self._starting -= 1
            if self._closed:
                self._take_out(child)
                return
            self._serving.add(child)
            self._idle.append(child)
            if replacing is not None and replacing in self._serving:
                self._leaving.add(replacing)
                if replacing in self._idle:
                    self._take_out(replacing)
            self._changed.notify_all()

    def _not_started(self, error: NoChecker | ProcessFailed, replacing: Child | None) -> None:
        with self._changed:
            self._starting -= 1
            self._starts_failed += 1
            if isinstance(error, NoChecker):
                self._has_checker = False
            else:
                self._why_not_started = error
                # Otherwise each request would try again to start a checker that cannot start.
                self._no_start_before = time.monotonic() + self._limits.retry_start_seconds
                logger.error("checker_not_started", extra={"reason": str(error)})
            if replacing is not None:
                self._worn.discard(replacing)
            self._changed.notify_all()


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="checker", daemon=True).start()
