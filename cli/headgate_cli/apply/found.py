"""Reading the server's state of what a folder is about, by as few requests as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headgate_cli import shapes
from headgate_cli.api import Api
from headgate_cli.apply.state import AppliedState, StateEntry, digest_of_tests
from headgate_cli.apply.wanted import FolderConfiguration, FolderContent
from headgate_cli.apply.wanted_fleets import FolderFleet
from headgate_cli.configurations.lookup import gates_of
from headgate_cli.errors import Failed
from headgate_cli.fleets import lookup
from headgate_cli.suites import stored
from headgate_cli.untrusted import one_line


@dataclass(frozen=True, slots=True)
class CredentialOwner:
    """The owner of the credential."""

    organization_id: str
    organization_name: str
    kind: str
    id: str
    role: str
    access: str
    folder: str = ""
    """The mark that tells the applied folder from others, see `state.Recorder`."""

    @property
    def mark(self) -> str:
        """`managed_by` of what an apply of the folder by this credential's owner creates: the server keeps it as it
        is."""
        return f"headgate apply {self.id} folder {self.folder}"

    def is_of_another_folder(self, managed_by: str) -> bool:
        """True if an apply of another folder manages it, by any credential."""
        applied, _, folder = managed_by.partition(" folder ")
        return applied.startswith("headgate apply ") and folder not in ("", self.folder)

    @property
    def is_admin(self) -> bool:
        return self.kind == "user" and self.role == "admin"


@dataclass(frozen=True, slots=True)
class ReadVersion:
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
    version: ReadVersion | None = None

    @property
    def is_draft(self) -> bool:
        return self.latest != self.published


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A deployment group. `rollout` is the newest one, if it was asked for and there is one.

    `first_by_rollout` is True while its collectors go on with what they had before it was managed.
    """

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
    rollout: shapes.RolloutOut | None = None
    first_by_rollout: bool = False


@dataclass(frozen=True, slots=True)
class FoundFleet:
    id: str
    label: str
    type: str
    expires_in: str
    groups: Mapping[str, FoundGroup] = field(default_factory=dict)
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class ServerContent:
    """By name what the folder or the state has; `by_id` are all configurations that the caller sees."""

    caller: CredentialOwner
    configurations: Mapping[str, FoundConfiguration] = field(default_factory=dict)
    by_id: Mapping[str, FoundConfiguration] = field(default_factory=dict)
    fleets: Mapping[str, FoundFleet] = field(default_factory=dict)
    policies: Mapping[str, object] = field(default_factory=dict)
    policies_etag: str = ""


def caller(api: Api) -> CredentialOwner:
    """One request."""
    identity = api.get(shapes.Identity, "/identity")
    organization = identity["organization_id"], identity["organization_name"]
    return CredentialOwner(*organization, identity["kind"], identity["id"], identity["role"], identity["access"])


def read(api: Api, caller: CredentialOwner, desired: FolderContent, state: AppliedState) -> ServerContent:
    """Raises Failed, also for a name that two configurations of the server have."""
    by_id = listed(api)
    missing = desired.configurations.keys() - {known.name for known in by_id.values()}
    if missing or any(entry.id and entry.id not in by_id for entry in state.configurations.values()):
        by_id |= listed(api, archived=True)
    named = _by_name(desired.configurations, by_id)
    for name, entry in state.configurations.items():
        # Somebody renamed it, or the folder does not have it any longer.
        if name not in named and entry.id in by_id:
            named[name] = by_id[entry.id]
    for name, configuration in desired.configurations.items():
        there = named.get(name)
        if there and not is_known(configuration, there, state.configurations.get(name)):
            named[name] = replace(there, version=_version(api, configuration, there))
    settings: Mapping[str, object] = {}
    etag = ""
    if desired.policies:
        answer, etag = api.get_with_etag(shapes.PoliciesOut, "/policies")
        settings = answer["settings"]
    return ServerContent(caller, named, by_id, _fleets(api, desired, state), settings, etag)


def listed(api: Api, *, archived: bool = False) -> dict[str, FoundConfiguration]:
    """The configurations that the caller sees by id; a request for each hundred."""
    return {
        summary["id"]: FoundConfiguration(
            id=summary["id"],
            name=summary["name"],
            description=summary["description"] or "",
            latest=summary["latest_version"],
            published=summary["published_version"] or 0,
            updated_at=summary["updated_at"],
            archived=bool(summary["archived_at"]),
            managed_by=summary["managed_by"] or "",
        )
        for summary in api.items(shapes.ConfigurationSummary, "/configurations", archived="true" if archived else "")
    }


def is_known(desired: FolderConfiguration, there: FoundConfiguration, entry: StateEntry | None) -> bool:
    """True if it need not be read: nobody changed it since it was seen, and the folder wants what was seen."""
    if entry is None or entry.id != there.id or there.archived:
        return False
    seen, tests = entry.seen, desired.test_digests
    return (
        (seen.version, seen.updated_at, seen.sha256) == (there.latest, there.updated_at, desired.sha256)
        and (tests is None or digest_of_tests(tests) == seen.tests)
        and desired.collector_version in ("", seen.collector_version)
    )


def groups(api: Api, fleet_id: str) -> dict[str, FoundGroup]:
    """The groups of a fleet by name, without what takes further requests."""
    return {
        group["name"]: FoundGroup(
            id=group["id"],
            name=group["name"],
            is_default=group["is_default"],
            configuration_id=group["configuration_id"] or "",
            version_number=group["version_number"] or 0,
            updated_at=group["updated_at"],
            managed_by=group["managed_by"] or "",
            role=group["role"],
            fields={"replicas": group["replicas"], "namespace": group["namespace"]},
            selector=group["selector"] or {},
            # A server of an earlier release does not say it.
            first_by_rollout=bool(group.get("first_by_rollout")),
        )
        for group in lookup.groups(api, fleet_id)
    }


def _by_name(names: Iterable[str], by_id: Mapping[str, FoundConfiguration]) -> dict[str, FoundConfiguration]:
    """Those of the names, an archived one only if no other has the name. Raises Failed for a name held twice."""
    known_names = set(names)
    by_name: dict[str, list[FoundConfiguration]] = {}
    for configuration in by_id.values():
        if configuration.name in known_names:
            by_name.setdefault(configuration.name, []).append(configuration)
    named: dict[str, FoundConfiguration] = {}
    twice: list[str] = []
    for name, holders in sorted(by_name.items()):
        used = [holder for holder in holders if not holder.archived] or holders
        if len(used) > 1:
            ids = ", ".join(one_line(holder.id) for holder in used)
            twice.append(f"{len(used)} configurations on the server are called {one_line(name)!r} ({ids})")
        named[name] = used[0]
    if twice:
        raise Failed(
            "\n  ".join([*twice, "rename all but one with `headgate config rename ID NAME`; nothing was changed"])
        )
    return named


def _version(api: Api, desired: FolderConfiguration, there: FoundConfiguration) -> ReadVersion:
    """One request, and another one for the tests."""
    path = f"/configurations/{there.id}/versions/{there.latest}"
    version, etag = api.get_with_etag(shapes.VersionDetail, path)
    tests = None if desired.tests is None else stored.digests(api, there.id, there.latest)
    return ReadVersion(version["yaml"], version["collector_version"], etag, tests, gates_of(version))


def _fleets(api: Api, desired: FolderContent, state: AppliedState) -> dict[str, FoundFleet]:
    """The fleets that the folder or the state has, each with its groups."""
    about = {*desired.fleets, *state.fleets}
    if not about:
        return {}
    fleets: dict[str, FoundFleet] = {}
    for stored_fleet in api.items(shapes.FleetOut, "/fleets"):
        fleet_id, label = stored_fleet["id"], stored_fleet["label"]
        if label not in about:
            continue
        there = groups(api, fleet_id)
        if fleet := desired.fleets.get(label):
            there = {name: _with_details(api, fleet_id, fleet, group) for name, group in there.items()}
        facts = stored_fleet["type"], stored_fleet["expires_in"], there, stored_fleet["managed_by"] or ""
        fleets[label] = FoundFleet(fleet_id, label, *facts)
    return fleets


def _with_details(api: Api, fleet_id: str, fleet: FolderFleet, group: FoundGroup) -> FoundGroup:
    """With its variables and newest rollout, as far as the folder says something of them."""
    desired = fleet.groups.get(group.name)
    if desired is None:
        return group
    path = f"/fleets/{fleet_id}/deployments/{group.id}"
    if desired.variables is not None or desired.secrets:
        variables = api.get(shapes.EnvOut, f"{path}/env")["items"]
        group = replace(
            group,
            variables={variable["name"]: variable["value"] or "" for variable in variables if not variable["secret"]},
            secrets=[variable["name"] for variable in variables if variable["secret"]],
        )
    if desired.assignment or desired.clears:
        newest = api.get(shapes.RolloutOutPage, f"{path}/rollouts", limit=1)["items"]
        group = replace(group, rollout=newest[0] if newest else None)
    return group
