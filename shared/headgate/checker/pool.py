"""The check processes of one collector: kept warm, handed out one question at a time, replaced before they wear out."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from headgate.checker.asker import Asker
from headgate.checker.child import Child
from headgate.checker.errors import CheckerBusy, CheckerFailed, NoChecker, ProcessFailed, Refused
from headgate.checker.limits import Limits

logger = logging.getLogger(__name__)


class Pool:
    """Thread-safe. Everything slow, starting a process and ending one, happens in threads of its own.

    A process is in `_serving` from being ready to being taken out, and in `_idle` too while nobody holds it. A worn
    process (in `_worn`) goes on serving until its replacement is ready; then it is in `_leaving`, and whoever holds it
    takes it out. A process that fails on a question is taken out at once and another is started for its place.
    """

    def __init__(self, binary: Path, limits: Limits) -> None:
        self._binary = binary
        self._limits = limits
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._serving: set[Child] = set()
        self._worn: set[Child] = set()
        self._leaving: set[Child] = set()
        self._starting = 0
        self._starts_failed = 0
        self._why_not_started = ""
        self._no_start_before = 0.0
        self._has_checker = True
        self._closed = False

    def warm(self) -> None:
        """Start what is missing, without waiting for it."""
        with self._changed:
            self._start_missing()

    def pids(self) -> list[int]:
        """The processes that serve now."""
        with self._changed:
            return [child.pid for child in self._serving]

    def has_idle(self) -> bool:
        """Whether a process waits for a question."""
        with self._changed:
            return bool(self._idle)

    def ask(
        self,
        asker: Asker,  # noqa: ARG002  every process serves everyone still
        op: str,
        fields: Mapping[str, object],
        seconds: float,
    ) -> dict[str, object]:
        """The result of one operation, by whichever process is free.

        Raises Refused, CheckerFailed, CheckerBusy and NoChecker.
        """
        child = self._take()
        try:
            result = child.ask(op, fields, seconds)
        except Refused:
            self._give_back(child)
            raise
        except ProcessFailed as error:
            self._drop(child)
            logger.warning("checker_failed op=%s pid=%d reason=%s", op, child.pid, error)
            raise CheckerFailed(f"The collector's checker {error}") from error
        except BaseException:
            # It may yet answer, and the next one who asks would take that for theirs.
            self._drop(child)
            raise
        self._give_back(child)
        return result

    def close(self) -> None:
        """End every process. Whoever waits gets CheckerFailed."""
        with self._changed:
            self._closed = True
            idle, asked = list(self._idle), self._serving - set(self._idle)
            self._forget(*self._serving)
            self._changed.notify_all()
        for child in idle:
            child.kill()
        for child in asked:
            child.interrupt()

    def _take(self) -> Child:
        deadline = time.monotonic() + self._limits.queue_seconds
        with self._changed:
            failed_before = self._starts_failed
            while True:
                if not self._has_checker:
                    raise NoChecker("This collector has no check command")
                if self._closed:
                    raise CheckerFailed("The collector's checker is shut down")
                # The last one given back first: the others stay young, so that they do not all wear out together.
                while self._idle:
                    child = self._idle.pop()
                    if child.alive():
                        return child
                    logger.warning("checker_died_idle pid=%d", child.pid)
                    self._take_out(child)
                if self._starts_failed == failed_before:
                    self._start_missing()
                if not self._serving and not self._starting:
                    raise CheckerFailed(f"The collector's checker {self._why_not_started}")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise CheckerBusy(f"The checker was busy for {self._limits.queue_seconds:g} s")
                self._changed.wait(left)

    def _give_back(self, child: Child) -> None:
        with self._changed:
            if child in self._leaving or child not in self._serving:
                self._take_out(child)
                return
            self._idle.append(child)
            usage = child.usage
            is_worn = usage.calls >= self._limits.recycle_calls or usage.rss_bytes >= self._limits.recycle_bytes
            if is_worn and child not in self._worn and self._may_start():
                self._worn.add(child)
                self._start(replacing=child)
            self._changed.notify()

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
            if child in self._idle:
                self._idle.remove(child)

    def _start_missing(self) -> None:
        while len(self._serving) + self._starting < self._limits.processes and self._may_start():
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
            self._changed.notify()

    def _not_started(self, error: NoChecker | ProcessFailed, replacing: Child | None) -> None:
        with self._changed:
            self._starting -= 1
            self._starts_failed += 1
            self._why_not_started = str(error)
            if isinstance(error, NoChecker):
                self._has_checker = False
            else:
                # A checker that cannot start would otherwise be tried again by each request.
                self._no_start_before = time.monotonic() + self._limits.retry_start_seconds
                logger.error("checker_not_started reason=%s", error)
            if replacing is not None:
                self._worn.discard(replacing)
            self._changed.notify_all()


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="checker", daemon=True).start()
