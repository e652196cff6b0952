"""The part of the API that tests pipelines, given by collectors of this machine: commands ask it like a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, Self

from headgate_cli import local_options
from headgate_cli.api import Api, Entity, Request, ServerError
from headgate_cli.checks.local import LocalChecks
from headgate_cli.local_collector import Refused
from headgate_cli.local_testing import comparisons, coverage, refusals, runs, steps, suites
from headgate_cli.local_testing.cases import Cases
from headgate_cli.responses import Answer

P = ParamSpec("P")

_RUNS: Final = "/testing/runs"
_STEPS: Final = f"{_RUNS}/{runs.ID}/steps/"


class LocalTesting(Api):
    """Answers requests as the API does, without HTTP. Nothing is stored but what this process asked for."""

    is_local = True

    def __init__(self, collector: str = "") -> None:
        super().__init__("this machine")
        self._checks = LocalChecks(collector)
        self._cases = Cases(self._checks)
        self._stored: dict[str, bytes] = {}
        self._trace: Entity = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._checks.close()

    def _answer(self, request: Request) -> Answer:
        method, path, body = request.method, request.path, request.body or {}
        if method == "GET" and path in self._stored:
            return Answer(200, {}, self._stored[path])
        if method == "GET" and path.startswith(_STEPS):
            step = steps.page(self._trace, int(path.removeprefix(_STEPS)), request.parameters.get("record"))
            if step is not None:
                return Answer(200, {}, _json(step))
        try:
            match method, path:
                case "POST", "/testing/runs":
                    return self._run(body)
                case "POST", "/testing/suites":
                    result = suites.suite(self._cases, body)
                    return self._job(path, result, "Success" if result["passed"] else "Fail")
                case "POST", "/testing/coverage":
                    return self._job(path, coverage.coverage(self._cases, body), "Done")
                case "POST", "/testing/comparisons":
                    return self._job(path, comparisons.comparison(self._cases, body), "Done")
        except Refused as refused:
            raise refusals.of_question(refused) from refused
        raise ServerError(404, "not_found", "this needs a server: leave out --local", [])

    def _run(self, body: Mapping[str, object]) -> Answer:
        document, result = runs.run(self._cases, body)
        path = f"{_RUNS}/{runs.ID}"
        self._stored |= {path: _json(document), f"{path}/output": result.output.encode()}
        self._stored[f"{path}/stderr"] = result.log.encode()
        if result.case.trace:
            self._trace = result.trace
            self._stored[f"{path}/steps"] = _json(steps.overview(result.trace))
        return Answer(202, {}, self._stored[path])

    def _job(self, path: str, result: Entity, status: str) -> Answer:
        """A job that has ended, as the API has it at its own path."""
        made = f"{runs.ID}-{len(self._stored) + 1}"
        named = {"reason": "", "configuration_id": None, "version_number": None}
        times = dict.fromkeys(("created_at", "started_at", "finished_at"), runs.now())
        self._stored[f"{path}/{made}"] = _json({"id": made, **named, **times, "status": status, "result": result})
        return Answer(201, {}, self._stored[f"{path}/{made}"])


def _json(document: Entity) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def connected_or_local(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Pass a command the API, or with `--local` collectors of this machine. Adds the options that choose."""
    return local_options.choosing("Run", _testing, lambda api: api)(command)


def _testing(collector: str) -> AbstractContextManager[Api]:
    return LocalTesting(collector)
