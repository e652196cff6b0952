"""Answers of the real collector, asked for once: most tests of the API ask it about the same few texts.

A question starts a process where the collector's start is tried, which takes longer than the rest of such a test. What
the collector answers is a function of the question, so the same one again gets the answer that it got.
"""

import copy
import hashlib
import json
from collections.abc import Mapping

import pytest

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.supervisor import Checker

_ANSWERS: dict[bytes, dict[str, object]] = {}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember answers for this worker. What fails is asked again."""
    ask = Checker.call

    def call(
        checker: Checker,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        asked = [checker.collectors.build_of(version or checker.default_version), op, fields]
        question = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()
        if question not in _ANSWERS:
            _ANSWERS[question] = ask(checker, op, fields, asker=asker, version=version, timeout=timeout)
        return copy.deepcopy(_ANSWERS[question])

    monkeypatch.setattr(Checker, "call", call)
