"""Checking an upgrade: both collector versions are asked about the same text, and their answers compared."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerBusy, NoChecker, NotInstalled, Refused
from headgate_engine.errors import Unavailable
from headgate_engine.threads import Threads
from headgate_engine.upgrades.comparison import compare
from headgate_engine.upgrades.model import (
    BuildDescription,
    Inspection,
    Renamed,
    Renaming,
    SeveralConfigurations,
    UpgradeCheckNotPossible,
    UpgradeReport,
    VersionAnswers,
)
from headgate_engine.validation import inside
from headgate_engine.validation import service as validation
from headgate_engine.validation.findings import ON_HOST
from headgate_engine.validation.inside import Inside
from headgate_engine.validation.model import (
    TOO_COSTLY,
    CheckRequest,
    CollectorVersionNotInstalled,
    ComponentNotInBuild,
    NotChecked,
    TooCostly,
)

_Answer = TypeVar("_Answer")

# API Gateway gives up after 30 s. The last question begins before _SECONDS; what it then waits for, to be asked and to
# be answered, ends with _LAST_SECONDS.
_SECONDS: Final = 20.0
_LAST_SECONDS: Final = 4.0
_SECONDS_OF_ONE: Final = 10.0
_SHORTEST: Final = 1.0
_TOO_LONG: Final = "the check took too long; try again"
_ESCAPED: Final = (
    "the configuration is written with escapes in this text: write it as a block (|), or take it out with "
    "`headgate config import`"
)


def check(
    text: CheckRequest, target: str, source: str | None = None, *, asker: Asker, ends: float | None = None
) -> UpgradeReport:
    """Compare `source` (the text's own version without one) with `target` for the text; nothing is saved.

    Of a text around a configuration, such as a ConfigMap, the configuration is compared, at its places in the text.
    With the same version twice, only the renames and deprecations that are due already. Raises
    CollectorVersionNotInstalled and UpgradeCheckNotPossible, about `from` or `to` of the request, TooCostly,
    SeveralConfigurations, and NotChecked if one of the versions could not be asked. No question begins after `ends`, by
    the monotonic clock.
    """
    source = source or text.version or asker.default_version
    ends = ends or time.monotonic() + _SECONDS
    held = _held(text, asker.until(ends + _LAST_SECONDS))
    questions = _Questions(text, target, "to", ends, asker, held)
    asking = Threads(max_workers=2, thread_name_prefix="upgrade")
    try:
        target_answers = _Answers(asking.submit(questions.version_and_renaming), questions)
        if source == target:
            version, renaming = target_answers.get()
            return questions.compared(version, version, renaming)
        of_source = _Questions(text, source, "from", ends, asker, held)
        source_answers = _Answers(asking.submit(of_source.version), of_source)
        try:
            after, renaming = target_answers.get()
        except Unavailable:
            # What is wrong with the request goes first: trying again would not help.
            with suppress(Unavailable):
                source_answers.get()
            raise
        return questions.compared(source_answers.get(), after, renaming)
    finally:
        # A question that hangs must not delay the answer; it ends by its own limits.
        asking.shutdown(wait=False, cancel_futures=True)


def _held(text: CheckRequest, asker: Asker) -> Inside | None:
    """The configuration inside of the text; None if it is one itself, or has none.

    Raises TooCostly, NotChecked, and SeveralConfigurations.
    """
    if not inside.may_hold(text.yaml):
        return None
    try:
        verdict = validation.validate(text.yaml, env=text.env, files=text.files, asker=asker.gated(text.feature_gates))
    except TooCostly as error:
        raise TooCostly(error.detail, at=text.loc) from error
    except ComponentNotInBuild:
        return None
    if verdict.wrapped and (others := inside.others(verdict)):
        raise SeveralConfigurations(verdict.wrapped.path, others[0].component_path.replace("::", "."), text.loc)
    return inside.configuration(verdict, text.yaml)


class _Questions:
    """The questions to one version about a text, or what it holds. `field` is the request's field that names it."""

    def __init__(
        self, text: CheckRequest, version: str, field: str, ends: float, asker: Asker, held: Inside | None
    ) -> None:
        self._text = text
        self._held = held
        self._request = {**text.question(), **({"yaml": held.yaml} if held else {})}
        self._version = version
        self._field = field
        self._ends = ends
        self._asker = asker.gated(text.feature_gates)

    def version_and_renaming(self) -> tuple[VersionAnswers, Renaming]:
        version = self.version()
        return version, self.renaming(version)

    def version(self) -> VersionAnswers:
        with self._refusals():
            description = read(BuildDescription, self._asker.collectors.describe(self._version, asker=self._asker))
        inspection = self._ask("inspect", self._request, Inspection)
        inspection = self._held.placed(inspection) if self._held else inspection
        return VersionAnswers(self._version, _of_hosts(inspection), description)

    def seconds_left(self) -> float:
        """Until every answer has to be there."""
        return self._ends + _LAST_SECONDS - time.monotonic()

    def renaming(self, version: VersionAnswers) -> Renaming:
        if not version.inspection.may_rename:
            return Renaming()
        if self._held and not self._held.in_place:
            return Renaming(refused=_ESCAPED)
        try:
            renamed = self._ask("rename", self._request, Renamed, may_refuse=True)
            return Renaming(replace(renamed, yaml=self._held.written(renamed.yaml)) if self._held else renamed)
        except Refused as refused:
            # The renames are known all the same.
            return Renaming(refused=refused.message or refused.code)

    def compared(self, source: VersionAnswers, target: VersionAnswers, renaming: Renaming) -> UpgradeReport:
        """The default collector compares. Raises NotChecked if it could not be asked."""
        timeout = max(_SHORTEST, min(_SECONDS_OF_ONE, self.seconds_left()))
        try:
            report = compare(source, target, renaming, asker=self._asker, timeout=timeout)
            return report.model_copy(update={"inside": self._held.path}) if self._held else report
        except Refused as refused:
            raise _not_compared(f"the collector refused ({refused.code})") from refused
        except Unavailable as error:
            raise _not_compared(error.detail) from error
        except ValidationError as error:
            raise _not_compared("the collector answered in an unknown form") from error

    def _ask(self, op: str, request: Mapping[str, object], kind: type[_Answer], *, may_refuse: bool = False) -> _Answer:
        """The answer to one question. With `may_refuse`, raises Refused for a refusal."""
        with self._refusals(may_refuse=may_refuse):
            try:
                answer = self._answer(op, request)
            except CheckerBusy:
                # Often with the other version's question, which is of the same credential.
                answer = self._answer(op, request)
            return read(kind, answer)

    def _answer(self, op: str, request: Mapping[str, object]) -> Mapping[str, object]:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise CheckerBusy(_TOO_LONG)
        timeout = max(_SHORTEST, min(_SECONDS_OF_ONE, left))
        return self._asker.ask(op, request, version=self._version, timeout=timeout)

    @contextmanager
    def _refusals(self, *, may_refuse: bool = False) -> Iterator[None]:
        """Raises for the request what the checker and the form of its answer raise."""
        try:
            yield
        except Refused as refused:
            if may_refuse:
                raise
            if refused.code == TOO_COSTLY:
                raise TooCostly(refused.message, at=self._text.loc) from refused
            raise self.not_asked(f"it refused ({refused.code})") from refused
        except NoChecker as error:
            raise UpgradeCheckNotPossible(self._version, self._field) from error
        except NotInstalled as error:
            # The default collector has to be installed; another version is one that the request named.
            if self._version == self._asker.default_version:
                raise self.not_asked(error.detail) from error
            raise CollectorVersionNotInstalled(error.detail, at=("body", self._field)) from error
        except Unavailable as error:
            raise self.not_asked(error.detail) from error
        except ValidationError as error:
            raise self.not_asked("it answered in an unknown form") from error

    def not_asked(self, reason: str) -> NotChecked:
        return NotChecked(f"Collector {self._version} could not be asked: {reason}; nothing was checked")


@dataclass(frozen=True, slots=True)
class _Answers(Generic[_Answer]):
    """The answers of one version, which a thread collects."""

    future: Future[_Answer]
    questions: _Questions

    def get(self) -> _Answer:
        """Raises what the thread raises, and NotChecked if it takes too long."""
        try:
            return self.future.result(max(0.0, self.questions.seconds_left()))
        except TimeoutError:
            raise self.questions.not_asked(_TOO_LONG) from None


def _of_hosts(inspection: Inspection) -> Inspection:
    """The inspection, in which errors that the host decides are warnings, as they are in the findings of a check."""
    errors = [error for error in inspection.errors if error.code not in ON_HOST]
    on_host = [replace(error, code="depends_on_host") for error in inspection.errors if error.code in ON_HOST]
    return replace(inspection, errors=errors, warnings=[*on_host, *inspection.warnings])


def _not_compared(reason: str) -> NotChecked:
    return NotChecked(f"The answers of the versions could not be compared: {reason}; try again")
