"""Folders and servers that `headgate apply` plans for."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgate_cli.apply.found import CredentialOwner, FoundConfiguration, FoundFleet, ReadVersion, ServerContent
from headgate_cli.apply.plan import plan
from headgate_cli.apply.state import AppliedState, StateEntry
from headgate_cli.apply.steps import ApplyPlan
from headgate_cli.apply.wanted import FolderConfiguration, FolderContent, FolderPolicies
from headgate_cli.apply.wanted_fleets import FolderFleet
from headgate_cli.suites.fields import digest
from headgate_cli.suites.files import FileTest

CFG, OTHER, FLT, DEP = (
    f"{kind}_0123456789abcdefghjkmnpq0{end}" for kind, end in zip(("cfg", "cfg", "flt", "dep"), "rsrr", strict=True)
)
TOKEN = CredentialOwner(
    "org_0123456789abcdefghjkmnpq0r", "Shops", "service_account", "sva_1", "contributor", "read_write", "f0"
)
ADMIN = replace(TOKEN, kind="user", role="admin")
FIELDS = {"target_pipeline": "logs", "sample": "a line", "rules": [{"name": "all", "condition": "true"}]}
TEST = FileTest("checkout", "c.tests/checkout.yaml", FIELDS, {})
WANTED = FolderConfiguration("shop", "f/configurations/shop.yaml", "a: 1\n", [TEST])
VERSION = ReadVersion("a: 1\n", "0.139.0", '"1-1"', {"checkout": digest(FIELDS)})
THERE = FoundConfiguration(CFG, "shop", "", 1, 0, "2026-11-22T10:00:00.000Z", managed_by=TOKEN.mark, version=VERSION)
PUBLISHED = replace(THERE, published=1)
CREATED = StateEntry(CFG, created=True)


def folder_with(
    *configurations: FolderConfiguration, fleet: FolderFleet | None = None, policies: Mapping[str, Any] | None = None
) -> FolderContent:
    return FolderContent(
        Path("f"),
        {one.name: one for one in configurations},
        {fleet.label: fleet} if fleet else {},
        None if policies is None else FolderPolicies("f/policies.yaml", policies),
    )


def server_with(*configurations: FoundConfiguration, fleet: FoundFleet | None = None, **more: Any) -> ServerContent:
    return ServerContent(
        **{"caller": TOKEN} | more,
        configurations={one.name: one for one in configurations},
        by_id={one.id: one for one in configurations},
        fleets={fleet.label: fleet} if fleet else {},
    )


def planned(
    wants: FolderContent,
    there: ServerContent,
    state: AppliedState | None = None,
    *,
    prune: bool = False,
    **secrets: str,
) -> ApplyPlan:
    return plan(wants, there, state or AppliedState(), prune=prune, secrets=secrets)


def steps_of(plan: ApplyPlan) -> list[str]:
    return [f"{step.action} {step.kind} {step.name}: {step.reason or ', '.join(step.changes)}" for step in plan.steps]
