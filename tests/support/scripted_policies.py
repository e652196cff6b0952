"""A collector that answers questions about policies as a test wants, in the place of this process's checker."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from headgate import checker
from headgate.checker import Refused

POLICIES: Final = [
    {
        "code": code,
        "title": f"Title of {code}",
        "severity": severity,
        "why": "Why",
        "way_out": "The way out",
        "failing": "a: 1\n",
        "passing": "b: 1\n",
    }
    for code, severity in (("insecure_tls", "error"), ("plain_http", "warning"), ("listens_everywhere", "info"))
]
VERDICT: Final[dict[str, Any]] = {"valid": True, "errors": [], "warnings": [], "environment": []}
LINTED: Final[dict[str, Any]] = {"valid": True, "ottl_version": "v0.1.0", "checked": 0, "items": [], "skipped": []}
DRAWN: Final[dict[str, Any]] = {"components": [], "pipelines": [], "incomplete": False}
NOTHING: Final[dict[str, Any]] = {"findings": [], "suppressions": [], "failed_rules": []}


def found(code: str, line: int = 1, **more: Any) -> dict[str, Any]:
    """A finding as the collector answers it."""
    return {
        "code": code,
        "severity": "warning",
        "message": f"It breaks {code}",
        "way_out": "The way out",
        "component_path": "exporters::otlp",
        "line": line,
        "column": 3,
        "suppressed": None,
    } | more


class Engine:
    """`answers` are by operation: the answer, an exception that is raised, or what makes the answer of the request.

    `asked` has the operation, the version and the request of every question.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, Mapping[str, Any]]] = []
        self.answers: dict[str, Any] = {
            "validate": VERDICT,
            "lint": LINTED,
            "graph": DRAWN,
            "policy_list": {"policies": POLICIES},
            "policies": NOTHING,
            "policy_rules": self._all_right,
        }

    def call(self, op: str, request: Mapping[str, Any], *, version: str | None = None, **_: object) -> Any:
        if op == "check":
            # An older build: each part is asked for itself.
            raise Refused("unknown_op", op)
        self.asked.append((op, version, request))
        answer = self.answers[op]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    @property
    def operations(self) -> list[str]:
        return [op for op, _, _ in self.asked]

    @staticmethod
    def _all_right(request: Mapping[str, Any]) -> dict[str, Any]:
        def tried(rule: Mapping[str, Any]) -> dict[str, Any]:
            examples = [{"violated": one["violated"], "as_expected": True, "error": None} for one in rule["examples"]]
            return {"name": rule["name"], "error": None, "examples": examples}

        return {"rules": [tried(rule) for rule in request["rules"]]}


Answering = Callable[[Mapping[str, Any]], dict[str, Any]]


def scripted(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(checker.COLLECTORS, "call", engine.call)
    return engine
