"""Planning the changes that make an organization as a folder wants it, without requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from headgate_cli.apply import plan_fleets
from headgate_cli.apply.found import FoundConfiguration, ServerContent
from headgate_cli.apply.state import AppliedState, StateEntry
from headgate_cli.apply.steps import (
    ADOPTED,
    ANOTHERS,
    ApplyPlan,
    ApplyStep,
    Publish,
    RemoveConfiguration,
    SaveConfiguration,
    SetPolicies,
    stays,
)
from headgate_cli.apply.wanted import FolderConfiguration, FolderContent
from headgate_cli.output import unified
from headgate_cli.policies.files import FIELDS
from headgate_cli.suites.files import FileTest

_POLICIES: Final = "policies"
# What a rule has if it does not say it.
_RULE_DEFAULTS: Final = {"severity": "warning", "suppressible": True}
_PRUNES: Final = "it is not in the folder any longer: --prune {does} it"


def plan(
    folder: FolderContent,
    server: ServerContent,
    state: AppliedState,
    *,
    prune: bool,
    secrets: Mapping[str, str],
    adopt: bool = False,
) -> ApplyPlan:
    """The steps in a safe order: drafts with tests, policies, what is published, fleets with what they run, removals.

    `secrets` has the values that may be stored, by name. Without `adopt`, what another folder applies is not changed.
    """
    saved: list[ApplyStep] = []
    published: list[Publish] = []
    for name, configuration in folder.configurations.items():
        there = server.configurations.get(name)
        anothers = there is not None and server.caller.is_of_another_folder(there.managed_by)
        mark = server.caller.mark
        step = _configuration(configuration, there, state.configurations.get(name), mark, adopts=anothers and adopt)
        publish = [*_published(configuration, there, step)]
        if anothers and not adopt and (step or publish):
            step, publish = ApplyStep(kind="configuration", name=name, action="refused", reason=ANOTHERS), []
        saved += [step] if step else []
        published += publish
    refused = {step.name for step in saved if step.action == "refused"}
    publishing = {step.name: step.n for step in published}
    fleets = plan_fleets.plan(folder, server, state, refused, publishing, prune=prune, secrets=secrets, adopt=adopt)
    users = plan_fleets.users(server, fleets)
    removed = _removed(folder, server, state, users, prune=prune)
    steps = [*saved, *_policies(folder, server), *published, *fleets, *removed]
    about = {(step.kind, step.name) for step in steps if step.action != "kept"}
    things = [
        *(("configuration", name) for name in folder.configurations),
        *([("policies", _POLICIES)] if folder.policies else []),
        *(("fleet", label) for label in folder.fleets),
        *(("group", f"{label}/{name}") for label, fleet in folder.fleets.items() for name in fleet.groups),
    ]
    return ApplyPlan(steps, sum(1 for thing in things if thing not in about))


def _configuration(
    configuration: FolderConfiguration,
    there: FoundConfiguration | None,
    entry: StateEntry | None,
    mark: str,
    *,
    adopts: bool,
) -> ApplyStep | None:
    name = configuration.name
    if there is None and entry and entry.id:
        return ApplyStep(
            kind="configuration",
            name=name,
            action="refused",
            reason=f"it was applied as {entry.id}, which this credential does not see: it was deleted, or is another "
            "member's draft. Apply with the credential that created it, or delete its entry in the folder's .headgate",
        )
    if there and there.name != name and there.managed_by != mark:
        return ApplyStep(
            kind="configuration",
            name=name,
            action="refused",
            reason=f"{there.id} in the folder's .headgate is called {there.name} now, and no apply of yours created "
            "it: rename it back with `headgate config rename`, or delete the entry",
        )
    if there is None:
        return _created(configuration)
    edits, changes = _edits(configuration, there)
    put, delete, tests = _tests(configuration, there)
    touched = bool(edits or put or delete)
    appends = touched and not there.is_draft
    n = there.latest + appends
    described = {"name": name} if there.name != name else {}
    if configuration.description is not None and configuration.description != there.description:
        described["description"] = configuration.description
    if adopts:
        described["managed_by"] = mark
    if not (touched or described or there.archived):
        return None
    before = there.version.yaml if there.version else ""
    return SaveConfiguration(
        kind="configuration",
        name=name,
        action="change",
        changes=[
            *([ADOPTED] if adopts else []),
            *(["restored from the archive"] if there.archived else []),
            *([f"name, now {there.name}"] if "name" in described else []),
            *(["description"] if "description" in described else []),
            *changes,
            *tests,
            *([f"saved as the draft v{n}"] if appends else []),
        ],
        texts=(before, configuration.text) if "yaml" in edits else None,
        desired=configuration,
        current=there,
        n=n,
        appends=appends,
        restores=there.archived,
        describes=described,
        edits=edits,
        put=put,
        delete=delete,
    )


def _created(configuration: FolderConfiguration) -> SaveConfiguration:
    tests = configuration.tests or ()
    changes = [f"{len(tests)} test{'' if len(tests) == 1 else 's'}"] if tests else []
    if configuration.collector_version:
        changes.append(f"for collector {configuration.collector_version}")
    return SaveConfiguration(
        kind="configuration",
        name=configuration.name,
        action="create",
        changes=[*changes, "saved as the draft v1"],
        desired=configuration,
        current=None,
        n=1,
        put=tests,
        edits={"collector_version": configuration.collector_version} if configuration.collector_version else {},
    )


def _published(
    configuration: FolderConfiguration, there: FoundConfiguration | None, step: ApplyStep | None
) -> Iterator[Publish]:
    """The publishing of a version after the step that saves it, if there is one."""
    if not configuration.publish or (step and step.action == "refused"):
        return
    n = step.n if isinstance(step, SaveConfiguration) else there.latest if there else 0
    if there is None or there.published != n:
        yield Publish(
            kind="configuration",
            name=configuration.name,
            action="publish",
            changes=[f"v{n}"],
            desired=configuration,
            current=there,
            n=n,
        )


def _edits(configuration: FolderConfiguration, there: FoundConfiguration) -> tuple[dict[str, str], list[str]]:
    """The fields of the version that differ, and in words."""
    if there.version is None:
        return {}, []
    edits: dict[str, str] = {}
    changes: list[str] = []
    if there.version.yaml != configuration.text:
        edits["yaml"] = configuration.text
        changes.append(f"text ({_lines(there.version.yaml, configuration.text)})")
    if configuration.collector_version not in ("", there.version.collector_version):
        edits["collector_version"] = configuration.collector_version
        changes.append(f"collector {there.version.collector_version} -> {configuration.collector_version}")
    return edits, changes


def _tests(
    configuration: FolderConfiguration, there: FoundConfiguration
) -> tuple[list[FileTest], list[str], list[str]]:
    """The tests to save, the names of those to delete, and both in words."""
    digests, stored = configuration.test_digests, there.version.tests if there.version else None
    if digests is None or stored is None:
        return [], [], []
    put = [test for test in configuration.tests or () if stored.get(test.name) != digests[test.name]]
    delete = [name for name in sorted(stored) if name not in digests]
    changes = [f"test {test.name} {'changed' if test.name in stored else 'added'}" for test in put]
    return put, delete, [*changes, *(f"test {name} deleted" for name in delete)]


def _lines(before: str, after: str) -> str:
    """`+3 -1 lines`."""
    lines = unified(before, after, ("a", "b"))[2:]
    added, removed = (sum(1 for line in lines if line.startswith(sign)) for sign in "+-")
    return f"+{added} -{removed} lines"


def _policies(folder: FolderContent, server: ServerContent) -> Iterator[ApplyStep]:
    if folder.policies is None:
        return
    here, there = _comparable(folder.policies.settings), _comparable(server.policies)
    changes = [field for field in FIELDS if here[field] != there[field]]
    if not changes:
        return
    if not server.caller.is_admin:
        whose = "a token" if server.caller.kind != "user" else "a Contributor"
        reason = f"{whose} cannot change policies: apply as an Admin, signed in with `headgate login`"
        yield ApplyStep(kind="policies", name=_POLICIES, action="left_out", changes=changes, reason=reason)
        return
    yield SetPolicies(
        kind="policies",
        name=_POLICIES,
        action="change",
        changes=changes,
        desired=folder.policies,
        etag=server.policies_etag,
    )


def _comparable(settings: Mapping[str, object]) -> dict[str, object]:
    """The fields with their defaults, and what has no order sorted."""
    fields: dict[str, object] = {}
    for field in FIELDS:
        value = settings.get(field)
        if field == "rules":
            rules = value if isinstance(value, list) else []
            fields[field] = [_whole_rule(rule) if isinstance(rule, Mapping) else rule for rule in rules]
        elif isinstance(value, list):
            fields[field] = sorted(map(str, value))
        else:
            fields[field] = value or {}
    return fields


def _whole_rule(rule: Mapping[str, object]) -> dict[str, object]:
    # The server removes white space around a message.
    return {**_RULE_DEFAULTS, **rule, "message": str(rule.get("message", "")).strip()}


def _removed(
    folder: FolderContent, server: ServerContent, state: AppliedState, users: Mapping[str, str], *, prune: bool
) -> Sequence[ApplyStep]:
    """`users` names a group by the id of the configuration that it still runs after the plan."""
    steps: list[ApplyStep] = []
    for name, entry in sorted(state.configurations.items()):
        there = server.by_id.get(entry.id)
        if name in folder.configurations or not entry.created or there is None or there.archived:
            continue
        if there.name != name:
            reason = f"it is not in the folder, and was renamed {there.name} on the server: it stays"
            steps.append(ApplyStep(kind="configuration", name=name, action="left_out", reason=reason))
            continue
        if reason := stays(there.managed_by, server.caller):
            steps.append(ApplyStep(kind="configuration", name=name, action="left_out", reason=reason))
            continue
        if user := users.get(entry.id):
            reason = f"it is not in the folder any longer, but {user} runs it: assign something else there first"
            steps.append(ApplyStep(kind="configuration", name=name, action="left_out", reason=reason))
            continue
        does = "archives" if there.published else "deletes"
        if prune:
            what = "it was published" if there.published else "it was never published"
            steps.append(
                RemoveConfiguration(
                    kind="configuration",
                    name=name,
                    action="archive" if there.published else "delete",
                    changes=[what],
                    current=there,
                )
            )
        else:
            steps.append(ApplyStep(kind="configuration", name=name, action="kept", reason=_PRUNES.format(does=does)))
    return steps
