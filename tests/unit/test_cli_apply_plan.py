"""What `headgate apply` plans, from what a folder wants, what the server holds and what was applied before."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headgate_cli.apply.found import Caller, Found, FoundConfiguration, FoundFleet, FoundGroup, Version, is_known
from headgate_cli.apply.plan import plan
from headgate_cli.apply.state import Entry, Seen, State, digest_of_tests
from headgate_cli.apply.steps import ANOTHERS, FOLDER_UNKNOWN, NOT_CREATED, Plan, Publish, SaveConfiguration
from headgate_cli.apply.wanted import Configuration, Policies, Wanted
from headgate_cli.apply.wanted_fleets import Assignment, Fleet, Group
from headgate_cli.checks.checked import Checked
from headgate_cli.suites.fields import digest
from headgate_cli.suites.files import FileTest

CFG, OTHER, FLT, DEP = (
    f"{kind}_0123456789abcdefghjkmnpq0{end}" for kind, end in zip(("cfg", "cfg", "flt", "dep"), "rsrr", strict=True)
)
TOKEN = Caller("org_0123456789abcdefghjkmnpq0r", "Shops", "service_account", "sva_1", "contributor", "read_write", "f0")
ADMIN = replace(TOKEN, kind="user", role="admin")
FIELDS = {"target_pipeline": "logs", "sample": "a line", "rules": [{"name": "all", "condition": "true"}]}
TEST = FileTest("checkout", "c.tests/checkout.yaml", FIELDS, {})
WANTED = Configuration("shop", "f/configurations/shop.yaml", "a: 1\n", [TEST])
VERSION = Version("a: 1\n", "0.139.0", '"1-1"', {"checkout": digest(FIELDS)})
THERE = FoundConfiguration(CFG, "shop", "", 1, 0, "2026-11-22T10:00:00.000Z", managed_by=TOKEN.mark, version=VERSION)
PUBLISHED = replace(THERE, published=1)
CREATED = Entry(CFG, created=True)


def wanted(
    *configurations: Configuration, fleet: Fleet | None = None, policies: Mapping[str, Any] | None = None
) -> Wanted:
    return Wanted(
        Path("f"),
        {one.name: one for one in configurations},
        {fleet.label: fleet} if fleet else {},
        None if policies is None else Policies("f/policies.yaml", policies),
    )


def found(*configurations: FoundConfiguration, fleet: FoundFleet | None = None, **more: Any) -> Found:
    return Found(
        **{"caller": TOKEN} | more,
        configurations={one.name: one for one in configurations},
        by_id={one.id: one for one in configurations},
        fleets={fleet.label: fleet} if fleet else {},
    )


def planned(wants: Wanted, there: Found, state: State | None = None, *, prune: bool = False, **secrets: str) -> Plan:
    return plan(wants, there, state or State(), prune=prune, secrets=secrets)


def told(plan: Plan) -> list[str]:
    return [f"{step.action} {step.kind} {step.name}: {step.reason or ', '.join(step.changes)}" for step in plan.steps]


def test_what_is_as_the_folder_wants_it_needs_no_step() -> None:
    assert planned(wanted(WANTED), found(THERE)) == Plan([], 1)
    assert planned(wanted(replace(WANTED, publish=True)), found(PUBLISHED)) == Plan([], 1)


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
    wants: Configuration, there: FoundConfiguration | None, steps: list[str]
) -> None:
    assert told(planned(wanted(wants), found(*([there] if there else [])))) == steps


def test_a_configuration_that_somebody_renamed_gets_its_name_back() -> None:
    there = replace(found(THERE), configurations={"shop": replace(THERE, name="store")})

    assert told(planned(wanted(WANTED), there)) == ["change configuration shop: name, now store"]


def test_a_renamed_one_that_no_apply_created_is_refused_and_not_taken_over() -> None:
    there = replace(found(THERE), configurations={"shop": replace(THERE, name="payments", managed_by="")})
    (step,) = planned(wanted(WANTED), there, State({"shop": CREATED})).refused

    assert f"{CFG} in the folder's .headgate is called payments now" in step.reason


def test_one_that_the_credential_does_not_see_is_refused_and_not_made_again() -> None:
    (step,) = planned(wanted(WANTED), found(), State({"shop": CREATED})).refused

    assert CFG in step.reason
    # The one before was interrupted while it created it.
    assert told(planned(wanted(WANTED), found(), State({"shop": Entry("", created=True)})))[0].startswith("create")


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
    seen = Seen(1, THERE.updated_at, WANTED.sha256, digest_of_tests({"checkout": digest(FIELDS)}), "0.139.0")

    assert is_known(WANTED, replace(THERE, **change), Entry(CFG, created=True, seen=seen)) == known


@pytest.mark.parametrize(
    "change",
    [{"text": "a: 2\n"}, {"tests": []}, {"collector_version": "0.158.0"}],
    ids=lambda change: next(iter(change)),
)
def test_what_the_folder_changed_since_is_read_again(change: dict[str, Any]) -> None:
    seen = Seen(1, THERE.updated_at, WANTED.sha256, digest_of_tests({"checkout": digest(FIELDS)}), "0.139.0")

    assert not is_known(replace(WANTED, **change), THERE, Entry(CFG, created=True, seen=seen))


def test_steps_are_in_a_safe_order() -> None:
    fleet = Fleet(
        "edge",
        "f/fleets/edge.yaml",
        "server-supervisor",
        None,
        {
            "Default": Group("Default", Assignment("shop"), rollout={}),
            "web": Group("web", Assignment("shop"), variables={"A": "b"}),
        },
    )
    old = replace(THERE, id=OTHER, name="old")
    there = replace(found(caller=ADMIN), by_id={OTHER: old})
    wants = wanted(replace(WANTED, publish=True), fleet=fleet, policies={"severities": {"a": "error"}})
    steps = planned(wants, there, State({"old": Entry(OTHER, created=True)}), prune=True)

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
    assert steps.texts_to_check == {WANTED.file: Checked(WANTED.text)}


def test_policies_are_left_out_unless_an_admin_applies() -> None:
    wants = wanted(policies={"severities": {"insecure_tls": "error"}, "rules": []})

    assert told(planned(wants, found())) == [
        "left_out policies policies: a token cannot change policies: apply as an Admin, signed in with `headgate login`"
    ]
    assert told(planned(wants, found(caller=ADMIN))) == ["change policies policies: severities"]
    assert planned(wants, found(policies=dict(wants.policies.settings) if wants.policies else {})).steps == []


def test_policies_with_what_is_the_default_are_equal() -> None:
    rule = {"name": "a", "expression": "true", "message": "no\n", "examples": []}
    there = {"rules": [{**rule, "message": "no", "severity": "warning", "suppressible": True}]}

    assert planned(wanted(policies={"rules": [rule]}), found(policies=there)).steps == []


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
        (THERE, Entry(CFG, created=False), True, []),
        (THERE, Entry(OTHER, created=True), True, []),
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
        (
            replace(THERE, managed_by=TOKEN.mark_without_folder),
            CREATED,
            True,
            [f"left_out configuration shop: {FOLDER_UNKNOWN}"],
        ),
        (replace(PUBLISHED, archived=True), CREATED, True, []),
    ],
)
def test_only_what_an_apply_created_is_removed(
    there: FoundConfiguration, state: Entry, prune: bool, steps: list[str]
) -> None:
    assert told(planned(wanted(), found(there), State({"shop": state}), prune=prune)) == steps


GROUP = FoundGroup(DEP, "web", False, CFG, 1, "2026-11-22T10:00:00.000Z", TOKEN.mark, selector={"role": "web"})
EDGE = FoundFleet(FLT, "edge", "server-supervisor", "never", {"web": GROUP}, TOKEN.mark)


def of_group(**fields: Any) -> Wanted:
    group = Group("web", **{"assignment": Assignment("shop"), "selector": {"role": "web"}} | fields)
    return wanted(WANTED, fleet=Fleet("edge", "f/fleets/edge.yaml", "server-supervisor", None, {"web": group}))


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
        (of_group(assignment=Assignment("shop", 2)), EDGE, ["assign group edge/web: shop v2 at once"]),
        (
            of_group(assignment=Assignment("shop", 2), rollout={"strategy": {"preset": "fast"}}),
            EDGE,
            ["roll_out group edge/web: shop v2, strategy fast"],
        ),
        (
            of_group(assignment=Assignment("shop", 2), rollout={"upgrade_collector": True}),
            EDGE,
            ["roll_out group edge/web: shop v2, strategy canary, collectors are upgraded"],
        ),
        # A rollout of what is assigned, which upgrades the collectors.
        (of_group(assignment=Assignment("shop", 1), rollout={}), of_rollout("in_progress", 1), []),
        # Somebody rolls out another version than the one that the folder wants, and that is assigned still.
        (
            of_group(assignment=Assignment("shop", 1), rollout={}),
            of_rollout("in_progress", 2),
            [
                "left_out group edge/web: it is assigned shop v1, but a rollout of another version is under way: see "
                "`headgate rollout show edge web`"
            ],
        ),
        # A rollout is started once, whatever becomes of it.
        (
            of_group(assignment=Assignment("shop", 2), rollout={}),
            of_rollout("waiting_for_approval", 2),
            [
                "left_out group edge/web: the rollout of shop v2 is under way (waiting for approval): see "
                "`headgate rollout show edge web`"
            ],
        ),
        (
            of_group(assignment=Assignment("shop", 2), rollout={}),
            of_rollout("rolled_back", 2),
            [
                "left_out group edge/web: the rollout of shop v2 was taken back: see `headgate rollout show edge web`, "
                "and start it again by hand, or mend it"
            ],
        ),
        (
            of_group(assignment=Assignment("shop", 2), rollout={}),
            of_rollout("in_progress", 3),
            ["roll_out group edge/web: shop v2, strategy canary"],
        ),
        # Without `rollout` in the folder, somebody started it by hand: it is neither ended nor overtaken.
        (
            of_group(assignment=Assignment("shop", 2)),
            of_rollout("in_progress", 2),
            [
                "left_out group edge/web: the rollout of shop v2 is under way (in progress): see `headgate rollout "
                "show edge web`"
            ],
        ),
        (
            of_group(assignment=Assignment("shop", 2)),
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
            of_group(assignment=Assignment("shop", 2)),
            of_rollout("rolled_back", 2),
            [
                "left_out group edge/web: the rollout of shop v2 was taken back: see `headgate rollout show edge web`, "
                "and start it again by hand, or mend it"
            ],
        ),
        (
            of_group(assignment=Assignment("shop", 2)),
            of_rollout("completed", 3),
            ["assign group edge/web: shop v2 at once"],
        ),
        (
            of_group(selector=None, variables={"A": "b"}),
            replace(EDGE, groups={"web": replace(GROUP, variables={"A": "a", "C": "d"})}),
            ["change group edge/web: variable A set, variable C removed"],
        ),
        (of_group(fields={"replicas": 2}), EDGE, ["change group edge/web: replicas 2"]),
    ],
)
def test_a_group_gets_what_it_lacks(wants: Wanted, there: FoundFleet, steps: list[str]) -> None:
    assert told(planned(wants, found(PUBLISHED, fleet=there))) == steps


@pytest.mark.parametrize("name", ["Default", "web"])
@pytest.mark.parametrize("type_", ["server-supervisor", "kubernetes-supervisor"])
def test_a_new_group_gets_its_version_at_once_whatever_its_rollout_is(name: str, type_: str) -> None:
    group = Group(name, Assignment("shop"), rollout={"strategy": {"preset": "careful"}})
    fleet = Fleet("edge", "f/fleets/edge.yaml", type_, None, {name: group})
    steps = told(planned(wanted(WANTED, fleet=fleet), found(PUBLISHED)))
    by_itself = name == "Default" and type_ == "server-supervisor"

    assert steps[-1] == (
        "assign group edge/Default: shop v1 at once" if by_itself else f"create group edge/{name}: runs shop v1"
    )


@pytest.mark.parametrize(
    ("wants", "there", "says"),
    [
        (
            of_group(assignment=Assignment("store")),
            EDGE,
            "there is no configuration store, in the folder or on the server",
        ),
        (of_group(role="gateway"), EDGE, "its role is None, which does not change"),
        (of_group(secrets=["API_KEY"]), EDGE, "set the variable HEADGATE_SECRET_API_KEY for this command"),
        (of_group(), replace(EDGE, type="kubernetes-supervisor"), "a type never changes"),
    ],
)
def test_what_cannot_become_so_is_refused_with_the_way_out(wants: Wanted, there: FoundFleet, says: str) -> None:
    (step,) = planned(wants, found(PUBLISHED, fleet=there)).refused

    assert says in step.reason


def test_a_configuration_without_a_published_version_cannot_be_assigned() -> None:
    (step,) = planned(of_group(), found(THERE, fleet=EDGE)).refused

    assert step.reason == "shop has no published version: set `publish: true` for it in apply.yaml"


def test_a_secret_is_set_if_it_is_not_stored() -> None:
    wants = of_group(selector=None, secrets=["API_KEY"])

    assert told(planned(wants, found(PUBLISHED, fleet=EDGE), API_KEY="x")) == [
        "change group edge/web: secret API_KEY set"
    ]
    stored = replace(EDGE, groups={"web": replace(GROUP, secrets=["API_KEY"])})
    assert planned(wants, found(PUBLISHED, fleet=stored)).steps == []


def test_groups_and_fleets_that_an_apply_created_are_removed_groups_first() -> None:
    state = State(fleets={"edge": Entry(FLT, created=True)}, groups={f"{FLT}/web": Entry(DEP, created=True)})

    assert told(planned(wanted(), found(fleet=EDGE), state, prune=True)) == [
        "delete group edge/web: ",
        "delete fleet edge: ",
    ]
    assert planned(wanted(), found(fleet=EDGE), State(), prune=True).steps == []


@pytest.mark.parametrize("prune", [True, False])
def test_a_configuration_that_a_group_still_runs_is_not_planned_to_be_removed(prune: bool) -> None:
    there = replace(EDGE, groups={"web": replace(GROUP, configuration_id=CFG, version_number=1)})
    steps = planned(wanted(), found(PUBLISHED, fleet=there), State({"shop": CREATED}), prune=prune)

    assert told(steps) == [
        "left_out configuration shop: it is not in the folder any longer, but edge/web runs it: assign something else "
        "there first"
    ]


def test_a_configuration_is_removed_with_the_group_that_runs_it() -> None:
    there = replace(EDGE, groups={"web": replace(GROUP, configuration_id=CFG, version_number=1)})
    state = State({"shop": CREATED}, groups={f"{FLT}/web": Entry(DEP, created=True)})

    assert [step.action for step in planned(wanted(), found(PUBLISHED, fleet=there), state, prune=True).steps] == [
        "delete",
        "archive",
    ]


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("", NOT_CREATED),
        ("headgate apply sva_2", NOT_CREATED),
        (replace(TOKEN, folder="f1").mark, NOT_CREATED),
        (TOKEN.mark_without_folder, FOLDER_UNKNOWN),
    ],
)
def test_fleets_and_groups_that_the_state_alone_says_an_apply_created_stay(mark: str, reason: str) -> None:
    state = State(fleets={"edge": Entry(FLT, created=True)}, groups={f"{FLT}/web": Entry(DEP, created=True)})
    there = replace(EDGE, managed_by=mark, groups={"web": replace(GROUP, managed_by=mark)})

    assert told(planned(wanted(), found(fleet=there), state, prune=True)) == [
        f"left_out group edge/web: {reason}",
        f"left_out fleet edge: {reason}",
    ]


def test_what_is_published_in_the_same_plan_is_what_a_group_gets() -> None:
    wants = replace(of_group(), configurations={"shop": replace(WANTED, text="a: 2\n", publish=True)})
    save, publish, assign = planned(wants, found(PUBLISHED, fleet=EDGE)).steps

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
        # Of another credential of the same folder, of an earlier release, and by hand.
        (replace(TOKEN, id="sva_9").mark, False, ["change configuration shop: text (+1 -1 lines)"]),
        (TOKEN.mark_without_folder, False, ["change configuration shop: text (+1 -1 lines)"]),
        ("terraform folder x", False, ["change configuration shop: text (+1 -1 lines)"]),
    ],
)
def test_what_another_folder_applies_is_refused_or_taken_over(mark: str, adopt: bool, told_of_it: list[str]) -> None:
    there, wants = replace(THERE, managed_by=mark), wanted(replace(WANTED, text="a: 2\n"))

    assert told(plan(wants, found(there), State(), prune=False, secrets={}, adopt=adopt)) == told_of_it


@pytest.mark.parametrize("default", [True, False])
def test_a_group_of_another_folders_fleet_is_refused_or_taken_over(default: bool) -> None:
    marks = {"managed_by": OTHERS} if default else {}
    group = replace(GROUP, configuration_id="", version_number=0, is_default=default)
    group = replace(group, managed_by="" if default else OTHERS)
    there, wants = found(PUBLISHED, fleet=replace(EDGE, **marks, groups={"web": group})), of_group()
    refused = plan(wants, there, State(), prune=False, secrets={})
    adopted = plan(wants, there, State(), prune=False, secrets={}, adopt=True)

    assert told(refused) == [f"refused group edge/web: {ANOTHERS}"]
    assert told(adopted)[0] == "change group edge/web: taken over from another folder"
    assert [step.action for step in adopted.steps] == ["change", "assign"]
