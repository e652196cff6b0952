"""Findings about configurations that observed collectors report: of one host, and grouped over a fleet."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from fleets.api import reported_gaps
from fleets.api.observed_wire import FindingsOut, FleetFindingOut, FleetFindingsOut
from headgate.checker import Asker, collector_versions
from headgate.configurations import pipelines
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Unavailable
from headgate.identity import checks
from headgate.instances import adopting, observed
from headgate.instances.adopting import Adoption
from headgate.instances.reported import components, health_tree
from headgate.instances.service import SeenInstance
from headgate.policies import checking
from headgate_engine.upgrades import service as upgrades
from headgate_engine.validation.checking import Parts
from headgate_engine.validation.findings import ListedFinding, Severity, Source
from headgate_engine.validation.model import CheckRequest, TooCostly
from headgate_engine.wire.checks import ValidationResult

MOST_CHECKED: Final = 20
"""Configurations of a fleet that are checked, those of most hosts first."""
MOST_FINDINGS: Final = 200
MOST_NAMES: Final = 5
# The answer must come before API Gateway gives up.
_SECONDS: Final = 16.0
_LONGEST: Final = 500
_GONE: Final = ("silent", "stale", "stopped")
_LEFT_OUT: Final = "The report leaves out or changes what is at {places}: take it from the file on the host"
_NOT_CHECKED: Final = "The draft was not checked for what the report leaves out: {detail}"
_ORDER: Final = ("error", "warning", "note")


class FindingKind(NamedTuple):
    """A finding without its place in one text."""

    severity: Severity
    source: Source | Literal["upgrade"]
    code: str
    message: str
    way_out: str
    component_path: str


@dataclass
class _Having:
    """The hosts that have a finding: the number of them, and the names of some."""

    count: int = 0
    hosts: list[str] = field(default_factory=list)


@dataclass
class _FleetCheck:
    """The checks of a fleet's texts, which end together."""

    caller: Caller
    to: str | None
    ends: float
    checked: int = 0
    problem: Unavailable | None = None

    @property
    def may_go_on(self) -> bool:
        return self.checked < MOST_CHECKED and time.monotonic() < self.ends

    def of_text(
        self,
        reported: str,
        version: str | None,
        available: frozenset[str] | None,
        *,
        starts: bool,
        resolved: bool,
    ) -> tuple[set[FindingKind], bool]:
        """Return the findings of a text, and False if no time was left for it or the collector did not answer."""
        if not self.may_go_on:
            return set(), False
        try:
            yaml = adopting.managed(reported, resolved=resolved)[0]
            checked = _checked(self.caller, yaml, version, self.to, available, self.ends, starts=starts and resolved)
            listed = set(kinds(checked))
        except Unavailable as problem:
            self.problem = problem
            return {_not_checked(problem.detail)}, False
        except (adopting.NotAdoptable, TooCostly) as problem:
            listed = {_not_checked(problem.detail)}
        self.checked += 1
        return listed, True


def of_host(
    caller: Caller, fleet_id: str, instance_id: str, to: str | None, collector: str | None = None
) -> FindingsOut:
    """Check what a host reports to run, or one of the collectors of a bridge.

    Raises FleetNotFound, InstanceNotFound, NothingReported, NotAdoptable.
    """
    with checks.under_way(caller):
        return _of_adoption(caller, adopting.adoption(caller, fleet_id, instance_id, collector), to)


def adoption(caller: Caller, fleet_id: str, instance_id: str, collector: str | None = None) -> Adoption:
    """Propose the adoption of what a host runs, with notes on what its report leaves out.

    Without a collector that could be asked, it is what the host reports. Raises FleetNotFound, InstanceNotFound,
    NothingReported, NotAdoptable.
    """
    proposed = adopting.adoption(caller, fleet_id, instance_id, collector)
    try:
        with checks.under_way(caller):
            checked = _of_adoption(caller, proposed, None)
    except (Unavailable, TooCostly) as error:
        return replace(proposed, notes=[*proposed.notes, _NOT_CHECKED.format(detail=error.detail)])
    left_out = reported_gaps.places(checked.result)
    notes = [*proposed.notes, _LEFT_OUT.format(places=", ".join(left_out)[:_LONGEST])] if left_out else proposed.notes
    return adopting.rewritten(proposed, checked.yaml, notes)


def _of_adoption(caller: Caller, proposed: Adoption, to: str | None) -> FindingsOut:
    instance = proposed.seen.instance
    available = components.listed(instance.fleet_id, instance.reported.components)
    starts = proposed.resolved and _starts([proposed.seen])
    return _checked(caller, proposed.yaml, proposed.collector_version, to, available, starts=starts)


def _starts(hosts: Sequence[SeenInstance]) -> bool:
    """True if one of the hosts has started its collector with what it reports; at most a read.

    The collector has accepted its configuration then, also if a component of it is not healthy. One that is gone was
    stopped, unless its last words were an error: that of a supervisor whose collector did not start.
    """
    if any(_ran(seen) for seen in hosts):
        return True
    first = hosts[0].instance
    tree = health_tree.tree(first.fleet_id, first.id) if first.reported.health_tree else None
    return tree is not None and tree.started_at is not None


def _ran(seen: SeenInstance) -> bool:
    health = seen.instance.reported.health
    return seen.instance.reported.is_healthy or (seen.state in _GONE and not (health and health.error))


def of_fleet(caller: Caller, fleet_id: str, to: str | None) -> FleetFindingsOut:
    """Check each configuration that hosts of a fleet report once for each version, and group what is found.

    A query for each megabyte of instances, and a read and a check for each configuration. Raises FleetNotFound, and
    NotChecked if no collector could be asked about any of them.
    """
    having_by_kind = defaultdict[FindingKind, _Having](_Having)
    check = _FleetCheck(caller, to, time.monotonic() + _SECONDS)
    left_out = clean = 0
    with checks.under_way(caller):
        builds = observed.by_build(caller, fleet_id)
        host_names = observed.names_of(seen for _, hosts in builds for seen in hosts)
        lists = components.known(fleet_id) if any(build.components for build, _ in builds) else {}
        for (sha256, version, components_hash), hosts in builds:
            texts = _texts(fleet_id, sha256) if check.may_go_on else {}
            available, starts = lists.get(components_hash or ""), _starts(hosts)
            # A bridge has several texts, and is one host.
            names_by_kind, whole = defaultdict[FindingKind, list[str]](list), bool(texts)
            for name, reported in texts.items():
                resolved = hosts[0].instance.reported.resolves and not name
                runs = reported.collector_version or version
                listed, was_checked = check.of_text(reported.yaml, runs, available, starts=starts, resolved=resolved)
                whole = whole and was_checked
                for kind in listed:
                    names_by_kind[kind].append(f" ({name})" if name else "")
            for kind, names in names_by_kind.items():
                having = having_by_kind[kind]
                having.count += len(hosts)
                called = [f"{host_names[seen.instance.id]}{name}" for name in names for seen in hosts]
                having.hosts += called[: MOST_NAMES - len(having.hosts)]
            clean += len(hosts) if whole and not names_by_kind else 0
            left_out += 0 if whole else len(hosts)
    if check.problem is not None and check.checked == 0:
        raise check.problem
    entries = sorted(having_by_kind.items(), key=lambda each: (_ORDER.index(each[0].severity), -each[1].count, each[0]))
    return FleetFindingsOut(
        items=[
            FleetFindingOut(**kind._asdict(), count=having.count, hosts=having.hosts)
            for kind, having in entries[:MOST_FINDINGS]
        ],
        checked=check.checked,
        without_findings=clean,
        not_checked=left_out,
        left_out=max(0, len(entries) - MOST_FINDINGS),
    )


def _texts(fleet_id: str, sha256: str) -> Mapping[str, adopting.ReportedText]:
    try:
        return adopting.reported_texts(observed.text(fleet_id, sha256))
    except observed.NothingReported:
        return {"": adopting.ReportedText("")}


def _not_checked(reason: str) -> FindingKind:
    return FindingKind("warning", "collector", "not_checked", reason, "", "")


def _checked(
    caller: Caller,
    yaml: str,
    reported: str | None,
    to: str | None,
    available: frozenset[str] | None,
    ends: float | None = None,
    *,
    starts: bool,
) -> FindingsOut:
    """Check a text. `starts`: a collector of the reported version runs with it."""
    version = collector_versions.nearest(reported, asker=Asker.of(caller))

    def check(text: str) -> ValidationResult:
        request = CheckRequest(yaml=text, version=version, env={})
        return ValidationResult.of(checking.check(caller, request, Parts(lint=True, policies=True), ends))

    if starts and version == reported:
        yaml, result = reported_gaps.closed(yaml, check)
    else:
        result = check(yaml)
    if available is not None:
        result.findings = list(of_build(result.findings, yaml, available))
    upgrade = None
    if to is not None:
        text = CheckRequest(yaml, version, {}, loc=("query", "to"))
        compared = upgrades.check(text, to, version, asker=Asker.of(caller), ends=ends)
        upgrade = reported_gaps.without_gaps(compared, reported_gaps.places(result))
    return FindingsOut(
        version=version,
        reported_version=reported,
        exact=version == reported,
        yaml=yaml,
        result=result,
        upgrade=upgrade,
    )


def of_build(findings: Sequence[ListedFinding], yaml: str, available: frozenset[str]) -> Iterator[ListedFinding]:
    """The findings as they concern the host's own program, which may have other components than the one asked here."""
    unknown = set[str]()
    for finding in findings:
        if finding.code != "unknown_component":
            yield finding
            continue
        unknown.add(finding.component_path)
        if _component(*finding.component_path.split("::")[:2]) not in available:
            yield finding
            continue
        yield replace(
            finding,
            severity="warning",
            code="component_not_checked",
            message=f"{finding.component_path}: the program of the host has this component, and the collector that "
            "checks here has not, so that the rest of the text was not checked",
            way_out="",
        )
    for section, name in pipelines.components(yaml):
        component, path = _component(section, name), f"{section}::{name}"
        if component not in available and path not in unknown:
            yield ListedFinding(
                "error",
                "collector",
                "component_not_in_build",
                f"The program of the host has no {component.replace('/', ' ')}",
                "Run a build of the collector that has it, or take the component out",
                path,
            )


def _component(section: str, name: str = "") -> str:
    return f"{section.removesuffix('s')}/{name.partition('/')[0]}"


def kinds(findings: FindingsOut) -> Iterator[FindingKind]:
    """List the findings about a text, and what another version changes in it."""
    for each in findings.result.findings:
        yield FindingKind(each.severity, each.source, each.code, each.message, each.way_out, each.component_path)
    report = findings.upgrade
    if report is None:
        return
    for new in report.new_errors:
        yield FindingKind("error", "upgrade", new.code, new.message, "", new.component_path)
    for new in report.new_warnings:
        yield FindingKind("warning", "upgrade", new.code, new.message, "", new.component_path)
    for changed in report.behaviours:
        message = f"from {changed.since} on, {changed.message}"
        yield FindingKind("warning", "upgrade", "changed_behaviour", message, changed.source, changed.component_path)
    for gate in report.feature_gates:
        stages = f"{gate.stage_before or 'absent'} on {report.source}, is {gate.stage_after or 'gone'}"
        message = f"the feature gate {gate.id} was {stages} on {report.target}: {gate.description}"
        yield FindingKind("note" if gate.stage_after else "warning", "upgrade", "feature_gate", message, "", "")
    # A component is renamed where it is configured; pipelines name it again.
    for rename in (each for each in report.renames if not each.component_path.startswith("service::")):
        message = f"{rename.old_type} is called {rename.new_type} on {report.target}"
        yield FindingKind("warning", "upgrade", "renamed_component", message, "", rename.component_path)
    for deprecation in report.deprecations:
        if deprecation.new:
            yield FindingKind("warning", "upgrade", "deprecated", deprecation.message, "", deprecation.component_path)
