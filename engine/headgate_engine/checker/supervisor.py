"""All collectors of this machine behind one class."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from headgate_engine.checker import host_variables
from headgate_engine.checker.asker import ALONE, ON_A_TEXT, Asker
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.descriptions import Described, Descriptions, short
from headgate_engine.checker.errors import (
    NOT_IN_BUILD,
    SHUT_DOWN,
    CheckerFailed,
    NoChecker,
    NotInstalled,
    ProcessFailed,
    Refused,
    Retired,
    not_started,
)
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.other_versions import OtherVersions
from headgate_engine.checker.plain_command import PlainCommand, PlainVerdict
from headgate_engine.checker.pool import Pool
from headgate_engine.checker.turns import Turns
from headgate_engine.errors import NotReady


class Checker:
    """Every installed version's check processes and plain command, made when first asked for. Thread-safe."""

    def __init__(self, installed: Installed, default_version: str, limits: Limits) -> None:
        self.default_version = default_version
        self.collectors = installed
        self._limits = limits
        self._turns = Turns(limits)
        self._plain = PlainCommand(dataclasses.replace(limits, processes=self._turns.total))
        self._descriptions = Descriptions(limits)
        self._default_pool: Pool | None = None
        # While the default version is being built, first its first program and then the whole one.
        self._default_binary: Path | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._others = OtherVersions(limits, max_asking=self._turns.total)
        if installed.fetched is not None:
            installed.fetched.end_processes = self._others.end

    def warm(self) -> None:
        """Start the default version's processes in the background and return at once, whether or not it is there."""
        threading.Thread(target=self._warm, name="checker", daemon=True).start()

    def call(
        self,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        """The result of one operation; see `Collectors.call`."""
        ends = None if timeout is None else time.monotonic() + timeout
        with self._turns.turn(asker, ends):
            while True:
                # The binary may be replaced between the choice of a pool and the question.
                with contextlib.suppress(Retired):
                    binary = self._binary(version)
                    gates = fields.get("feature_gates") if op in ON_A_TEXT else None
                    variables = host_variables.plain(fields.get("env")) if op in ON_A_TEXT else {}
                    ask: _Ask
                    if gates or variables or op in ALONE:
                        ask = partial(self._ask_alone, binary, gates or [], variables, ends)
                    else:
                        ask = partial(self._ask_pool, binary, self._pool(version, binary), asker, ends)
                    if self.collectors.is_first(binary):
                        return self._ask_first(ask, op, fields, version)
                    return ask(op, fields)

    def _ask_pool(
        self, binary: Path, pool: Pool, asker: Asker, ends: float | None, op: str, fields: Mapping[str, object]
    ) -> dict[str, object]:
        """The result of one operation, by a process that answers several. Raises what `call` does."""
        try:
            return pool.ask(asker, op, fields, ends)
        except CheckerFailed as error:
            if not (error.crash and error.answered):
                raise
        # What an earlier text has begun may have crashed it: a fresh process tells whether this one does.
        return self._ask_alone(binary, [], {}, ends, op, fields)

    def _ask_alone(
        self,
        binary: Path,
        gates: object,
        variables: dict[str, str],
        ends: float | None,
        op: str,
        fields: Mapping[str, object],
    ) -> dict[str, object]:
        """The result of one operation, by a process of its own: gates, environment and what starts stay in a process.

        Raises what `call` does.
        """
        ends = ends or time.monotonic() + self._limits.request_seconds
        try:
            child = Child.start(binary, self._limits, env=variables, ends=ends)
        except ProcessFailed as error:
            raise not_started(error) from error
        try:
            if gates:
                child.ask("feature_gates", {"feature_gates": gates}, ends - time.monotonic())
            asked = {name: value for name, value in fields.items() if name != "feature_gates"}
            return child.ask(op, asked, ends - time.monotonic())
        except ProcessFailed as error:
            raise CheckerFailed(f"The collector's checker {error}", child.crash()) from error
        finally:
            child.kill()

    def validate_plainly(
        self,
        yaml: str,
        env: dict[str, str],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> PlainVerdict:
        """The verdict of that version's own `validate` command, within `timeout` seconds.

        Raises NotInstalled, CheckerBusy, CheckerFailed, and BeingBuilt if only the whole program can tell.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        binary = self.collectors.binary(version or self.default_version)
        with self._turns.turn(asker, ends):
            verdict = self._plain.validate(binary, yaml, env, ends)
        if not verdict.valid and self.collectors.is_first(binary):
            # It may call a component unknown that the whole one has.
            version = version or self.default_version
            if build := self.collectors.whole_build(version):
                raise build.lacks(f"this build of collector {version} may lack a component of the text")
        return verdict

    def installed(self, *, asker: Asker) -> tuple[str, ...]:
        """The installed versions, oldest first."""
        del asker  # CheckerFunction has the same method, and chooses the tenant by it.
        return self.collectors.versions()

    def describe(self, version: str, *, asker: Asker) -> dict[str, object]:
        """Describe the build of that version, as its binary does; each binary is asked once.

        Raises NotInstalled, NoChecker for an official release, and CheckerFailed for a binary that cannot be used.
        """
        del asker  # As above.
        return self._descriptions.of_binary(self.collectors.binary(version))

    def described(self, *, asker: Asker) -> tuple[Described, ...]:
        """The installed versions with the short part of their descriptions, oldest first."""
        return tuple(self._described(version, asker) for version in self.installed(asker=asker))

    def _described(self, version: str, asker: Asker) -> Described:
        build = self.collectors.whole_build(version)
        whole_in_seconds = build.seconds_left if build and not build.failed else None
        try:
            description = short(self.describe(version, asker=asker))
            return Described(version, description, whole_in_seconds=whole_in_seconds)
        except NoChecker:
            return Described(version, None)
        except (CheckerFailed, NotInstalled, NotReady) as error:
            # Also a version that was removed meanwhile.
            return Described(version, None, error.detail)

    def fell_back(self) -> None:
        """The failure needs no note: the log has the reason."""

    def pids(self, version: str | None = None) -> list[int]:
        """Returns the processes that serve that version now, the default one without a version."""
        if version in (None, self.default_version):
            return self._pool(None).pids()
        return self._others.pids(self.collectors.binary(str(version)))

    def held_by(self) -> str:
        """The walls around the processes of the default version; empty if none serves."""
        return self._pool(None).held_by()

    def has_idle(self) -> bool:
        """True if a process of the default version waits for a question."""
        return self._pool(None).has_idle()

    def waiting(self) -> int:
        """The questions that wait for their turn, of any version."""
        return self._turns.waiting()

    def close(self) -> None:
        """End every process, and forget what was fetched. A thread that asks after that gets CheckerFailed."""
        with self._lock:
            self._closed = True
            pool = self._default_pool
        if pool is not None:
            pool.close()
        self._others.close()
        if self.collectors.fetched is not None:
            self.collectors.fetched.close()

    def _warm(self) -> None:
        with contextlib.suppress(NotInstalled, CheckerFailed, NotReady):
            self._pool(None).warm()

    def _ask_first(self, ask: "_Ask", op: str, fields: Mapping[str, object], version: str | None) -> dict[str, object]:
        """Ask a first program. About a text with a component that it lacks it is asked nothing else, so says nothing.

        Raises BeingBuilt and BuildFailed for such a text.
        """
        try:
            if op != "validate" and "yaml" in fields:
                text = {name: fields.get(name) or {} for name in ("env", "files")} | {"yaml": fields["yaml"]}
                with _unless_not_in_build():
                    ask("validate", text)
            return ask(op, fields)
        except Refused as refused:
            if refused.code != NOT_IN_BUILD:
                raise
            if build := self.collectors.whole_build(version or self.default_version):
                raise build.lacks(refused.message) from refused
            if not self.collectors.is_first(self._binary(version)):
                raise Retired("The whole collector is there now") from refused
            raise

    def _binary(self, version: str | None) -> Path:
        return self.collectors.binary(version or self.default_version)

    def _pool(self, version: str | None, binary: Path | None = None) -> Pool:
        binary = binary or self._binary(version)
        if version not in (None, self.default_version):
            return self._others.pool(binary)
        with self._lock:
            if self._closed:
                # Its first process would never come where the interpreter ends, and whoever asks would wait for it.
                raise CheckerFailed(SHUT_DOWN)
            replaced = None
            if self._default_pool is None or self._default_binary != binary:
                max_asking = self._turns.total
                replaced, self._default_binary = self._default_pool, binary
                self._default_pool = Pool(binary, self._limits, max_asking=max_asking, max_bound=max_asking)
            pool = self._default_pool
        if replaced is not None:
            replaced.retire()
        return pool


class _Ask(Protocol):
    """Asks one process, or one of several, an operation."""

    def __call__(self, op: str, fields: Mapping[str, object]) -> dict[str, object]: ...


@contextlib.contextmanager
def _unless_not_in_build() -> Iterator[None]:
    """Pass over every refusal but that the program lacks a component: the question itself will say the others."""
    try:
        yield
    except Refused as refused:
        if refused.code == NOT_IN_BUILD:
            raise
