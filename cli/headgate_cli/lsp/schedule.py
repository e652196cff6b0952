"""Scheduling of checks: after a pause in typing, the newest text only, and below the limit of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from headgate_cli.api import Entity
from headgate_cli.errors import Failed
from headgate_cli.lsp.sources import CheckLimited, is_about_the_text

# A pause in typing; a shorter one where a check costs nobody a request.
PAUSE: Final = 0.15
_PAUSE_WITHOUT_LIMIT: Final = 0.05
# The service takes 60 requests a minute of a credential. In any minute there are at most BURST + 60 / EVERY checks,
# which leaves some for the reference and for other commands.
BURST: Final = 8
EVERY: Final = 1.5
# How soon an outage is looked at again, and at the latest.
_RETRY: Final = 5.0
_LATEST_RETRY: Final = 60.0


class CheckPace:
    """Spreads the checks of a minute: a few at once, then one in EVERY seconds."""

    def __init__(self, *, is_limited: bool) -> None:
        self._is_limited = is_limited
        # When the next check could begin if none had been made ahead of time.
        self._due = 0.0

    def delay(self, now: float) -> float:
        """The seconds until a check may begin."""
        return max(self._due - (BURST - 1) * EVERY - now, 0.0) if self._is_limited else 0.0

    def took(self, now: float) -> None:
        """A check begins."""
        self._due = max(self._due, now) + EVERY


@dataclass(frozen=True)
class CheckOutcome:
    """The end of a check: an answer, a refusal of this text, or an outage."""

    answer: Entity | None = None
    refusal: Failed | None = None
    outage: str = ""
    # The limit of requests: the check goes on by itself after so many seconds.
    resumes: float = 0.0


class Checks:
    """The checks of all open texts. It belongs to one event loop."""

    def __init__(
        self,
        check: Callable[[str], Entity],
        *,
        is_limited: bool,
        publish: Callable[[str, int, CheckOutcome], Awaitable[None]],
    ) -> None:
        """`publish` gets an address, the number of the change that was checked, and the outcome."""
        self._check = check
        self._publish = publish
        self._pace = CheckPace(is_limited=is_limited)
        self.pause = PAUSE if is_limited else _PAUSE_WITHOUT_LIMIT
        # Two: the newest text need not wait for the answer about an older one.
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="check")
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._paused_until = 0.0

    def request(self, uri: str, number: int, content: str, *, pause: float) -> None:
        """Check a text after a pause; an older check of the same text is given up."""
        self.forget(uri)
        task = asyncio.get_running_loop().create_task(self._run(uri, number, content, pause))
        self._tasks[uri] = task
        task.add_done_callback(lambda done: self._ended(uri, done))

    def forget(self, uri: str) -> None:
        """Give up the check of a text; its answer is dropped."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        for uri in list(self._tasks):
            self.forget(uri)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, uri: str, number: int, content: str, pause: float) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(pause)
        retry = _RETRY
        while True:
            while (wait := max(self._pace.delay(loop.time()), self._paused_until - loop.time())) > 0:
                await asyncio.sleep(wait)
            self._pace.took(loop.time())
            outcome = await loop.run_in_executor(self._threads, self._outcome, content)
            if outcome.resumes:
                self._paused_until = max(self._paused_until, loop.time() + outcome.resumes)
            await self._publish(uri, number, outcome)
            if not outcome.outage:
                return
            if not outcome.resumes:
                await asyncio.sleep(retry)
                retry = min(retry * 2, _LATEST_RETRY)

    def _outcome(self, content: str) -> CheckOutcome:
        """The outcome of one check, in a thread."""
        try:
            return CheckOutcome(answer=self._check(content))
        except CheckLimited as limited:
            return CheckOutcome(outage=limited.reason, resumes=limited.seconds)
        except Failed as error:
            return CheckOutcome(refusal=error) if is_about_the_text(error) else CheckOutcome(outage=error.message)

    def _ended(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(uri) is task:
            del self._tasks[uri]
        if not task.cancelled():
            # Raises what the task raised, for the loop's handler.
            task.exception()
