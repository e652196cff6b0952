"""`--local`: the answer of POST /validate/upgrade-check, given by two collectors on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, Self

from headgate_cli import local_collector, local_options
from headgate_cli.api import Api, Entity, Request, ServerError, entities
from headgate_cli.checks.local import LocalChecks, refusal
from headgate_cli.local_collector import (
    OLDER,
    UNKNOWN,
    CollectorFailed,
    LocalCollector,
    OfficialRelease,
    Refused,
)
from headgate_cli.responses import Answer

P = ParamSpec("P")

_UNCHECKED: Final = "; nothing was checked"


class LocalUpgrades(Api):
    """Answers requests as the API does, without HTTP. Each version's process starts at its first question."""

    def __init__(self, collector: str = "") -> None:
        super().__init__("this machine")
        self._named = LocalChecks(collector) if collector else None
        self._installed = LocalChecks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for checks in filter(None, (self._named, self._installed)):
            checks.close()

    def _answer(self, request: Request) -> Answer:
        path, body = request.path, request.body or {}
        match request.method, path:
            case "POST", "/validate/upgrade-check":
                answer = self._check(body)
            case "POST", "/validate":
                version = str(body.get("version") or "")
                answer = self._checks_of(version).post(path, body)
            case "GET", "/collector-versions":
                answer = {"items": [{"version": version} for version in self._versions()]}
            case _:
                raise ServerError(404, "not_found", "this needs a server: leave out --local", [])
        return Answer(200, {}, json.dumps(answer, ensure_ascii=False).encode())

    def _versions(self) -> list[str]:
        named = [self._named.collector("").version] if self._named else []
        return [*dict.fromkeys((*local_collector.installed(), *named))]

    def _checks_of(self, version: str) -> LocalChecks:
        """The named collector, if it is of that version, else those that are installed."""
        if self._named and self._named.collector("").version == version:
            return self._named
        return self._installed

    def _check(self, body: Mapping[str, object]) -> Entity:
        text = {"yaml": str(body.get("yaml", "")), "env": body.get("env") or {}}
        if not text["yaml"]:
            raise refusal("invalid", "This must not be empty", "yaml", "body.yaml: ")
        to = str(body.get("to", ""))
        source = str(body.get("from") or (self._named or self._installed).collector("").version)
        target = self._collector(to, "to")
        with ThreadPoolExecutor(max_workers=2) as asking:
            after = asking.submit(_answers, target, to, text)
            before = after
            if source != to:
                before = asking.submit(_answers, self._collector(source, "from"), source, text)
            # What is wrong with the target is told first, as by the service.
            request: dict[str, object] = {"to": after.result(), "from": before.result()}
        return _compared(target, request | _renaming(target, to, text, after.result()))

    def _collector(self, version: str, field: str) -> LocalCollector:
        """The collector of a version, started. Raises ServerError about that field of the request."""
        try:
            collector = self._checks_of(version).collector(version)
            with _asking(version):
                _ = collector.version
        except ServerError as error:
            if error.code != "collector_version_not_installed":
                raise
            way_out = f": add it with `make collector VERSION={version}` in a checkout of Headgate"
            place: Entity = {"loc": ["body", field], "message": error.detail}
            raise ServerError(422, error.code, error.detail, [place], way_out) from error
        except OfficialRelease as error:
            told = (
                f"Collector {version} is an official release, which cannot be compared with another: validate with it, "
                "or choose a version that the list of collector versions shows with `can.upgrade_check`"
            )
            raise refusal("upgrade_check_not_possible", told, field) from error
        return collector


def _answers(collector: LocalCollector, version: str, text: Mapping[str, object]) -> Entity:
    with _asking(version):
        description = collector.ask("describe", {})
        return {"version": version, "inspection": collector.ask("inspect", text), "description": description}


def _renaming(
    collector: LocalCollector, version: str, text: Mapping[str, object], answers: Entity
) -> dict[str, object]:
    """The target's renames, as the operation `upgrade` takes them."""
    inspection = answers["inspection"]
    components = entities(inspection, "components") if isinstance(inspection, dict) else []
    if not any(component.get("renamed_to") for component in components):
        return {}
    try:
        with _asking(version, may_refuse=True):
            return {"rename": collector.ask("rename", text)}
    except Refused as refused:
        # The renames are known all the same.
        return {"rename_refused": refused.message or refused.code}


def _compared(collector: LocalCollector, request: Entity) -> Entity:
    try:
        return collector.ask("upgrade", request)
    except Refused as refused:
        reason = OLDER if refused.code == UNKNOWN else f"the collector refused ({refused.code})"
    except CollectorFailed as failed:
        reason = failed.message.removesuffix(_UNCHECKED)
    raise ServerError(503, "not_checked", f"The answers of the versions could not be compared: {reason}; try again", [])


@contextmanager
def _asking(version: str, *, may_refuse: bool = False) -> Iterator[None]:
    """Raises the API's refusals for those of a collector."""
    try:
        yield
    except Refused as refused:
        if may_refuse:
            raise
        if refused.code == "too_costly":
            raise refusal("yaml_too_costly", refused.message, "yaml") from refused
        reason = OLDER if refused.code == UNKNOWN else f"it refused ({refused.code})"
    except CollectorFailed as failed:
        reason = failed.message.removesuffix(_UNCHECKED)
    else:
        return
    raise ServerError(503, "not_checked", f"Collector {version} could not be asked: {reason}{_UNCHECKED}", [])


def connected_or_local(command: Callable[Concatenate[Api, P], None]) -> Callable[P, None]:
    """Pass a command the API, or with `--local` the collectors of this machine. Adds the options that choose."""
    return local_options.choosing("Check", _upgrades, lambda api: api)(command)


def _upgrades(collector: str) -> AbstractContextManager[Api]:
    return LocalUpgrades(collector)
