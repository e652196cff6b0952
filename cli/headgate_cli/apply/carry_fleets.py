"""Making fleets and groups as a plan says, and recording each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.api import Api, ServerError
from headgate_cli.apply import found as server
from headgate_cli.apply.carry_configurations import CHANGED_MEANWHILE
from headgate_cli.apply.found import FoundFleet, FoundGroup, ServerContent
from headgate_cli.apply.state import Recorder, StateEntry
from headgate_cli.apply.steps import (
    Assign,
    AssignedVersion,
    ChangeGroup,
    CreateGroup,
    FleetCreation,
    OfGroup,
    RemoveFleet,
    RemoveGroup,
)
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.errors import Failed
from headgate_cli.shaped import PlainAnswer

_FLEETS: Final = "fleets"
_GROUPS: Final = "groups"


class Fleets:
    """Carries out steps of fleets and groups; `message` is why versions are assigned.

    `created` are the ids of configurations that were created, by name.
    """

    def __init__(
        self,
        api: Api,
        recorder: Recorder,
        current: ServerContent,
        created: Mapping[str, str],
        secrets: Mapping[str, str],
        message: str,
    ) -> None:
        self._api = api
        self._recorder = recorder
        self._mark = {"managed_by": current.caller.mark}
        self._ids = {label: fleet.id for label, fleet in current.fleets.items()}
        # As they were right before the first change of their fleet.
        self._groups: dict[str, dict[str, FoundGroup]] = {}
        self._created = created
        self._secrets = secrets
        self._message = {"message": message} if message else {}

    def create(self, step: FleetCreation) -> None:
        lifetime = {"expires_in": step.desired.expires_in} if step.desired.expires_in else {}
        body = {"label": step.name, "type": step.desired.type} | self._mark | lifetime
        self._ids[step.name] = self._create(_FLEETS, step.name, "/fleets", body)

    def create_group(self, step: CreateGroup) -> None:
        fleet_id = self._ids[step.fleet]
        name = step.group.name
        if name in self._now(step.fleet):
            raise Failed(CHANGED_MEANWHILE)
        body = {"name": name} | self._version(step.target) | dict(step.group.fields) | self._message | self._mark
        if step.group.role:
            body["role"] = step.group.role
        self._create(_GROUPS, f"{fleet_id}/{name}", f"/fleets/{fleet_id}/deployments", body)
        self._groups[step.fleet] = server.groups(self._api, fleet_id)

    def _create(self, kind: str, key: str, path: str, body: Mapping[str, object]) -> str:
        """Create a fleet or a group, and record it before and after; returns its id."""
        self._recorder.set(kind, key, StateEntry("", created=True))
        try:
            created_id = str(self._api.create(PlainAnswer, path, body)["id"])
        except ServerError:
            self._recorder.set(kind, key, None)
            raise
        self._recorder.set(kind, key, StateEntry(created_id, created=True))
        return created_id

    def change_group(self, step: ChangeGroup) -> None:
        path = self._path(step)
        if step.fields:
            self._api.patch(PlainAnswer, path, step.fields)
        if step.selector is not None:
            self._api.put(PlainAnswer, f"{path}/selector", {"labels": dict(step.selector)})
        env: dict[str, object] = {"variables": dict(step.variables)} if step.variables else {}
        if step.secrets:
            env["secrets"] = {name: self._secrets[name] for name in step.secrets}
        if env:
            self._api.patch(PlainAnswer, f"{path}/env", env)

    def assign(self, step: Assign) -> None:
        path = self._path(step)
        if step.target is None:
            self._api.patch(PlainAnswer, path, {"configuration_id": None, **self._message})
        elif step.action == "assign":
            self._api.patch(PlainAnswer, path, self._version(step.target) | self._message)
        else:
            rollout = dict(step.group.rollout or {})
            self._api.create(PlainAnswer, f"{path}/rollouts", self._version(step.target) | rollout | self._message)

    def remove_group(self, step: RemoveGroup) -> None:
        self._api.delete(f"/fleets/{step.fleet_id}/deployments/{step.current.id}")
        self._recorder.set(_GROUPS, f"{step.fleet_id}/{step.current.name}", None)

    def remove(self, step: RemoveFleet) -> None:
        self._api.delete(f"/fleets/{step.id}")
        self._recorder.set(_FLEETS, step.name, None)

    def _now(self, label: str) -> Mapping[str, FoundGroup]:
        if label not in self._groups:
            self._groups[label] = server.groups(self._api, self._ids[label])
        return self._groups[label]

    def _path(self, step: OfGroup) -> str:
        """Raises Failed if somebody changed the group after the plan was made, or it is gone."""
        now = self._now(step.fleet).get(step.group.name)
        if now is None or (step.current and _compared(now) != _compared(step.current)):
            raise Failed(CHANGED_MEANWHILE)
        return f"/fleets/{self._ids[step.fleet]}/deployments/{now.id}"

    def _version(self, target: AssignedVersion) -> dict[str, object]:
        return {"configuration_id": target.id or self._created[target.name], "version_number": target.n}


def remember(recorder: Recorder, desired: FolderContent, current: ServerContent) -> None:
    """Record the ids of what was created when nobody was told of it any longer; forget what is gone.

    Something of that name which the server does not say an apply created is somebody else's.
    """
    groups = {f"{fleet.id}/{name}": group for fleet in current.fleets.values() for name, group in fleet.groups.items()}
    there: dict[str, Mapping[str, FoundFleet | FoundGroup]] = {_FLEETS: current.fleets, _GROUPS: groups}
    for kind, known in there.items():
        entries: Mapping[str, StateEntry] = getattr(recorder.state, kind)
        for key, entry in list(entries.items()):
            created = known.get(key)
            # The folder has no ids of fleets, with which the keys of groups begin.
            if created is None and (kind == _GROUPS or key not in desired.fleets):
                recorder.set(kind, key, None)
            elif created and not entry.id:
                ours = created.managed_by == current.caller.mark
                recorder.set(kind, key, StateEntry(created.id, created=True) if ours else None)


def _compared(group: FoundGroup) -> tuple[object, ...]:
    return group.id, group.configuration_id, group.version_number, dict(group.fields), dict(group.selector)
