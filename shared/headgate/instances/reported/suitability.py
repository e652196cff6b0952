"""Suitability of a group's collectors for a version: those that report another version, or lack a component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate.configurations import pipelines
from headgate.configurations.model import Version
from headgate.foundation import clock
from headgate.instances import store
from headgate.instances.model import Instance
from headgate.instances.reported import components
from headgate.instances.reported.host import GATES_LABEL

# A page of the table: what is warned of needs no exact number.
_MOST_READ: Final = 1_000
_MOST_FINDINGS: Final = 50
# A version is its host's word, of up to 255 characters.
_MOST_VERSIONS: Final = 5


@dataclass(frozen=True, slots=True)
class Unsuited:
    """A requirement of a version that collectors of a group lack; `code` is a stable word for it."""

    message: str
    component_path: str
    code: str


@dataclass(frozen=True, slots=True)
class UnsuitedHosts:
    """The collectors of a group that report; `among` says how many were read, `lists` what they have.

    Those are `is_partial` if the fleet has instances that were not read.
    """

    hosts: Sequence[Instance] = ()
    among: str = ""
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)
    is_partial: bool = False

    def unsuited(self, version: Version | None) -> Sequence[Unsuited]:
        """The requirements of the version that they lack."""
        if version is None:
            return ()
        return [
            *_other_versions(self.hosts, version, self.among),
            *_without_gates(self.hosts, version, self.among),
            *_lacking(self, version),
        ]


def hosts_of(fleet_id: str, deployment_id: str) -> UnsuitedHosts:
    """The hosts of a group of a fleet that the caller is known to see; two reads.

    In a large fleet it looks at the first 1,000 instances.
    """
    at = clock.now()
    read = store.instances(fleet_id, _MOST_READ, None)
    hosts = [each for each in read.entries if each.deployment_id == deployment_id and not each.is_stale(at)]
    collectors = "1 collector" if len(hosts) == 1 else f"{len(hosts):,} collectors"
    is_partial = read.position is not None
    among = f"the {collectors} that were looked at" if is_partial else f"this group's {collectors}"
    lists = components.known(fleet_id) if any(host.reported.components for host in hosts) else {}
    return UnsuitedHosts(hosts, among, lists, is_partial)


def _other_versions(hosts: Iterable[Instance], version: Version, among: str) -> Iterable[Unsuited]:
    others = Counter(
        host.reported.description.collector_version
        for host in hosts
        if host.reported.description.collector_version not in (None, version.collector_version)
    )
    if others:
        named = others.most_common(_MOST_VERSIONS)
        runs = ", ".join(f"{n:,} run {entry}" for entry, n in sorted(named, key=lambda each: str(each[0])))
        if rest := others.total() - sum(n for _, n in named):
            runs += f", {rest:,} run others"
        yield Unsuited(
            f"The version is for collector {version.collector_version}; of {among}, {runs}",
            "",
            "other_collector_version",
        )


def _without_gates(hosts: Sequence[Instance], version: Version, among: str) -> Iterable[Unsuited]:
    """Hosts that do not run with the version's gates: their collectors judge its text by others."""
    if not version.feature_gates:
        return
    needed = {_plain(gate) for gate in version.feature_gates}
    n = sum(not needed <= {*map(_plain, host.reported.host.labels.get(GATES_LABEL, "").split(","))} for host in hosts)
    if n:
        gates = ",".join(version.feature_gates)
        run = "does not run" if n == 1 else "do not run"
        yield Unsuited(
            f"{n:,} of {among} {run} with the version's feature gates ({gates}): install again with a new command",
            "",
            "feature_gates_not_on_hosts",
        )


def _plain(gate: str) -> str:
    return gate.removeprefix("+")


def _lacking(known: UnsuitedHosts, version: Version) -> Iterable[Unsuited]:
    having = Counter(host.reported.components for host in known.hosts if host.reported.components)
    lists = known.lists
    lacking = 0
    for section, name in pipelines.components(version.yaml or ""):
        kind, type_ = section.removesuffix("s"), name.partition("/")[0]
        n = sum(n for each, n in having.items() if each in lists and f"{kind}/{type_}" not in lists[each])
        if n and lacking < _MOST_FINDINGS:
            lacking += 1
            have = "has" if n == 1 else "have"
            yield Unsuited(
                f"{n:,} of {known.among} {have} no {kind} {type_}", f"{section}::{name}", "component_not_on_hosts"
            )
