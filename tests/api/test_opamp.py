"""What an agent is answered, message by message, and the state that people see of it."""

from headgate.fleets import keys
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.storage import aws, items
from headgate_engine.wire.inputs import MAX_TEXT
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, hash_of, make_fleet, now, revision, version
from tests.support.members import API, Member

__all__ = ["ann", "fleet", "now"]

APPLYING = wire.RemoteConfigStatuses_APPLYING
APPLIED = wire.RemoteConfigStatuses_APPLIED
FAILED = wire.RemoteConfigStatuses_FAILED
FULL_STATE = wire.ServerToAgentFlags_ReportFullState


def test_a_new_agent_is_listed_told_its_interval_and_given_what_its_group_runs(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    answer = agent.start()

    assert answer.instance_uid == agent.uid
    assert 10 <= answer.connection_settings.opamp.heartbeat_interval_seconds <= 30
    assert not answer.connection_settings.opamp.destination_endpoint
    assert answer.flags == 0
    assert agent.config == version(1).encode()
    (seen,) = fleet.instances()
    assigned = {"configuration_id": fleet.configuration_id, "version_number": 1}
    assert seen == {
        "id": seen["id"],
        "deployment_id": fleet.deployment_id,
        "name": None,
        "labels": {},
        "host_name": "edge-1",
        "os": "linux",
        "arch": "amd64",
        "collector_version": "0.139.0",
        "distribution": "otelcol-contrib",
        "state": "pending_pickup",
        "state_message": None,
        "assigned": assigned,
        "running": {"configuration_id": None, "version_number": None},
        "supervisor_version": None,
        "drifted": None,
        "exits": None,
        "last_exits": [],
        "counters": None,
        "token_id": fleet.member.http.get(f"{API}/fleets/{fleet.id}").json()["token_id"],
        "token_current": True,
        "host_key": None,
        "last_seen_at": "2026-11-21T12:00:00.000Z",
        "first_seen_at": "2026-11-21T12:00:00.000Z",
    }
    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


def test_a_rollout_goes_from_pending_over_applying_to_applied(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    assert fleet.state() == "pending_pickup"
    agent.report(APPLYING)
    assert fleet.state() == "applying"
    answer = agent.report(wire.RemoteConfigStatuses_APPLIED)
    assert fleet.state() == "applied"
    assert not answer.HasField("remote_config")
    fleet.assign(2)
    assert fleet.state() == "pending_pickup"
    agent.heartbeat()
    assert agent.config == version(2).encode()
    agent.applies()
    assert fleet.state() == "applied"
    (seen,) = fleet.instances()
    assert seen["running"] == seen["assigned"] == {"configuration_id": fleet.configuration_id, "version_number": 2}


def test_texts_go_out_as_they_were_stored(fleet: Fleet) -> None:
    yaml = "exporters: {otlp: {endpoint: $orgvar:BACKEND, headers: {k: '${env:KEY:-none}'}}}\r\n# \u00e9\n" + version(2)
    fleet.assign(fleet.publish(yaml))
    agent = fleet.agent()
    agent.start()

    assert agent.config == yaml.encode()


def test_a_group_without_an_assignment_is_told_to_run_nothing(fleet: Fleet) -> None:
    agent = fleet.agent()
    answer = agent.start()

    assert answer.HasField("remote_config")
    assert agent.config == b""
    agent.report(APPLIED)
    assert fleet.state() == "idle"
    assert fleet.running() is None


def test_clearing_an_assignment_stops_the_collector(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(None)
    agent.heartbeat()

    assert agent.config == b""
    # Its collector is stopped, which is not a fault.
    agent.report(APPLIED)
    agent.says_health(healthy=False, error="not running")
    assert fleet.state() == "idle"
    assert fleet.running() is None


def test_what_is_applied_is_not_sent_again(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()

    assert not agent.heartbeat().HasField("remote_config")
    assert not agent.start().HasField("remote_config")
    fleet.change(name="renamed")
    assert fleet.state() == "applied"
    assert not agent.heartbeat().HasField("remote_config")


def test_what_failed_is_told_and_answered_with_what_worked_before(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.report(APPLYING)
    agent.report(FAILED, "bind: address already in use")

    assert agent.config == version(1).encode()
    agent.applies()
    (seen,) = fleet.instances()
    assert (seen["state"], seen["state_message"]) == ("apply_failed", "bind: address already in use")
    assert fleet.running() == 1
    assert fleet.counts() == {"total": 1, "apply_failed": 1}


def test_what_failed_is_never_offered_again_until_a_person_assigns_it_again(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.report(FAILED, "no")
    agent.applies()

    fleet.change(name="renamed")
    for _ in range(3):
        assert not agent.heartbeat().HasField("remote_config")
    assert not agent.start().HasField("remote_config")
    assert fleet.state() == "apply_failed"
    fleet.assign(2)
    assert fleet.state() == "pending_pickup"
    agent.heartbeat()
    assert agent.config == version(2).encode()
    agent.applies()
    assert fleet.state() == "applied"
    assert fleet.running() == 2


def test_a_restart_after_a_failure_is_offered_the_last_good_config(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    # The answer to the failure is lost with the process.
    agent.report(FAILED, "no")
    agent.status = wire.RemoteConfigStatus(
        last_remote_config_hash=bytes.fromhex(hash_of(fleet, 2)), status=FAILED, error_message="no"
    )
    answer = agent.start()

    assert answer.HasField("remote_config")
    assert agent.config == version(1).encode()
    assert 54 <= answer.connection_settings.opamp.heartbeat_interval_seconds <= 60
    agent.applies()
    assert fleet.state() == "apply_failed"
    assert fleet.running() == 1


def test_the_first_config_failing_leaves_nothing_running(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(FAILED, "no")

    assert agent.config == b""
    agent.report(APPLIED)
    assert fleet.state() == "apply_failed"
    assert not agent.heartbeat().HasField("remote_config")


def test_when_the_last_good_config_fails_as_well_nothing_more_is_offered(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.report(FAILED, "first")
    agent.report(FAILED, "second")

    assert not agent.answer.HasField("remote_config")
    assert not agent.heartbeat().HasField("remote_config")
    (seen,) = fleet.instances()
    assert (seen["state"], seen["state_message"]) == ("apply_failed", "first")


def test_a_rollback_by_a_person_runs_what_ran_before_only_once_it_is_applied(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(2)
    agent.heartbeat()
    agent.applies()
    fleet.assign(1)
    agent.heartbeat()

    assert agent.config == version(1).encode()
    assert (fleet.state(), fleet.running()) == ("pending_pickup", 2)
    agent.applies()
    assert (fleet.state(), fleet.running()) == ("applied", 1)


def test_an_agent_that_takes_no_remote_config_is_offered_none(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent(capabilities=wire.AgentCapabilities_ReportsStatus)

    assert not agent.start().HasField("remote_config")
    assert fleet.state() == "pending_pickup"


def test_an_interval_is_never_told_to_an_agent_that_would_take_it_for_a_new_connection(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.capabilities |= wire.AgentCapabilities_AcceptsOpAMPConnectionSettings

    assert not agent.start().HasField("connection_settings")


def test_a_state_is_not_shown_longer_than_a_heartbeat_may_be_unwritten(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    now.moves(minutes=5)
    assert (fleet.state(), fleet.counts()) == ("applied", {"total": 1, "applied": 1})
    now.moves(seconds=11)
    assert (fleet.state(), fleet.counts()) == ("silent", {"total": 1, "silent": 1})
    # What is assigned meanwhile says nothing about what the host does.
    fleet.assign(2)
    assert fleet.state() == "silent"
    fleet.assign(1)
    agent.heartbeat()
    assert fleet.state() == "applied"


def test_a_heartbeat_that_nothing_writes_is_not_silence(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    for _ in range(20):
        now.moves(seconds=30)
        assert fleet.state() == "applied"
        agent.heartbeat()


def test_silence_is_stale_by_time_alone_and_ends_with_a_heartbeat(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    now.moves(minutes=15)
    assert fleet.state() == "silent"
    now.moves(seconds=1)
    assert fleet.state() == "stale"
    agent.heartbeat()
    assert fleet.state() == "applied"


def test_silence_in_a_kubernetes_fleet_is_unknown(ann: Member, now: Clock) -> None:
    fleet = make_fleet(ann, "kubernetes-supervisor")
    agent = fleet.agent()
    agent.start()
    now.moves(minutes=15, seconds=1)

    assert fleet.state() == "unknown"


def test_a_stale_instance_stays_stale_when_its_group_is_assigned_something_else(fleet: Fleet, now: Clock) -> None:
    fleet.agent().start()
    now.moves(hours=2)
    fleet.assign(2)

    assert fleet.state() == "stale"


def test_after_a_month_of_silence_an_instance_is_forgotten(fleet: Fleet, now: Clock) -> None:
    fleet.agent().start()
    now.moves(days=30)
    assert fleet.state() == "stale"
    now.moves(days=1)

    assert fleet.instances() == []
    assert fleet.counts() == {}


def test_a_forgotten_instance_that_comes_back_is_counted_once(fleet: Fleet, now: Clock) -> None:
    agent = fleet.agent()
    agent.start()
    now.moves(days=40)
    agent.heartbeat()

    assert fleet.counts() == {"total": 1, "pending_pickup": 1}


def test_heartbeats_that_say_nothing_are_rarely_written(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    written = revision(fleet)
    for _ in range(20):
        now.moves(seconds=30)
        agent.heartbeat()

    # Ten minutes: a write when the version has proved good, after two minutes, and then one in three minutes.
    assert revision(fleet) - written == 3
    assert fleet.state() == "applied"


def test_an_instance_that_moves_to_another_group_runs_what_that_one_does(fleet: Fleet) -> None:
    fleet.assign(1)
    other = fleet.add_group("other", 2)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    moved = fleet.agent(group=other, uid=agent.uid, status=agent.status)
    moved.start()

    assert moved.config == version(2).encode()
    (seen,) = fleet.instances()
    assert (seen["deployment_id"], seen["state"]) == (other, "pending_pickup")
    moved.applies()
    assert fleet.state() == "applied"


def test_one_uid_in_two_fleets_is_two_instances(fleet: Fleet, ann: Member) -> None:
    other = make_fleet(ann, label="Other")
    agent = fleet.agent()
    agent.start()
    other.agent(uid=agent.uid, host_name="elsewhere").start()

    assert [one["host_name"] for one in fleet.instances()] == ["edge-1"]
    assert [one["host_name"] for one in other.instances()] == ["elsewhere"]


def test_a_deleted_group_takes_its_instances_out_of_sight_and_its_agents_are_refused(fleet: Fleet) -> None:
    group = fleet.add_group("doomed", 1)
    agent = fleet.agent(group=group)
    agent.start()
    aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=items.marshal(keys.deployment(fleet.id, group)))

    assert fleet.post(agent.message().SerializeToString(), group=group).status_code == 403
    assert (fleet.instances(), fleet.counts()) == ([], {})


def test_instances_come_in_pages_in_the_order_of_their_ids(fleet: Fleet) -> None:
    for n in range(5):
        fleet.agent(host_name=f"edge-{n}").start()
    path = f"{API}/fleets/{fleet.id}/instances"
    first = fleet.member.http.get(path, params={"limit": 3}).json()
    second = fleet.member.http.get(path, params={"limit": 3, "cursor": first["next_cursor"]}).json()

    ids = [one["id"] for one in first["items"] + second["items"]]
    assert (len(first["items"]), len(second["items"]), second["next_cursor"]) == (3, 2, None)
    assert ids == sorted(set(ids))


def test_instances_of_another_organizations_fleet_are_404(fleet: Fleet) -> None:
    account = identity.create_service_account(identity.create_organization("Other").id, "cid")
    _, token = identity.create_token(account.organization_id, account.id, name="t", access="read")
    response = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", headers={"Authorization": f"Bearer {token}"})

    assert response.status_code == 404


def test_an_answer_names_the_servers_capabilities_and_no_other_bits(fleet: Fleet) -> None:
    known = 0
    for value in wire.ServerCapabilities.values():
        known |= value
    answer = fleet.agent().start()

    assert answer.capabilities & wire.ServerCapabilities_AcceptsStatus
    assert answer.capabilities & wire.ServerCapabilities_OffersRemoteConfig
    assert not answer.capabilities & ~known


def test_a_large_answer_is_packed_for_a_client_that_unpacks(fleet: Fleet) -> None:
    text = version(1) + "".join(f"# a comment, number {n}\n" for n in range(1_000))
    fleet.assign(fleet.publish(text))
    agents = [fleet.agent(host_name=name) for name in ("packs", "does-not")]
    packed, plain = (
        fleet.http.post(
            "/v1/opamp",
            content=agent.full().SerializeToString(),
            headers={
                "authorization": f"Bearer {fleet.token}",
                "x-deployment-id": fleet.deployment_id,
                "accept-encoding": encoding,
            },
        )
        for agent, encoding in zip(agents, ("gzip", "identity"), strict=True)
    )

    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    assert "content-encoding" not in plain.headers
    for answer in (packed, plain):
        offered = wire.ServerToAgent.FromString(answer.content).remote_config.config.config_map[""].body
        assert offered.decode() == text


def test_a_text_of_the_largest_size_reaches_an_agent(fleet: Fleet) -> None:
    text = version(1)
    text += "#" * (MAX_TEXT - 1_000 - len(text))
    fleet.assign(fleet.publish(text))
    agent = fleet.agent()
    agent.start()

    assert agent.config == text.encode()
