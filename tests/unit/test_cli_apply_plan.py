"""What `headgate apply` plans for configurations, from a folder, the server and what was applied before."""

from dataclasses import replace
from typing import Any

import pytest

from headgate_cli.apply.found import FoundConfiguration, is_known
from headgate_cli.apply.state import AppliedState, SeenConfiguration, StateEntry, digest_of_tests
from headgate_cli.apply.steps import NOT_CREATED, ApplyPlan
from headgate_cli.apply.wanted import FolderConfiguration
from headgate_cli.apply.wanted_fleets import FolderAssignment, FolderFleet, FolderGroup
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.suites.fields import digest
from tests.support.apply_plans import (
    ADMIN,
    CFG,
    CREATED,
    FIELDS,
    OTHER,
    PUBLISHED,
    TEST,
    THERE,
    TOKEN,
    WANTED,
    folder_with,
    planned,
    server_with,
    steps_of,
)


def test_what_is_as_the_folder_wants_it_needs_no_step() -> None:
    assert planned(folder_with(WANTED), server_with(THERE)) == ApplyPlan([], 1)
    assert planned(folder_with(replace(WANTED, publish=True)), server_with(PUBLISHED)) == ApplyPlan([], 1)


@pytest.mark.parametrize(
    ("wants", "there", "steps"),
    [
        (WANTED, None, ["create configuration shop: 1 test, saved as the draft v1"]),
        (
            replace(WANTED, publish=True, tests=None, collector_version="0.158.0"),
            None,
            [
                "create configuration shop: for collector 0.158.0, saved as the draft v1",
                "publish configuration shop: v1",
            ],
        ),
        # A draft is edited, what is published gets a new version.
        (replace(WANTED, text="a: 2\n"), THERE, ["change configuration shop: text (+1 -1 lines)"]),
        (
            replace(WANTED, text="a: 2\n"),
            PUBLISHED,
            ["change configuration shop: text (+1 -1 lines), saved as the draft v2"],
        ),
        (
            replace(WANTED, text="a: 2\n", publish=True),
            PUBLISHED,
            [
                "change configuration shop: text (+1 -1 lines), saved as the draft v2",
                "publish configuration shop: v2",
            ],
        ),
        (replace(WANTED, publish=True), THERE, ["publish configuration shop: v1"]),
        (
            replace(WANTED, collector_version="0.158.0"),
            THERE,
            ["change configuration shop: collector 0.139.0 -> 0.158.0"],
        ),
        (replace(WANTED, collector_version="0.139.0", description=""), THERE, []),
        (replace(WANTED, description="Shops"), THERE, ["change configuration shop: description"]),
        (WANTED, replace(THERE, archived=True), ["change configuration shop: restored from the archive"]),
        (
            replace(WANTED, tests=[replace(TEST, name="other"), replace(TEST, fields={**FIELDS, "sample": "b"})]),
            PUBLISHED,
            ["change configuration shop: test other added, test checkout changed, saved as the draft v2"],
        ),
        (replace(WANTED, tests=[]), THERE, ["change configuration shop: test checkout deleted"]),
        # Without a folder of tests, those on the server stay.
        (replace(WANTED, tests=None), THERE, []),
    ],
)
def test_a_configuration_gets_the_steps_that_it_lacks(
    wants: FolderConfiguration, there: FoundConfiguration | None, steps: list[str]
) -> None:
    assert steps_of(planned(folder_with(wants), server_with(*([there] if there else [])))) == steps


def test_a_configuration_that_somebody_renamed_gets_its_name_back() -> None:
    there = replace(server_with(THERE), configurations={"shop": replace(THERE, name="store")})

    assert steps_of(planned(folder_with(WANTED), there)) == ["change configuration shop: name, now store"]


def test_a_renamed_one_that_no_apply_created_is_refused_and_not_taken_over() -> None:
    there = replace(server_with(THERE), configurations={"shop": replace(THERE, name="payments", managed_by="")})
    (step,) = planned(folder_with(WANTED), there, AppliedState({"shop": CREATED})).refused

    assert f"{CFG} in the folder's .headgate is called payments now" in step.reason


def test_one_that_the_credential_does_not_see_is_refused_and_not_made_again() -> None:
    (step,) = planned(folder_with(WANTED), server_with(), AppliedState({"shop": CREATED})).refused

    assert CFG in step.reason
    # The one before was interrupted while it created it.
    assert steps_of(planned(folder_with(WANTED), server_with(), AppliedState({"shop": StateEntry("", created=True)})))[
        0
    ].startswith("create")


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ({}, True),
        ({"latest": 2}, False),
        ({"updated_at": "2026-11-22T10:00:00.001Z"}, False),
        ({"archived": True}, False),
        ({"id": OTHER}, False),
    ],
)
def test_what_nobody_changed_since_it_was_seen_is_not_read_again(change: dict[str, Any], known: bool) -> None:
    seen = SeenConfiguration(
        1, THERE.updated_at, WANTED.sha256, digest_of_tests({"checkout": digest(FIELDS)}), "0.139.0"
    )

    assert is_known(WANTED, replace(THERE, **change), StateEntry(CFG, created=True, seen=seen)) == known


@pytest.mark.parametrize(
    "change",
    [{"text": "a: 2\n"}, {"tests": []}, {"collector_version": "0.158.0"}],
    ids=lambda change: next(iter(change)),
)
def test_what_the_folder_changed_since_is_read_again(change: dict[str, Any]) -> None:
    seen = SeenConfiguration(
        1, THERE.updated_at, WANTED.sha256, digest_of_tests({"checkout": digest(FIELDS)}), "0.139.0"
    )

    assert not is_known(replace(WANTED, **change), THERE, StateEntry(CFG, created=True, seen=seen))


def test_steps_are_in_a_safe_order() -> None:
    fleet = FolderFleet(
        "edge",
        "f/fleets/edge.yaml",
        "server-supervisor",
        None,
        {
            "Default": FolderGroup("Default", FolderAssignment("shop"), rollout={}),
            "web": FolderGroup("web", FolderAssignment("shop"), variables={"A": "b"}),
        },
    )
    old = replace(THERE, id=OTHER, name="old")
    there = replace(server_with(caller=ADMIN), by_id={OTHER: old})
    wants = folder_with(replace(WANTED, publish=True), fleet=fleet, policies={"severities": {"a": "error"}})
    steps = planned(wants, there, AppliedState({"old": StateEntry(OTHER, created=True)}), prune=True)

    assert [(step.action, step.kind, step.name) for step in steps.steps] == [
        ("create", "configuration", "shop"),
        ("change", "policies", "policies"),
        ("publish", "configuration", "shop"),
        ("create", "fleet", "edge"),
        ("create", "group", "edge/web"),
        ("change", "group", "edge/web"),
        # The fleet is new, and so has no hosts that could get a version in steps.
        ("assign", "group", "edge/Default"),
        ("delete", "configuration", "old"),
    ]
    assert steps.texts_to_check == {WANTED.file: TextToCheck(WANTED.text)}


def test_policies_are_left_out_unless_an_admin_applies() -> None:
    wants = folder_with(policies={"severities": {"insecure_tls": "error"}, "rules": []})

    assert steps_of(planned(wants, server_with())) == [
        "left_out policies policies: a token cannot change policies: apply as an Admin, signed in with `headgate login`"
    ]
    assert steps_of(planned(wants, server_with(caller=ADMIN))) == ["change policies policies: severities"]
    assert planned(wants, server_with(policies=dict(wants.policies.settings) if wants.policies else {})).steps == []


def test_policies_with_what_is_the_default_are_equal() -> None:
    rule = {"name": "a", "expression": "true", "message": "no\n", "examples": []}
    there = {"rules": [{**rule, "message": "no", "severity": "warning", "suppressible": True}]}

    assert planned(folder_with(policies={"rules": [rule]}), server_with(policies=there)).steps == []


@pytest.mark.parametrize(
    ("there", "state", "prune", "steps"),
    [
        (THERE, CREATED, True, ["delete configuration shop: it was never published"]),
        (PUBLISHED, CREATED, True, ["archive configuration shop: it was published"]),
        (THERE, CREATED, False, ["kept configuration shop: it is not in the folder any longer: --prune deletes it"]),
        (
            replace(THERE, name="store"),
            CREATED,
            True,
            ["left_out configuration shop: it is not in the folder, and was renamed store on the server: it stays"],
        ),
        # Not made by an apply, made anew by somebody, or archived already.
        (THERE, StateEntry(CFG, created=False), True, []),
        (THERE, StateEntry(OTHER, created=True), True, []),
        # The state says so, and the server does not: nobody, or another credential's apply, created it.
        (replace(THERE, managed_by=""), CREATED, True, [f"left_out configuration shop: {NOT_CREATED}"]),
        (replace(THERE, managed_by=f"{TOKEN.mark}x"), CREATED, True, [f"left_out configuration shop: {NOT_CREATED}"]),
        # Another folder's, by the same credential.
        (
            replace(THERE, managed_by=replace(TOKEN, folder="f1").mark),
            CREATED,
            True,
            [f"left_out configuration shop: {NOT_CREATED}"],
        ),
        (replace(PUBLISHED, archived=True), CREATED, True, []),
    ],
)
def test_only_what_an_apply_created_is_removed(
    there: FoundConfiguration, state: StateEntry, prune: bool, steps: list[str]
) -> None:
    assert steps_of(planned(folder_with(), server_with(there), AppliedState({"shop": state}), prune=prune)) == steps
