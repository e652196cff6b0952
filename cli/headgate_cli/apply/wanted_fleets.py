"""A fleet in a file, `fleets/LABEL.yaml`:

type: server                  # or kubernetes
expires_in: 1y                # for a fleet that is created
groups:
  Default:
    configuration: shop       # its newest published version, or shop@3; null assigns nothing
    rollout: {preset: canary} # how another version reaches the hosts; without it at once
  web:
    configuration: web
    selector: {role: web}     # labels that select hosts
    variables: {ZONE: a}      # all that are not secrets
    secrets: [API_KEY]        # the variable HEADGATE_SECRET_API_KEY of the command, if the group has none
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from headgate_cli.apply import sections
from headgate_cli.configurations.lookup import with_version
from headgate_cli.file_checks import Check, Wrong, boolean, keys, list_of, one_of, or_null, text, whole_number
from headgate_cli.suites.files import FileProblem, WrongTests
from headgate_cli.yaml_files import Place

TYPES: Final = {"server": "server-supervisor", "kubernetes": "kubernetes-supervisor"}
DEFAULT: Final = "Default"
_LIFETIMES: Final = ("180d", "1y", "2y", "never")
_ROLES: Final = ("node", "cluster", "gateway")
_PRESETS: Final = ("canary", "careful", "fast", "all_at_once")
_ON_FAILURE: Final = ("roll_back_step", "roll_back", "halt")
_OF_KUBERNETES: Final = ("role", "replicas", "namespace")
_OF_SERVERS: Final = ("selector",)
UPGRADE: Final = "upgrade_collector"


@dataclass(frozen=True, slots=True)
class FolderAssignment:
    """The version to assign: of a configuration, by its name; `n` is 0 for the newest published one."""

    configuration: str
    n: int = 0


@dataclass(frozen=True, slots=True)
class FolderGroup:
    """A deployment group. A field that is None stays as it is on the server.

    `clears` says that nothing is to be assigned. `rollout` has the fields of POST /rollouts beside the version.
    """

    name: str
    assignment: FolderAssignment | None = None
    clears: bool = False
    rollout: Mapping[str, object] | None = None
    fields: Mapping[str, object] = field(default_factory=dict)
    role: str | None = None
    selector: Mapping[str, str] | None = None
    variables: Mapping[str, str] | None = None
    secrets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FolderFleet:
    """A fleet; `expires_in` is for one that is created."""

    label: str
    file: str
    type: str
    expires_in: str | None
    groups: Mapping[str, FolderGroup]


_STEP: Final = keys(
    {
        "hosts": whole_number,
        "percent": whole_number,
        "canaries": boolean,
        "soak_seconds": whole_number,
        "approval": boolean,
    }
)
_WINDOW: Final = keys(dict.fromkeys(("start", "end", "time_zone"), text))
_LABELS: Final = sections.named(text)
_STRATEGY: Final[Mapping[str, Check]] = {
    "preset": one_of(_PRESETS),
    "steps": list_of(_STEP),
    "canaries": _LABELS,
    "max_unavailable": whole_number,
    "window": _WINDOW,
    "on_failure": one_of(_ON_FAILURE),
}
_GATES: Final = keys(
    {
        **dict.fromkeys(("apply_failed", "crash_loop", "silent", "delivery", "not_judged"), boolean),
        **dict.fromkeys(
            (
                *("tolerated_percent", "left", "restarts", "send_failed", "refused", "queue_growth"),
                *("throughput_drop", "memory_growth", "cpu_growth"),
            ),
            or_null(whole_number),
        ),
    }
)
_ROLLOUT: Final = keys({**_STRATEGY, "gates": _GATES, UPGRADE: boolean})


def _assignment(place: Place, value: object) -> FolderAssignment | None:
    if value is None:
        return None
    configuration, n = with_version(text(place, value))
    return FolderAssignment(sections.name(place, configuration), n)


_GROUP: Final = keys(
    {
        "configuration": _assignment,
        "rollout": _ROLLOUT,
        "role": one_of(_ROLES),
        "replicas": or_null(whole_number),
        "namespace": or_null(text),
        "selector": _LABELS,
        "variables": _LABELS,
        "secrets": list_of(sections.name),
    }
)
_FLEET: Final = keys(
    {
        "type": one_of(TYPES),
        "expires_in": one_of(_LIFETIMES),
        "groups": sections.named(_GROUP),
    }
)


def read(folder: Path, below: str, files: Mapping[str, str], problems: list[FileProblem]) -> dict[str, FolderFleet]:
    """The fleets of the files by their labels; adds to `problems` what is wrong."""
    fleets: dict[str, FolderFleet] = {}
    for label, file in files.items():
        relative = f"{below}/{file}"
        path = str(folder / relative)
        try:
            fleets[label] = cast("FolderFleet", sections.document(folder, relative, _of_file(label, path)))
        except WrongTests as error:
            problems += error.problems
    return fleets


def _of_file(label: str, path: str) -> Check:
    def checked(place: Place, value: object) -> FolderFleet:
        fields = cast("dict[str, object]", _FLEET(place, value))
        kind = str(fields.get("type", "server"))
        groups = cast("dict[str, dict[str, object]]", fields.get("groups", {}))
        expires_in = cast("str | None", fields.get("expires_in"))
        if kind == "kubernetes" and expires_in not in (None, "never"):
            raise Wrong((*place, "expires_in"), "is for server fleets: the token of a Kubernetes fleet does not expire")
        return FolderFleet(
            label,
            path,
            TYPES[kind],
            expires_in,
            {name: _group(kind, name, group) for name, group in groups.items()},
        )

    return checked


def _group(kind: str, name: str, fields: Mapping[str, object]) -> FolderGroup:
    place: Place = ("groups", name)
    for key in _OF_KUBERNETES if kind == "server" else _OF_SERVERS:
        if key in fields:
            suited = "kubernetes" if kind == "server" else "server"
            raise Wrong((*place, key), f"is for fleets of the type {suited}: leave it out")
    selector = cast("Mapping[str, str] | None", fields.get("selector"))
    variables = cast("Mapping[str, str] | None", fields.get("variables"))
    secrets = cast("Sequence[str]", fields.get("secrets", ()))
    if selector and name == DEFAULT:
        raise Wrong((*place, "selector"), "labels cannot select the hosts of the Default group")
    if selector and (variables or secrets):
        raise Wrong((*place, "selector"), "labels cannot select the hosts of a group with stored variables")
    if both := sorted(set(variables or ()) & set(secrets)):
        raise Wrong((*place, "secrets"), f"{both[0]} is among the variables as well")
    if name != DEFAULT and "configuration" not in fields:
        raise Wrong(place, "configuration is missing: a group is created with what it runs")
    rollout = cast("dict[str, object] | None", fields.get("rollout"))
    return FolderGroup(
        name,
        assignment=cast("FolderAssignment | None", fields.get("configuration")),
        clears="configuration" in fields and fields["configuration"] is None,
        rollout=None if rollout is None else _request(rollout),
        fields={key: fields[key] for key in ("replicas", "namespace") if key in fields},
        role=cast("str | None", fields.get("role")),
        selector=selector,
        variables=variables,
        secrets=secrets,
    )


def _request(rollout: Mapping[str, object]) -> dict[str, object]:
    """The fields of POST /rollouts, without the version."""
    strategy = {key: value for key, value in rollout.items() if key in _STRATEGY}
    beside = {key: rollout[key] for key in ("gates", UPGRADE) if key in rollout}
    return ({"strategy": strategy} if strategy else {}) | beside
