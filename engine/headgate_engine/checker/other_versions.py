"""The check processes of the versions beside the default one: of few versions at once, and of none for long."""

import dataclasses
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Final

from headgate_engine.checker.errors import SHUT_DOWN, CheckerFailed
from headgate_engine.checker.installed import BinaryIdentity, identity
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.pool import Pool

# An upgrade check asks two.
_MAX_VERSIONS: Final = 2


class OtherVersions:
    """Thread-safe. The first question of a version starts a process; it ends after `idle_seconds` without a question.

    If more versions than two have processes, those of the version that was asked least recently end at once. A binary
    that was replaced is another one: its predecessor's processes end with the question that they answer.
    """

    def __init__(self, limits: Limits, *, max_asking: int) -> None:
        self._limits = dataclasses.replace(limits, spares=0)
        self._max_asking = max_asking
        self._lock = threading.Lock()
        # The one that was asked last comes last. A pool without processes is small, and stays.
        self._pools: OrderedDict[BinaryIdentity, Pool] = OrderedDict()
        self._asked_at: dict[BinaryIdentity, float] = {}
        self._timer: threading.Timer | None = None
        self._closed = False

    def pool(self, path: Path) -> Pool:
        """The pool of that binary, for a question. Raises Unusable if there is no such file, and CheckerFailed."""
        asked = identity(path)
        with self._lock:
            if self._closed:
                raise CheckerFailed(SHUT_DOWN)
            replaced = [binary for binary in self._pools if binary.path == path and binary != asked]
            retired = [self._pools.pop(binary) for binary in replaced]
            pool = self._pools.get(asked) or Pool(path, self._limits, max_asking=self._max_asking, max_bound=1)
            self._pools[asked] = pool
            self._pools.move_to_end(asked)
            self._asked_at = {binary: self._asked_at.get(binary, 0) for binary in self._pools}
            self._asked_at[asked] = time.monotonic()
            crowded_out = list(self._pools.values())[:-_MAX_VERSIONS]
            self._set_timer()
        for outdated in retired:
            outdated.retire()
        for unused in crowded_out:
            unused.rest()
        return pool

    def pids(self, path: Path) -> list[int]:
        """The processes of that binary that serve now."""
        with self._lock:
            pool = self._pools.get(identity(path))
        return pool.pids() if pool else []

    def end(self, path: Path) -> None:
        """End the processes of the binary with that path, which is about to go."""
        with self._lock:
            pools = [self._pools.pop(binary) for binary in list(self._pools) if binary.path == path]
        for pool in pools:
            pool.close()

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()

    def _set_timer(self) -> None:
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(self._limits.idle_seconds, self._rest)
            self._timer.daemon = True
            self._timer.start()

    def _rest(self) -> None:
        with self._lock:
            self._timer = None
            since = time.monotonic() - self._limits.idle_seconds
            idle = [pool for binary, pool in self._pools.items() if self._asked_at[binary] <= since]
            asked_since = len(idle) < len(self._pools)
        for pool in idle:
            pool.rest()
        # A question that was asked since may still wait for its turn, and then start a process.
        if asked_since or not all(pool.is_at_rest() for pool in idle):
            with self._lock:
                self._set_timer()
