"""`--local`: the answers of POST /validate and POST /ottl/lint, given by a collector on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, Protocol, Self

from headgate_cli import local_collector, local_options
from headgate_cli.api import Entity, ServerError, entities
from headgate_cli.local_collector import BINARY, CollectorFailed, LocalCollector, NotInstalled, Refused, find

P = ParamSpec("P")

# The codes of the operation `lint` for a text that cannot be linted, as the service has them.
_UNLINTABLE: Final = ("yaml_syntax", "too_many_expressions")
_OF_A_FINDING: Final = ("message", "component_path", "code", "line", "column")
_OF_A_VARIABLE: Final = ("name", "has_default", "component_path")
_OF_AN_ITEM: Final = ("location", "context", "kind", "expression", "error", "note")
_OF_A_POLICY: Final = (*("code", "severity", "message", "way_out", "component_path", "line", "column", "suppressed"),)
_OF_A_SUPPRESSION: Final = ("code", "line", "until", "reason", "used", "problem")
_OF_A_SKIPPED: Final = ("location", "expression", "reason")


class Checking(Protocol):
    """What answers the requests of a check: the API of a server, or a collector of this machine.

    `batches` says whether it may take many texts in one request.
    """

    @property
    def batches(self) -> bool: ...

    def post(self, path: str, body: Mapping[str, object] | None = None) -> Entity: ...


class LocalChecks:
    """Collectors of this machine, asked as the API is. Each version's process starts at its first question."""

    batches: Final = False

    def __init__(self, binary: str = "") -> None:
        self._binary = binary
        self._collectors: dict[str, LocalCollector] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        for collector in self._collectors.values():
            collector.close()

    def post(self, path: str, body: Mapping[str, object] | None = None) -> Entity:
        """The answer to POST /validate or POST /ottl/lint with this body, in the form of the API.

        /validate may have the query `lint=true&policies=true`; policies are the built-in ones, all of them advice.

        Raises ServerError where the API refuses such a request, CollectorFailed if the collector died or hung, and
        NoCollector.
        """
        path, _, query = path.partition("?")
        request = body or {}
        yaml = str(request.get("yaml", ""))
        if not yaml:
            raise refusal("invalid", "This must not be empty", "yaml", "body.yaml: ")
        collector = self.collector(str(request.get("version") or ""))
        try:
            if path == "/ottl/lint":
                return _lint(collector, yaml)
            env = request.get("env") or {}
            parts = {"lint": lambda: _lint(collector, yaml), "policies": lambda: _policies(collector, yaml, env)}
            asked = {name: ask for name, ask in parts.items() if f"{name}=true" in query.split("&")}
            verdict = _validate(collector, yaml, env)
            return {**verdict, **{name: _part(ask, name) for name, ask in asked.items()}}
        except Refused as refused:
            raise _problem(refused, path) from refused

    def ask(self, op: str, fields: Mapping[str, object], version: str = "") -> Entity:
        """The result of an operation that the API has in another form. Raises what `post` does."""
        try:
            return self.collector(version).ask(op, fields)
        except Refused as refused:
            if refused.code == "bad_request":
                raise refusal(refused.code, refused.message, op) from refused
            raise _problem(refused, op) from refused

    def collector(self, version: str) -> LocalCollector:
        """That of a version, of the default one if it is empty. Raises ServerError, NoCollector, CollectorFailed."""
        if version not in self._collectors:
            try:
                binary = Path(self._binary).absolute() if self._binary else find(version)
            except NotInstalled as error:
                raise refusal(
                    "collector_version_not_installed", error.message, "version", way_out=error.way_out
                ) from error
            self._collectors[version] = LocalCollector(binary)
        collector = self._collectors[version]
        if version and collector.version != version:
            detail = f"{self._binary} is collector {collector.version}, and --version asks for {version}"
            raise refusal("collector_version_not_installed", detail, "version")
        return collector


def connected_or_local(command: Callable[Concatenate[Checking, P], None]) -> Callable[P, None]:
    """Pass a command the API, or with `--local` the collectors of this machine. Adds the options that choose."""
    return local_options.choosing("Check", _checks, lambda api: api)(command)


def _checks(collector: str) -> AbstractContextManager[Checking]:
    return LocalChecks(collector)


def _validate(collector: LocalCollector, yaml: str, env: object) -> Entity:
    answer = collector.ask("validate", {"yaml": yaml, "env": env})
    return {
        "valid": answer.get("valid") is True,
        "version": collector.version,
        "distribution": BINARY,
        "errors": _listed(answer, "errors", _OF_A_FINDING),
        "warnings": _listed(answer, "warnings", _OF_A_FINDING),
        "environment": _listed(answer, "environment", _OF_A_VARIABLE),
    }


def _lint(collector: LocalCollector, yaml: str) -> Entity:
    answer = collector.ask("lint", {"yaml": yaml})
    return {
        "valid": answer.get("valid") is True,
        "ottl_version": answer.get("ottl_version"),
        "checked": answer.get("checked"),
        "items": [_placed(item) for item in _listed(answer, "items", _OF_AN_ITEM)],
        "skipped": [_placed(item) for item in _listed(answer, "skipped", _OF_A_SKIPPED)],
    }


def _policies(collector: LocalCollector, yaml: str, env: object) -> Entity:
    today = datetime.now(UTC).date().isoformat()
    answer = collector.ask("policies", {"yaml": yaml, "env": env, "today": today})
    found = _listed(answer, "findings", _OF_A_POLICY)
    return {
        "passed": True,
        "findings": [_advice(finding) for finding in found],
        "suppressions": [
            {**one, "until": one["until"] or None} for one in _listed(answer, "suppressions", _OF_A_SUPPRESSION)
        ],
        "failed_rules": [],
    }


def _advice(finding: Entity) -> Entity:
    """A finding as an organization without settings has it: nothing counts as an error."""
    by = finding["suppressed"]
    return {
        **finding,
        "severity": "warning" if finding["severity"] == "error" else finding["severity"],
        "line": finding["line"] or None,
        "column": finding["column"] or None,
        "suppressed": {**by, "until": by.get("until") or None} if isinstance(by, dict) else None,
    }


def _part(ask: Callable[[], Entity], name: str) -> Entity:
    """A part of a check, or why there is none; it never takes the verdict away."""
    try:
        return ask()
    except Refused as refused:
        problem = _problem(refused, {"lint": "/ottl/lint"}.get(name, "/policies"))
        return {"problem": {"code": problem.code, "detail": problem.detail}}
    except CollectorFailed as failed:
        return {"problem": {"code": "not_checked", "detail": failed.message}}


def _listed(answer: Entity, name: str, fields: tuple[str, ...]) -> list[Entity]:
    """The list with exactly these fields of each entry, null where the collector leaves one out."""
    return [{field: entry.get(field) for field in fields} for entry in entities(answer, name)]


def _placed(item: Entity) -> Entity:
    location = item.get("location")
    place: Entity = location if isinstance(location, dict) else {}
    return {**item, "location": {field: place.get(field) for field in ("path", "line", "column")}}


def _problem(refused: Refused, path: str) -> ServerError:
    """The API's own refusal of such a text."""
    match refused.code:
        case "too_costly":
            return refusal("yaml_too_costly", refused.message, "yaml")
        case "component_not_in_build":
            return ServerError(503, refused.code, refused.message, [])
        case code if path == "/ottl/lint" and code in _UNLINTABLE:
            return refusal("not_lintable", refused.message, "yaml")
        case "yaml_syntax" if path == "/policies":
            return refusal("yaml_syntax", refused.message, "yaml")
        case local_collector.UNKNOWN:
            return ServerError(503, "not_checked", local_collector.OLDER, [])
    return ServerError(
        503, "not_checked", f"the collector refuses the question ({refused.code}): {refused.message}", []
    )


def refusal(code: str, message: str, field: str, prefix: str = "", way_out: str = "") -> ServerError:
    """The API's 422 about one field of a request; `prefix` begins the detail."""
    place: Entity = {"loc": ["body", field], "message": message}
    return ServerError(422, code, f"{prefix}{message}", [place], f": {way_out}" if way_out else "")
