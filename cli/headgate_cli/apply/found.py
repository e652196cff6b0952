"""What the server holds of what a folder is about, by as few requests as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from headgate_cli.api import Api, Entity, entities, number, optional, text
from headgate_cli.apply.state import Entry, State, digest_of_tests
from headgate_cli.apply.wanted import Configuration, Wanted
from headgate_cli.apply.wanted_fleets import Fleet
from headgate_cli.configurations.lookup import gates_of
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.suites import stored
from headgate_cli.untrusted import one_line


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose credential it is."""

    organization_id: str
    organization_name: str
    kind: str
    id: str
    role: str
    access: str
    folder: str = ""
    """What tells the folder that is applied from others, see `state.Recorder`."""

    @property
    def mark(self) -> str:
        """`managed_by` of what an apply of the folder by this credential's owner creates: the server keeps it as it
        is."""
        return f"{self.mark_without_folder} folder {self.folder}"

    @property
    def mark_without_folder(self) -> str:
        """That of releases that did not tell folders apart."""
        return f"headgate apply {self.id}"

    def applied(self, managed_by: str) -> bool:
        """Whether an apply of this folder created it, or may have before folders were told apart."""
        return managed_by in (self.mark, self.mark_without_folder)

    def is_of_another_folder(self, managed_by: str) -> bool:
        """Whether an apply of another folder manages it, by any credential."""
        applied, _, folder = managed_by.partition(" folder ")
        return applied.startswith("headgate apply ") and folder not in ("", self.folder)

    @property
    def is_admin(self) -> bool:
        return self.kind == "user" and self.role == "admin"


@dataclass(frozen=True, slots=True)
class Version:
    """The latest version as it was read. `tests` has the SHA-256 of each, None if they were not asked for."""

    yaml: str
    collector_version: str
    etag: str
    tests: Mapping[str, str] | None
    feature_gates: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FoundConfiguration:
    """A configuration as lists have it; `version` is None if it is known from the state."""

    id: str
    name: str
    description: str
    latest: int
    published: int
    updated_at: str
    archived: bool = False
    managed_by: str = ""
    version: Version | None = None

    @property
    def is_draft(self) -> bool:
        return self.latest != self.published


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A deployment group. `rollout` is the newest one, if it was asked for and there is one."""

    id: str
    name: str
    is_default: bool
    configuration_id: str
    version_number: int
    updated_at: str
    managed_by: str = ""
    role: str | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    selector: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    rollout: Entity | None = None


@dataclass(frozen=True, slots=True)
class FoundFleet:
    id: str
    label: str
    type: str
    expires_in: str
    groups: Mapping[str, FoundGroup] = field(default_factory=dict)
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """By name what the folder or the state has; `by_id` are all configurations that the caller sees."""

    caller: Caller
    configurations: Mapping[str, FoundConfiguration] = field(default_factory=dict)
    by_id: Mapping[str, FoundConfiguration] = field(default_factory=dict)
    fleets: Mapping[str, FoundFleet] = field(default_factory=dict)
    policies: Mapping[str, object] = field(default_factory=dict)
    policies_etag: str = ""


def caller(api: Api) -> Caller:
    """One request."""
    said = api.get("/identity")
    return Caller(*(text(said, one.name) for one in fields(Caller) if one.name != "folder"))


def read(api: Api, caller: Caller, wanted: Wanted, state: State) -> Found:
    """Raises Failed, also for a name that two configurations of the server have."""
    by_id = listed(api)
    missing = wanted.configurations.keys() - {one.name for one in by_id.values()}
    if missing or _gone(state, by_id):
        by_id |= listed(api, archived=True)
    named = _by_name(wanted.configurations, by_id)
    for name, entry in state.configurations.items():
        # Somebody renamed it, or the folder does not have it any longer.
        if name not in named and entry.id in by_id:
            named[name] = by_id[entry.id]
    for name, configuration in wanted.configurations.items():
        there = named.get(name)
        if there and not is_known(configuration, there, state.configurations.get(name)):
            named[name] = replace(there, version=_version(api, configuration, there))
    settings: Entity = {}
    etag = ""
    if wanted.policies:
        answer, etag = api.get_with_etag("/policies")
        held = answer.get("settings")
        settings = held if isinstance(held, Mapping) else {}
    return Found(caller, named, by_id, _fleets(api, wanted, state), settings, etag)


def listed(api: Api, *, archived: bool = False) -> dict[str, FoundConfiguration]:
    """The configurations that the caller sees by id; a request for each hundred."""
    wanted = {"archived": "true"} if archived else {}
    return {
        text(one, "id"): FoundConfiguration(
            id=text(one, "id"),
            name=text(one, "name"),
            description=optional(one, "description"),
            latest=number(one, "latest_version"),
            published=_count(one, "published_version"),
            updated_at=text(one, "updated_at"),
            archived=bool(one.get("archived_at")),
            managed_by=optional(one, "managed_by"),
        )
        for one in api.items("/configurations", **wanted)
    }


def is_known(wanted: Configuration, there: FoundConfiguration, entry: Entry | None) -> bool:
    """Whether it need not be read: nobody changed it since it was seen, and the folder wants what was seen."""
    if entry is None or entry.id != there.id or there.archived:
        return False
    seen, tests = entry.seen, wanted.test_digests
    return (
        (seen.version, seen.updated_at, seen.sha256) == (there.latest, there.updated_at, wanted.sha256)
        and (tests is None or digest_of_tests(tests) == seen.tests)
        and wanted.collector_version in ("", seen.collector_version)
    )


def groups(api: Api, fleet_id: str) -> dict[str, FoundGroup]:
    """The groups of a fleet by name, without what takes further requests."""
    return {
        text(one, "name"): FoundGroup(
            id=text(one, "id"),
            name=text(one, "name"),
            is_default=one.get("is_default") is True,
            configuration_id=optional(one, "configuration_id"),
            version_number=_count(one, "version_number"),
            updated_at=text(one, "updated_at"),
            managed_by=optional(one, "managed_by"),
            role=optional(one, "role") or None,
            fields={name: one.get(name) for name in ("replicas", "namespace")},
            selector=_texts(one.get("selector")),
        )
        for one in lookup.groups(api, fleet_id)
    }


def _gone(state: State, by_id: Mapping[str, FoundConfiguration]) -> bool:
    return any(entry.id and entry.id not in by_id for entry in state.configurations.values())


def _by_name(names: Iterable[str], by_id: Mapping[str, FoundConfiguration]) -> dict[str, FoundConfiguration]:
    """Those of the names, an archived one only if no other has the name. Raises Failed for a name held twice."""
    wanted = set(names)
    found: dict[str, list[FoundConfiguration]] = {}
    for one in by_id.values():
        if one.name in wanted:
            found.setdefault(one.name, []).append(one)
    named: dict[str, FoundConfiguration] = {}
    twice: list[str] = []
    for name, holders in sorted(found.items()):
        used = [one for one in holders if not one.archived] or holders
        if len(used) > 1:
            ids = ", ".join(one_line(one.id) for one in used)
            twice.append(f"{len(used)} configurations on the server are called {one_line(name)!r} ({ids})")
        named[name] = used[0]
    if twice:
        raise Failed(
            "\n  ".join([*twice, "rename all but one with `headgate config rename ID NAME`; nothing was changed"])
        )
    return named


def _version(api: Api, wanted: Configuration, there: FoundConfiguration) -> Version:
    """One request, and another one for the tests."""
    found, etag = api.get_with_etag(f"/configurations/{there.id}/versions/{there.latest}")
    tests = None if wanted.tests is None else stored.digests(api, there.id, there.latest)
    return Version(text(found, "yaml"), text(found, "collector_version"), etag, tests, gates_of(found))


def _fleets(api: Api, wanted: Wanted, state: State) -> dict[str, FoundFleet]:
    """The fleets that the folder or the state has, each with its groups."""
    about = {*wanted.fleets, *state.fleets}
    if not about:
        return {}
    found: dict[str, FoundFleet] = {}
    for one in api.items("/fleets"):
        label = text(one, "label")
        if label not in about:
            continue
        fleet_id = text(one, "id")
        there = groups(api, fleet_id)
        fleet = wanted.fleets.get(label)
        if fleet:
            there = {name: _with_details(api, fleet_id, fleet, group) for name, group in there.items()}
        managed_by = optional(one, "managed_by")
        found[label] = FoundFleet(fleet_id, label, text(one, "type"), text(one, "expires_in"), there, managed_by)
    return found


def _with_details(api: Api, fleet_id: str, fleet: Fleet, group: FoundGroup) -> FoundGroup:
    """With its variables and newest rollout, as far as the folder says something of them."""
    wanted = fleet.groups.get(group.name)
    if wanted is None:
        return group
    path = f"/fleets/{fleet_id}/deployments/{group.id}"
    if wanted.variables is not None or wanted.secrets:
        stored_here = entities(api.get(f"{path}/env"), "items")
        group = replace(
            group,
            variables={text(one, "name"): optional(one, "value") for one in stored_here if not one.get("secret")},
            secrets=[text(one, "name") for one in stored_here if one.get("secret")],
        )
    if wanted.assignment or wanted.clears:
        newest = entities(api.get(f"{path}/rollouts", limit=1), "items")
        group = replace(group, rollout=newest[0] if newest else None)
    return group


def _count(entity: Entity, name: str) -> int:
    """The number of a version; 0 if the field is absent or null. Raises Failed."""
    return 0 if entity.get(name) is None else number(entity, name)


def _texts(value: object) -> Mapping[str, str]:
    return {str(key): str(entry) for key, entry in value.items()} if isinstance(value, Mapping) else {}
