"""The part of a plan that is about fleets: groups and their fields first, what they run last, removals after that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from headgate_cli.apply.found import CredentialOwner, FoundConfiguration, FoundFleet, FoundGroup, ServerContent
from headgate_cli.apply.state import AppliedState
from headgate_cli.apply.steps import (
    ADOPTED,
    ANOTHERS,
    IDLE,
    ApplyStep,
    Assign,
    AssignedVersion,
    ChangeGroup,
    CreateGroup,
    FleetCreation,
    RemoveFleet,
    RemoveGroup,
    stays,
)
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.apply.wanted_fleets import DEFAULT, UPGRADE, FolderAssignment, FolderFleet, FolderGroup
from headgate_cli.configurations.folder import SETTINGS

_UNDER_WAY: Final = ("in_progress", "paused", "waiting_for_approval", "halted", "rolling_back")
_TAKEN_BACK: Final = ("rolled_back", "aborted")
_KEPT: Final = "it is not in the folder any longer: --prune deletes it"
_FIRST_BY_ROLLOUT: Final = (
    "its collectors go on with what they had before they were managed, so that a rollout brings the first version: add "
    "`rollout: {preset: canary}` to the group"
)
_FIRST: Final = "the first version: hosts that run another are named"
# A variable of the command begins so if it has the value of a secret; the secret's name follows.
SECRETS: Final = "HEADGATE_SECRET_"
_SERVERS: Final = "server-supervisor"


class Unresolved(ValueError):
    """An assignment names nothing that can be assigned."""


def plan(
    folder: FolderContent,
    server: ServerContent,
    state: AppliedState,
    refused: Collection[str],
    publishing: Mapping[str, int],
    *,
    prune: bool,
    secrets: Mapping[str, str],
    adopt: bool,
) -> list[ApplyStep]:
    """`refused` are the names of configurations that are not saved, `publishing` the versions to publish by name."""

    def resolve(assignment: FolderAssignment) -> AssignedVersion:
        if assignment.configuration in refused:
            raise Unresolved(f"its configuration {assignment.configuration} is refused")
        return _target(assignment, folder, server, publishing)

    changed: list[ApplyStep] = []
    running: list[ApplyStep] = []
    for label, fleet in folder.fleets.items():
        there = server.fleets.get(label)
        if there is None:
            expires = f", its token expires in {fleet.expires_in}" if fleet.expires_in else ""
            changes = [f"{fleet.type}{expires}"]
            changed.append(FleetCreation(kind="fleet", name=label, action="create", changes=changes, desired=fleet))
        elif reason := _unlike(fleet, there):
            changed.append(ApplyStep(kind="fleet", name=label, action="refused", reason=reason))
            continue
        for group in fleet.groups.values():
            fields, runs = _group(fleet, group, there, resolve, secrets)
            if _is_anothers(server.caller, there, group.name):
                fields, runs = _taken_over(server.caller, fleet, group, there, fields, runs, adopt=adopt)
            changed += fields
            running += runs
    return [*changed, *running, *_removed(folder, server, state, prune=prune)]


def users(server: ServerContent, steps: Sequence[ApplyStep]) -> dict[str, str]:
    """Name a group by the id of the configuration that it still runs after the steps, for each that some group runs.

    A rollout assigns its version when it ends.
    """
    gone = {(step.kind, step.name) for step in steps if step.action == "delete"}
    assigned = {
        step.name: step.target.id if step.target else ""
        for step in steps
        if isinstance(step, Assign) and step.action != "roll_out"
    }
    groups: dict[str, str] = {}
    for label, fleet in server.fleets.items():
        for group in fleet.groups.values():
            name = f"{label}/{group.name}"
            if ("fleet", label) not in gone and ("group", name) not in gone:
                groups.setdefault(assigned.get(name, group.configuration_id), name)
    groups.pop("", None)
    return groups


def _unlike(fleet: FolderFleet, there: FoundFleet) -> str:
    """The reason why the fleet on the server cannot become that of the file; empty if it can."""
    if fleet.type != there.type:
        return f"it is a {there.type} on the server, and a type never changes: delete it there, or name it otherwise"
    if fleet.expires_in not in (None, there.expires_in):
        return f"its token was created with expires_in {there.expires_in}, which does not change: correct the file"
    return ""


def _group(
    fleet: FolderFleet,
    group: FolderGroup,
    there: FoundFleet | None,
    resolve: Callable[[FolderAssignment], AssignedVersion],
    secrets: Mapping[str, str],
) -> tuple[list[ApplyStep], list[ApplyStep]]:
    name = f"{fleet.label}/{group.name}"
    is_there = there.groups.get(group.name) if there else None
    # It comes with its fleet.
    new_default = group.name == DEFAULT and fleet.type == _SERVERS and is_there is None

    def refused(reason: str) -> tuple[list[ApplyStep], list[ApplyStep]]:
        return [ApplyStep(kind="group", name=name, action="refused", reason=reason)], []

    try:
        target = resolve(group.assignment) if group.assignment else None
    except Unresolved as error:
        return refused(str(error))
    missing = [secret for secret in group.secrets if secret not in (is_there.secrets if is_there else ())]
    if lacking := [secret for secret in missing if not secrets.get(secret)]:
        return refused(
            f"its secret {lacking[0]} is not stored: set the variable {SECRETS}{lacking[0]} for this command"
        )
    if is_there and group.role not in (None, is_there.role):
        return refused(f"its role is {is_there.role}, which does not change: name the group otherwise")
    if is_there is None and not new_default:
        if target is None:
            return refused("a group is created with what it runs: name a configuration")
        created = CreateGroup(
            kind="group",
            name=name,
            action="create",
            changes=[f"runs {target}"],
            fleet=fleet.label,
            group=group,
            current=None,
            target=target,
        )
        return [created, *_fields(fleet, group, name, None, missing)], []
    return [*_fields(fleet, group, name, is_there, missing)], [*_runs(fleet, group, name, is_there, target)]


def _is_anothers(caller: CredentialOwner, there: FoundFleet | None, name: str) -> bool:
    """True if another folder applies the group; the default group belongs to the folder that created its fleet."""
    group = there.groups.get(name) if there else None
    if there is None or group is None:
        return False
    return caller.is_of_another_folder(group.managed_by or (there.managed_by if group.is_default else ""))


def _taken_over(
    caller: CredentialOwner,
    fleet: FolderFleet,
    group: FolderGroup,
    there: FoundFleet | None,
    fields: list[ApplyStep],
    runs: list[ApplyStep],
    *,
    adopt: bool,
) -> tuple[list[ApplyStep], list[ApplyStep]]:
    """The steps of a group of another folder: with `adopt` it becomes this one's, otherwise they are refused."""
    name = f"{fleet.label}/{group.name}"
    steps = [*fields, *runs]
    if any(step.action == "refused" for step in steps):
        return fields, runs
    if not adopt:
        refused = ApplyStep(kind="group", name=name, action="refused", reason=ANOTHERS)
        return ([refused], []) if any(step.action not in IDLE for step in steps) else (fields, runs)
    adopts = ChangeGroup(
        kind="group",
        name=name,
        action="change",
        changes=[ADOPTED],
        fleet=fleet.label,
        group=group,
        current=there.groups.get(group.name) if there else None,
        fields={"managed_by": caller.mark},
    )
    return [adopts, *fields], runs


def _target(
    assignment: FolderAssignment, folder: FolderContent, server: ServerContent, publishing: Mapping[str, int]
) -> AssignedVersion:
    """Raises Unresolved."""
    name = assignment.configuration
    there = server.configurations.get(name) if name in folder.configurations else _elsewhere(name, server)
    if there is None and name not in folder.configurations:
        raise Unresolved(f"there is no configuration {name}, in the folder or on the server")
    published = publishing.get(name) or (there.published if there else 0)
    if not (assignment.n or published):
        raise Unresolved(f"{name} has no published version: set `publish: true` for it in {SETTINGS}")
    return AssignedVersion(name=name, id=there.id if there else "", n=assignment.n or published)


def _elsewhere(name: str, server: ServerContent) -> FoundConfiguration | None:
    named = [
        configuration
        for configuration in server.by_id.values()
        if configuration.name == name and not configuration.archived
    ]
    if len(named) > 1:
        raise Unresolved(f"{len(named)} configurations on the server are called {name}")
    return named[0] if named else None


def _fields(
    fleet: FolderFleet, group: FolderGroup, name: str, there: FoundGroup | None, missing: Sequence[str]
) -> Iterator[ChangeGroup]:
    """The changes beside the assignment; for a group that is created with it, only those that take further requests."""
    creating = there is None and group.name != DEFAULT
    fields = {
        key: value
        for key, value in group.fields.items()
        if not creating and (there is None or there.fields.get(key) != value)
    }
    selector = group.selector if group.selector != (there.selector if there else {}) else None
    stored = there.variables if there else {}
    variables: dict[str, str | None] = {}
    if group.variables is not None:
        variables |= {key: value for key, value in group.variables.items() if stored.get(key) != value}
        variables |= {key: None for key in stored if key not in group.variables and key not in group.secrets}
    changes = [
        *(f"{key} {value}" for key, value in fields.items()),
        *([f"hosts selected by {_labels(selector)}"] if selector is not None else []),
        *(f"variable {key} {'removed' if value is None else 'set'}" for key, value in sorted(variables.items())),
        *(f"secret {key} set" for key in missing),
    ]
    if changes:
        yield ChangeGroup(
            kind="group",
            name=name,
            action="change",
            changes=changes,
            fleet=fleet.label,
            group=group,
            current=there,
            fields=fields,
            selector=selector,
            variables=variables,
            secrets=missing,
        )


def _runs(
    fleet: FolderFleet, group: FolderGroup, name: str, there: FoundGroup | None, target: AssignedVersion | None
) -> Iterator[ApplyStep]:
    """The step that changes what the group runs."""
    now = (there.configuration_id, there.version_number) if there else ("", 0)
    if reason := _unfinished(fleet, group, there, target):
        yield ApplyStep(kind="group", name=name, action="left_out", reason=reason)
    elif group.clears and now[0]:
        yield Assign(
            kind="group",
            name=name,
            action="clear",
            changes=["nothing is assigned any longer: its collectors stop"],
            fleet=fleet.label,
            group=group,
            current=there,
            target=None,
        )
    elif target and (target.id, target.n) != now:
        # A group that is new has no hosts: steps would wait for nobody, and an approval or a window would hold up those
        # that come.
        rolls = group.rollout is not None and there is not None
        is_first = there is not None and there.first_by_rollout
        if is_first and not rolls:
            yield ApplyStep(kind="group", name=name, action="refused", reason=_FIRST_BY_ROLLOUT)
            return
        yield Assign(
            kind="group",
            name=name,
            action="roll_out" if rolls else "assign",
            changes=[f"{target}{f', {_strategy(group)}' if rolls else ' at once'}", *([_FIRST] if is_first else [])],
            fleet=fleet.label,
            group=group,
            current=there,
            target=target,
        )


def _unfinished(
    fleet: FolderFleet, group: FolderGroup, there: FoundGroup | None, target: AssignedVersion | None
) -> str:
    """The reason to leave the group's newest rollout as it is, whoever started it; empty if it is not in the way."""
    newest = there.rollout if there else None
    if there is None or newest is None or not (target or group.clears):
        return ""
    now = (there.configuration_id, there.version_number)
    wants = (target.id, target.n) if target else ("", 0)
    rolled_out = (newest["configuration_id"], newest["version_number"])
    status = newest["status"]
    see = f"see `headgate rollout show {fleet.label} {group.name}`"
    if status in _UNDER_WAY and rolled_out != now:
        if rolled_out == wants:
            return f"the rollout of {target} is under way ({status.replace('_', ' ')}): {see}"
        if wants == now:
            # A rollout changes the assignment when it ends.
            return f"it is assigned {target or 'nothing'}, but a rollout of another version is under way: {see}"
        if group.rollout is None:
            return (
                f"a rollout of another version is under way, and {target or 'clearing the group'} at once would end "
                f"it: {see}, and wait, or abort it"
            )
    if status in _TAKEN_BACK and rolled_out == wants != now:
        return f"the rollout of {target} was taken back: {see}, and start it again by hand, or mend it"
    return ""


def _strategy(group: FolderGroup) -> str:
    strategy = (group.rollout or {}).get("strategy")
    fields = strategy if isinstance(strategy, Mapping) else {}
    steps = fields.get("steps")
    words = f"in {len(steps)} steps" if isinstance(steps, list) else f"strategy {fields.get('preset', 'canary')}"
    return f"{words}, collectors are upgraded" if (group.rollout or {}).get(UPGRADE) else words


def _removed(folder: FolderContent, server: ServerContent, state: AppliedState, *, prune: bool) -> Iterator[ApplyStep]:
    for label, there in sorted(server.fleets.items()):
        fleet, entry = folder.fleets.get(label), state.fleets.get(label)
        for name, group in sorted(there.groups.items()):
            known = state.groups.get(f"{there.id}/{name}")
            if (fleet and name in fleet.groups) or not known or not known.created or known.id != group.id:
                continue
            shown = f"{label}/{name}"
            if reason := stays(group.managed_by, server.caller):
                yield ApplyStep(kind="group", name=shown, action="left_out", reason=reason)
            elif prune:
                yield RemoveGroup(
                    kind="group", name=shown, action="delete", fleet=label, fleet_id=there.id, current=group
                )
            else:
                yield ApplyStep(kind="group", name=shown, action="kept", reason=_KEPT)
        if fleet is None and entry and entry.created and entry.id == there.id:
            if reason := stays(there.managed_by, server.caller):
                yield ApplyStep(kind="fleet", name=label, action="left_out", reason=reason)
            elif prune:
                yield RemoveFleet(kind="fleet", name=label, action="delete", id=there.id)
            else:
                yield ApplyStep(kind="fleet", name=label, action="kept", reason=_KEPT)


def _labels(labels: Mapping[str, str] | None) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "no labels"
