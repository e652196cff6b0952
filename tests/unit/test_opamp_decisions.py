"""What is decided about messages holds for any course of them: nothing is read or written, and each part is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment
from headgate.instances import mapping
from headgate.instances.desired.model import Desired, config_hash
from headgate.instances.model import Contact, HostIdentity, Instance, Standing
from headgate.instances.orders.model import KEPT, Orders, PendingOrder
from headgate.instances.reported.components import AvailableComponents
from headgate.instances.reported.health_tree import HealthTree, TreeNote
from headgate.instances.reported.host import HostReport
from headgate.instances.reported.host_key import HostKey
from headgate.instances.reported.model import Health, ReportedConfig
from headgate.instances.state.model import InstanceState
from headgate.instances.timeline.events import MOST_AN_HOUR, MOST_RARE
from headgate.opamp.decision import ConfigText, Decision
from headgate.storage import items
from tests.support.deciding import SENDER, decided, new_instance
from tests.support.sizes import either

BEGIN: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
GROUP: Final = Deployment("dep_1", "flt_1", "web", False, None, None, None, None, BEGIN, BEGIN)
WITHOUT_PIPELINES: Final = 3
BRIDGE: Final = "io.opentelemetry.operator-opamp-bridge"
_VERSIONS: Final = st.integers(1, 4) | st.none()
_REPORTS: Final = st.fixed_dictionaries(
    {},
    optional={
        "full": st.booleans(),
        "accepts_config": st.sampled_from([True, True, True, False]),
        "takes_interval": st.booleans(),
        "leaves": st.sampled_from([False, False, False, True]),
        "health": st.builds(Health, st.booleans(), st.sampled_from(["", "exited"])),
        "config": st.builds(
            lambda n, status: ReportedConfig(config_hash(_assignment(n)), status, "boom" if status == "failed" else ""),
            _VERSIONS,
            st.sampled_from(["applying", "applied", "failed"]),
        ),
        "cause": st.sampled_from([None, "version", "killed", "host", "unclear"]),
        "host": st.builds(
            HostReport,
            supervisor_version=st.sampled_from(["0.2.0", "0.3.0"]) | st.none(),
            labels=st.sampled_from([{}, {"zone": "a"}]),
            drifted=st.sampled_from([(), ("receivers",)]) | st.none(),
            exits=st.integers(0, 5) | st.none(),
            can=st.sampled_from([(), ("restart", "retry", "components")]),
            components=st.sampled_from(["a" * 64, "b" * 64]) | st.none(),
        ),
    },
)


def _signing(public: bytes, since: datetime | None = None) -> HostIdentity:
    return replace(SENDER, key=HostKey(public * 32, 1, 1), key_since=since)


def _assignment(n: int | None) -> Assignment | None:
    return None if n is None else Assignment("cfg_1", n)


def _text(config: Desired) -> ConfigText:
    n = config.assignment.version_number if config.assignment else 0
    return ConfigText(f"{n:064}", runs_nothing=n == WITHOUT_PIPELINES)


@dataclass(frozen=True)
class Step:
    """Time passes, a person assigns or orders something, and the instance sends a message."""

    seconds: int
    assigns: int | None
    changes: bool
    orders: bool
    report: Mapping[str, Any] = field(default_factory=dict)


_STEPS: Final = st.lists(
    st.builds(Step, st.sampled_from([1, 20, 30, 61, 300, 4_000]), _VERSIONS, st.booleans(), st.booleans(), _REPORTS),
    min_size=1,
    max_size=12,
)
_courses = settings(max_examples=either(30, 3_000))


def course(steps: list[Step]) -> list[tuple[Decision, Deployment, datetime, Step]]:
    """The decisions about the messages of one instance, with what each depended on."""
    at = BEGIN
    group = Deployment("dep_1", "flt_1", "web", False, None, None, None, None, at, at)
    instance = new_instance("ins_1", group, at)
    decisions = []
    for step in steps:
        at += timedelta(seconds=step.seconds)
        if step.changes:
            group = group.assigned(_assignment(step.assigns), at)
        if step.orders:
            order = PendingOrder.new("retry", at)
            instance = replace(instance, orders=instance.orders.with_order(order))
        decision = decided(instance, group, at, _text, **step.report)
        decisions.append((decision, group, at, step))
        instance = decision.instance
    return decisions


def _without_times_of_offers(instance: Instance) -> Instance:
    """Only the time of the last offer is stored."""
    outcomes = tuple(replace(outcome, offered_at=None) for outcome in instance.trials.outcomes)
    return replace(instance, trials=replace(instance.trials, outcomes=outcomes))


@_courses
@given(_STEPS)
def test_the_same_message_is_decided_the_same_and_changes_nothing_that_it_is_given(steps: list[Step]) -> None:
    for decision, group, at, step in course(steps):
        assert decision.before is not None
        before = repr(decision.before)

        assert decided(decision.before, group, at, _text, **step.report) == decision
        assert repr(decision.before) == before


@_courses
@given(_STEPS)
def test_an_offer_is_what_may_run_and_goes_to_who_takes_it(steps: list[Step]) -> None:
    for decision, group, at, _ in course(steps):
        after, sent = decision.instance, decision.offer
        if sent is None:
            continue
        desired = after.desired(group, at)
        assert after.reported.accepts_config
        assert not after.reported.stopped
        assert not decision.asks_full_state
        assert not _text(sent).runs_nothing
        assert after.trials.failure_of(sent) is None or sent.config_hash != desired.config_hash
        # Another version than the desired one is offered only where that has failed.
        assert sent.config_hash == desired.config_hash or after.trials.failure_of(desired)
        offered = after.trials.last_offered()
        assert offered is not None
        assert offered.config_hash == sent.config_hash


@_courses
@given(_STEPS)
def test_an_instance_is_applied_only_if_it_is_healthy_with_what_it_is_to_run(steps: list[Step]) -> None:
    for decision, group, at, _ in course(steps):
        after, desired = decision.instance, decision.instance.desired(group, at)
        assert after.standing.revision == desired.revision
        if after.standing.state == "applied":
            assert after.reported.is_healthy
            assert not after.reported.stopped
            assert (after.reported.config.config_hash, after.reported.config.status) == (desired.config_hash, "applied")
            assert not _text(desired).runs_nothing


@_courses
@given(_STEPS)
def test_all_that_is_kept_of_an_instance_is_bounded(steps: list[Step]) -> None:
    for decision, _, at, _ in course(steps):
        after, before = decision.instance, decision.before
        assert before is not None
        assert after.contact.last_seen_at >= before.contact.last_seen_at
        assert len(after.trials.outcomes) <= 6
        assert len({outcome.config_hash for outcome in after.trials.outcomes}) == len(after.trials.outcomes)
        assert len(after.trials.healthy) <= 4
        assert all(at - order.at < KEPT for order in after.orders.pending)
        assert len({order.do for order in after.orders.pending}) == len(after.orders.pending)
        assert len(decision.events) <= MOST_AN_HOUR + MOST_RARE + 2


@_courses
@given(_STEPS)
def test_what_is_decided_is_read_again_as_it_was_stored(steps: list[Step]) -> None:
    for decision, _, _, _ in course(steps):
        item = mapping.instance_item(decision.instance) | {"revision": 0}
        read = mapping.INSTANCES.read(items.unmarshal(items.marshal(item)))

        assert _without_times_of_offers(read) == _without_times_of_offers(decision.instance)
        assert read.trials.last_offered() == decision.instance.trials.last_offered()


@_courses
@given(_STEPS)
def test_a_heartbeat_that_says_nothing_new_is_not_stored(steps: list[Step]) -> None:
    last, group, at, _ = course(steps)[-1]
    soon = at + timedelta(seconds=5)
    second = decided(last.instance, group, soon, _text, full=False)
    third = decided(second.instance, group, soon + timedelta(seconds=5), _text, full=False)
    under_way = second.instance.under_way or third.instance.under_way

    assert under_way or third.has_news or not third.is_stored


@_courses
@given(_STEPS)
def test_a_host_whose_answer_was_lost_is_told_its_interval_again(steps: list[Step]) -> None:
    for decision, group, at, step in course(steps):
        stored = decision.instance
        repeated = decided(stored, group, at, _text, **step.report, sequence_num=stored.contact.sequence_num)

        assert repeated.interval is not None or decision.interval is None or not repeated.instance.is_quick


@pytest.mark.parametrize(("number", "told"), [(0, True), (9, True), (10, False)])
def test_a_host_that_starts_anew_or_repeats_its_message_is_told_its_interval_again(number: int, told: bool) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    instance = decided(instance, GROUP, BEGIN).instance
    instance = replace(instance, contact=replace(instance.contact, sequence_num=9))

    assert (decided(instance, GROUP, BEGIN, sequence_num=number).interval is not None) is told


def test_a_second_process_with_the_same_uid_gets_one_of_its_own() -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    instance = replace(instance, contact=Contact(9, BEGIN, BEGIN, BEGIN, conflicts=2), orders=Orders())
    decision = decided(instance, GROUP, BEGIN, sequence_num=3)

    assert (decision.gets_uid, decision.offer, decision.instance.contact.conflicts) == (True, None, 0)


@pytest.mark.parametrize(
    ("sender", "takes_place"), [(_signing(b"a"), False), (SENDER, True)], ids=["it signs", "a person allowed it"]
)
def test_a_host_that_is_proved_is_no_second_process_whatever_its_numbers(
    sender: HostIdentity, takes_place: bool
) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    instance = replace(instance, contact=Contact(9, BEGIN, BEGIN, BEGIN, conflicts=2))
    decision = decided(instance, GROUP, BEGIN, sender=sender, takes_place=takes_place, sequence_num=3)

    assert (decision.gets_uid, decision.instance.contact.conflicts) == (False, 0)


@pytest.mark.parametrize("public", [b"a", b"b", b"c"])
def test_a_key_is_as_old_as_its_own_first_message(public: bytes) -> None:
    """Else a stranger's key would be older than a renewal of the token, and its host told the next token."""
    since, at = BEGIN - timedelta(days=9), BEGIN
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    instance = replace(instance, identity=_signing(b"b", since))
    decision = decided(instance, GROUP, at, sender=_signing(public))

    assert decision.instance.identity.key_since == (since if public == b"b" else at)


@pytest.mark.parametrize("byte", [0, 64, 255])
def test_full_reports_of_a_fleet_that_started_together_are_spread_over_ten_minutes(byte: int) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    uid = b"x" * 14 + bytes([byte]) + b"x"
    due = timedelta(hours=1, seconds=byte * 600 / 256)
    asked = [
        decided(instance, GROUP, BEGIN + due + more, uid=uid, full=False).asks_full_state
        for more in (timedelta(0), timedelta(microseconds=1))
    ]

    assert asked == [False, True]


@pytest.mark.parametrize("known", [9, 10])
@pytest.mark.parametrize(
    ("state", "more", "asked"),
    [
        ("applying", 1, False),
        ("applying", 2, True),
        # Heartbeats are not written while nothing is under way.
        ("applied", 2, False),
        ("applied", 0, False),
        ("applied", -1, True),
    ],
)
def test_the_full_state_is_asked_for_after_a_gap_while_a_version_is_under_way(
    known: int, state: InstanceState, more: int, asked: bool
) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN, standing=Standing(state, None, 1))
    reported = replace(instance.reported, accepts_config=True)
    instance = replace(instance, contact=Contact.first(known, BEGIN), reported=reported)
    message = decided(instance, GROUP, BEGIN, sequence_num=known + more, full=False)

    assert message.asks_full_state is asked
    assert not decided(instance, GROUP, BEGIN, sequence_num=known + more, full=True).asks_full_state


def test_the_third_old_message_is_one_of_a_second_process_with_the_same_uid() -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    told = []
    for _ in range(4):
        instance = replace(instance, contact=replace(instance.contact, sequence_num=9))
        decision = decided(instance, GROUP, BEGIN, sequence_num=3)
        instance = decision.instance
        told.append((decision.gets_uid, instance.contact.conflicts))

    assert told == [(False, 1), (False, 2), (True, 0), (False, 1)]


@pytest.mark.parametrize(("hours", "conflicts"), [(1, 2), (2, 0)])
def test_old_messages_are_forgotten_once_a_full_state_is_due(hours: int, conflicts: int) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    instance = replace(instance, contact=Contact(9, BEGIN, BEGIN, BEGIN, conflicts=2))

    assert decided(instance, GROUP, BEGIN + timedelta(hours=hours)).instance.contact.conflicts == conflicts


@pytest.mark.parametrize(
    ("distribution", "status", "minutes", "asked"),
    [
        (BRIDGE, "ok", 5, False),
        (BRIDGE, "ok", 6, True),
        (BRIDGE, "failed", 0, True),
        (BRIDGE, "degraded", 0, True),
        (None, "failed", 6, False),
    ],
)
def test_a_bridge_is_asked_for_its_full_state_when_its_pods_changed_and_every_five_minutes(
    distribution: str | None, status: str, minutes: int, asked: bool
) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    note = TreeNote(HealthTree("ok", None, None, []).digest, BEGIN)
    description = replace(instance.reported.description, distribution=distribution)
    instance = replace(instance, reported=replace(instance.reported, description=description, health_tree=note))
    tree = HealthTree(status, None, None, [])
    at = BEGIN + timedelta(minutes=minutes)

    assert decided(instance, GROUP, at, full=False, health_tree=tree).asks_full_state is asked


@pytest.mark.parametrize(
    ("available", "leaves", "asked"),
    [
        (AvailableComponents("hash"), False, True),
        (AvailableComponents("hash"), True, False),
        (AvailableComponents("hash", ("receiver/otlp",)), False, False),
        (None, False, False),
    ],
)
def test_an_agent_that_is_not_ours_is_asked_once_for_its_components(
    available: AvailableComponents | None, leaves: bool, asked: bool
) -> None:
    instance: Instance = new_instance("ins_1", GROUP, BEGIN)
    first = decided(instance, GROUP, BEGIN, available=available, leaves=leaves)
    second = decided(first.instance, GROUP, BEGIN + timedelta(minutes=1), available=available, leaves=leaves)

    assert (first.asks_components, second.asks_components) == (asked, False)
