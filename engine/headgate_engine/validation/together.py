"""Everything that is asked of one text, in one question: the collector parses, resolves and decodes the text once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from headgate_engine.checker.asker import Asker, Collectors
from headgate_engine.checker.descriptions import Described
from headgate_engine.checker.errors import CheckerFailed, Refused
from headgate_engine.checker.plain_command import PlainVerdict
from headgate_engine.errors import Unavailable

Ends = Mapping[tuple[int, int], tuple[int, int]]
"""Where the key, value or word ends that begins at a line and column."""
_ENDS: Final = TypeAdapter(list[tuple[int, int, int, int]])
_MOST_ENDS: Final = 10_000


@dataclass(slots=True)
class _Answered:
    """Collectors that have answered some operations already. Each answer is given once; anything else is asked."""

    collectors: Collectors
    answers: dict[str, Mapping[str, object] | Exception] = field(default_factory=dict)

    @property
    def default_version(self) -> str:
        return self.collectors.default_version

    def call(
        self,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        answer = self.answers.pop(op, None)
        if answer is None:
            return self.collectors.call(op, fields, asker=asker, version=version, timeout=timeout)
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    def validate_plainly(
        self, yaml: str, env: dict[str, str], *, asker: Asker, version: str | None = None
    ) -> PlainVerdict:
        return self.collectors.validate_plainly(yaml, env, asker=asker, version=version)

    def installed(self, *, asker: Asker) -> tuple[str, ...]:
        return self.collectors.installed(asker=asker)

    def describe(self, version: str, *, asker: Asker) -> dict[str, object]:
        return self.collectors.describe(version, asker=asker)

    def described(self, *, asker: Asker) -> tuple[Described, ...]:
        return self.collectors.described(asker=asker)

    def fell_back(self) -> None:
        self.collectors.fell_back()


def asked(question: Mapping[str, object], parts: Sequence[str], version: str, *, asker: Asker) -> tuple[Asker, Ends]:
    """An asker that has the answers to `validate` and to these parts already, and where findings end.

    If they could not be had together, each operation is asked for itself: what one part costs, or breaks, takes nothing
    away from the others.
    """
    try:
        answer = asker.ask("check", {**question, "parts": list(parts)}, version=version)
    except (Refused, CheckerFailed):
        return asker, {}
    except Unavailable as error:
        # The verdict's own failure, for whoever asks for it next.
        return replace(asker, collectors=_Answered(asker.collectors, {"validate": error})), {}
    answers: dict[str, Mapping[str, object] | Exception] = {"validate": answer}
    for name in parts:
        match answer.get(name):
            case {"problem": {"code": str(code), "message": str(message)}}:
                answers[name] = Refused(code, message)
            case {"result": dict(result)}:
                answers[name] = result
    return replace(asker, collectors=_Answered(asker.collectors, answers)), _ends(answer.get("ends"))


def _ends(told: object) -> Ends:
    """Nothing for an answer in another form: findings do without."""
    try:
        ends = _ENDS.validate_python(told)
    except ValidationError:
        return {}
    return {(line, column): (last, end) for line, column, last, end in ends[:_MOST_ENDS]}
