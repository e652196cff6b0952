"""What `headgate apply` plans for fleets and their groups."""

from dataclasses import replace
from typing import Any

import pytest

from headgate_cli.apply.found import FoundFleet, FoundGroup
from headgate_cli.apply.plan import plan
from headgate_cli.apply.state import AppliedState, StateEntry
from headgate_cli.apply.steps import ANOTHERS, NOT_CREATED, Publish, SaveConfiguration
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.apply.wanted_fleets import FolderAssignment, FolderFleet, FolderGroup
from tests.support.apply_plans import (
    CFG,
    CREATED,
    DEP,
    FLT,
    PUBLISHED,
    THERE,
    TOKEN,
    WANTED,
    folder_with,
    planned,
    server_with,
    steps_of,
)

GROUP = FoundGroup(DEP, "web", False, CFG, 1, "2026-11-22T10:00:00.000Z", TOKEN.mark, selector={"role": "web"})
EDGE = FoundFleet(FLT, "edge", "server-supervisor", "never", {"web": GROUP}, TOKEN.mark)

UNASSIGNED = replace(GROUP, configuration_id="", version_number=0, first_by_rollout=True)
ADOPTED_GROUP = replace(EDGE, groups={"web": UNASSIGNED})


def of_group(**fields: Any) -> FolderContent:
    group = FolderGroup("web", **{"assignment": FolderAssignment("shop"), "selector": {"role": "web"}} | fields)
    return folder_with(
        WANTED, fleet=FolderFleet("edge", "f/fleets/edge.yaml", "server-supervisor", None, {"web": group})
    )


def of_rollout(status: str, n: int) -> FoundFleet:
    rollout = {"configuration_id": CFG, "version_number": n, "status": status}
    return replace(EDGE, groups={"web": replace(GROUP, rollout=rollout)})


@pytest.mark.parametrize(
    ("wants", "there", "steps"),
    [
        (of_group(), EDGE, []),
        (of_group(selector={}), EDGE, ["change group edge/web: hosts selected by no labels"]),
        (of_group(selector=None), EDGE, []),
        (of_group(assignment=None), EDGE, []),
        (
            of_group(assignment=None, clears=True),
            EDGE,
            ["clear group edge/web: nothing is assigned any longer: its collectors stop"],
        ),
        (of_group(assignment=FolderAssignment("shop", 2)), EDGE, ["assign group edge/web: shop v2 at once"]),
        (
            of_group(assignment=FolderAssignment("shop", 2), rollout={"strategy": {"preset": "fast"}}),
            EDGE,
            ["roll_out group edge/web: shop v2, strategy fast"],
        ),
        (
            of_group(assignment=FolderAssignment("shop", 2), rollout={"upgrade_collector": True}),
            EDGE,
            ["roll_out group edge/web: shop v2, strategy canary, collectors are upgraded"],
        ),
        # A rollout of what is assigned, which upgrades the collectors.
        (of_group(assignment=FolderAssignment("shop", 1), rollout={}), of_rollout("in_progress", 1), []),
        # Somebody rolls out another version than the one that the folder wants, and that is assigned still.
        (
            of_group(assignment=FolderAssignment("shop", 1), rollout={}),
            of_rollout("in_progress", 2),
            [
                "left_out group edge/web: it is assigned shop v1, but a rollout of another version is under way: see "
                "`headgate rollout show edge web`"
            ],
        ),
        # A rollout is started once, whatever becomes of it.
        (
            of_group(assignment=FolderAssignment("shop", 2), rollout={}),
            of_rollout("waiting_for_approval", 2),
            [
                "left_out group edge/web: the rollout of shop v2 is under way (waiting for approval): see "
                "`headgate rollout show edge web`"
            ],
        ),
        (
            of_group(assignment=FolderAssignment("shop", 2), rollout={}),
            of_rollout("rolled_back", 2),
            [
                "left_out group edge/web: the rollout of shop v2 was taken back: see `headgate rollout show edge web`, "
                "and start it again by hand, or mend it"
            ],
        ),
        (
            of_group(assignment=FolderAssignment("shop", 2), rollout={}),
            of_rollout("in_progress", 3),
            ["roll_out group edge/web: shop v2, strategy canary"],
        ),
        # Without `rollout` in the folder, somebody started it by hand: it is neither ended nor overtaken.
        (
            of_group(assignment=FolderAssignment("shop", 2)),
            of_rollout("in_progress", 2),
            [
                "left_out group edge/web: the rollout of shop v2 is under way (in progress): see `headgate rollout "
                "show edge web`"
            ],
        ),
        (
            of_group(assignment=FolderAssignment("shop", 2)),
            of_rollout("halted", 3),
            [
                "left_out group edge/web: a rollout of another version is under way, and shop v2 at once would end it: "
                "see `headgate rollout show edge web`, and wait, or abort it"
            ],
        ),
        (
            of_group(),
            of_rollout("in_progress", 2),
            [
                "left_out group edge/web: it is assigned shop v1, but a rollout of another version is under way: see "
                "`headgate rollout show edge web`"
            ],
        ),
        (
            of_group(assignment=None, clears=True),
            of_rollout("paused", 2),
            [
                "left_out group edge/web: a rollout of another version is under way, and clearing the group at once "
                "would end it: see `headgate rollout show edge web`, and wait, or abort it"
            ],
        ),
        # What a gate took back is not given to all hosts at once.
        (
            of_group(assignment=FolderAssignment("shop", 2)),
            of_rollout("rolled_back", 2),
            [
                "left_out group edge/web: the rollout of shop v2 was taken back: see `headgate rollout show edge web`, "
                "and start it again by hand, or mend it"
            ],
        ),
        (
            of_group(assignment=FolderAssignment("shop", 2)),
            of_rollout("completed", 3),
            ["assign group edge/web: shop v2 at once"],
        ),
        (
            of_group(selector=None, variables={"A": "b"}),
            replace(EDGE, groups={"web": replace(GROUP, variables={"A": "a", "C": "d"})}),
            ["change group edge/web: variable A set, variable C removed"],
        ),
        (of_group(fields={"replicas": 2}), EDGE, ["change group edge/web: replicas 2"]),
        # Its collectors ran something before they were managed.
        (
            of_group(),
            ADOPTED_GROUP,
            [
                "refused group edge/web: its collectors go on with what they had before they were managed, so that a "
                "rollout brings the first version: add `rollout: {preset: canary}` to the group"
            ],
        ),
        (
            of_group(rollout={}),
            ADOPTED_GROUP,
            ["roll_out group edge/web: shop v1, strategy canary, the first version: hosts that run another are named"],
        ),
    ],
)
def test_a_group_gets_what_it_lacks(wants: FolderContent, there: FoundFleet, steps: list[str]) -> None:
    assert steps_of(planned(wants, server_with(PUBLISHED, fleet=there))) == steps


@pytest.mark.parametrize("name", ["Default", "web"])
@pytest.mark.parametrize("type_", ["server-supervisor", "kubernetes-supervisor"])
def test_a_new_group_gets_its_version_at_once_whatever_its_rollout_is(name: str, type_: str) -> None:
    group = FolderGroup(name, FolderAssignment("shop"), rollout={"strategy": {"preset": "careful"}})
    fleet = FolderFleet("edge", "f/fleets/edge.yaml", type_, None, {name: group})
    steps = steps_of(planned(folder_with(WANTED, fleet=fleet), server_with(PUBLISHED)))
    by_itself = name == "Default" and type_ == "server-supervisor"

    assert steps[-1] == (
        "assign group edge/Default: shop v1 at once" if by_itself else f"create group edge/{name}: runs shop v1"
    )


@pytest.mark.parametrize(
    ("wants", "there", "says"),
    [
        (
            of_group(assignment=FolderAssignment("store")),
            EDGE,
            "there is no configuration store, in the folder or on the server",
        ),
        (of_group(role="gateway"), EDGE, "its role is None, which does not change"),
        (of_group(secrets=["API_KEY"]), EDGE, "set the variable HEADGATE_SECRET_API_KEY for this command"),
        (of_group(), replace(EDGE, type="kubernetes-supervisor"), "a type never changes"),
    ],
)
def test_what_cannot_become_so_is_refused_with_the_way_out(wants: FolderContent, there: FoundFleet, says: str) -> None:
    (step,) = planned(wants, server_with(PUBLISHED, fleet=there)).refused

    assert says in step.reason


def test_a_configuration_without_a_published_version_cannot_be_assigned() -> None:
    (step,) = planned(of_group(), server_with(THERE, fleet=EDGE)).refused

    assert step.reason == "shop has no published version: set `publish: true` for it in apply.yaml"


def test_a_secret_is_set_if_it_is_not_stored() -> None:
    wants = of_group(selector=None, secrets=["API_KEY"])

    assert steps_of(planned(wants, server_with(PUBLISHED, fleet=EDGE), API_KEY="x")) == [
        "change group edge/web: secret API_KEY set"
    ]
    stored = replace(EDGE, groups={"web": replace(GROUP, secrets=["API_KEY"])})
    assert planned(wants, server_with(PUBLISHED, fleet=stored)).steps == []


def test_groups_and_fleets_that_an_apply_created_are_removed_groups_first() -> None:
    state = AppliedState(
        fleets={"edge": StateEntry(FLT, created=True)}, groups={f"{FLT}/web": StateEntry(DEP, created=True)}
    )

    assert steps_of(planned(folder_with(), server_with(fleet=EDGE), state, prune=True)) == [
        "delete group edge/web: ",
        "delete fleet edge: ",
    ]
    assert planned(folder_with(), server_with(fleet=EDGE), AppliedState(), prune=True).steps == []


@pytest.mark.parametrize("prune", [True, False])
def test_a_configuration_that_a_group_still_runs_is_not_planned_to_be_removed(prune: bool) -> None:
    there = replace(EDGE, groups={"web": replace(GROUP, configuration_id=CFG, version_number=1)})
    steps = planned(folder_with(), server_with(PUBLISHED, fleet=there), AppliedState({"shop": CREATED}), prune=prune)

    assert steps_of(steps) == [
        "left_out configuration shop: it is not in the folder any longer, but edge/web runs it: assign something else "
        "there first"
    ]


def test_a_configuration_is_removed_with_the_group_that_runs_it() -> None:
    there = replace(EDGE, groups={"web": replace(GROUP, configuration_id=CFG, version_number=1)})
    state = AppliedState({"shop": CREATED}, groups={f"{FLT}/web": StateEntry(DEP, created=True)})

    assert [
        step.action for step in planned(folder_with(), server_with(PUBLISHED, fleet=there), state, prune=True).steps
    ] == [
        "delete",
        "archive",
    ]


@pytest.mark.parametrize("mark", ["", "headgate apply sva_2", replace(TOKEN, folder="f1").mark])
def test_fleets_and_groups_that_the_state_alone_says_an_apply_created_stay(mark: str) -> None:
    state = AppliedState(
        fleets={"edge": StateEntry(FLT, created=True)}, groups={f"{FLT}/web": StateEntry(DEP, created=True)}
    )
    there = replace(EDGE, managed_by=mark, groups={"web": replace(GROUP, managed_by=mark)})

    assert steps_of(planned(folder_with(), server_with(fleet=there), state, prune=True)) == [
        f"left_out group edge/web: {NOT_CREATED}",
        f"left_out fleet edge: {NOT_CREATED}",
    ]


def test_what_is_published_in_the_same_plan_is_what_a_group_gets() -> None:
    wants = replace(of_group(), configurations={"shop": replace(WANTED, text="a: 2\n", publish=True)})
    save, publish, assign = planned(wants, server_with(PUBLISHED, fleet=EDGE)).steps

    assert isinstance(save, SaveConfiguration)
    assert isinstance(publish, Publish)
    assert (save.n, save.appends, publish.n) == (2, True, 2)
    assert assign.changes == ["shop v2 at once"]


OTHERS = replace(TOKEN, folder="f1").mark


@pytest.mark.parametrize(
    ("mark", "adopt", "told_of_it"),
    [
        (OTHERS, False, [f"refused configuration shop: {ANOTHERS}"]),
        (OTHERS, True, ["change configuration shop: taken over from another folder, text (+1 -1 lines)"]),
        # Of another credential of the same folder, and by hand.
        (replace(TOKEN, id="sva_9").mark, False, ["change configuration shop: text (+1 -1 lines)"]),
        ("terraform folder x", False, ["change configuration shop: text (+1 -1 lines)"]),
    ],
)
def test_what_another_folder_applies_is_refused_or_taken_over(mark: str, adopt: bool, told_of_it: list[str]) -> None:
    there, wants = replace(THERE, managed_by=mark), folder_with(replace(WANTED, text="a: 2\n"))

    assert steps_of(plan(wants, server_with(there), AppliedState(), prune=False, secrets={}, adopt=adopt)) == told_of_it


@pytest.mark.parametrize("default", [True, False])
def test_a_group_of_another_folders_fleet_is_refused_or_taken_over(default: bool) -> None:
    marks = {"managed_by": OTHERS} if default else {}
    group = replace(GROUP, configuration_id="", version_number=0, is_default=default)
    group = replace(group, managed_by="" if default else OTHERS)
    there, wants = server_with(PUBLISHED, fleet=replace(EDGE, **marks, groups={"web": group})), of_group()
    refused = plan(wants, there, AppliedState(), prune=False, secrets={})
    adopted = plan(wants, there, AppliedState(), prune=False, secrets={}, adopt=True)

    assert steps_of(refused) == [f"refused group edge/web: {ANOTHERS}"]
    assert steps_of(adopted)[0] == "change group edge/web: taken over from another folder"
    assert [step.action for step in adopted.steps] == ["change", "assign"]
