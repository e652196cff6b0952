"""Stored variables reach running hosts by a rollout: sealed for each host, with gates, and back with the version."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from nacl.exceptions import CryptoError
from nacl.public import SealedBox

from headgate.audit import keys as audit_keys
from headgate.audit import service as audit
from headgate.audit.model import AuditRecord
from headgate.backup.kinds import KINDS
from headgate.deployments import own_tokens, variable_store, variables
from headgate.deployments import service as deployments
from headgate.deployments.environment import Environment
from headgate.fleets import keys, tokens
from headgate.instances import service as instances
from headgate.instances.reported.health_tree import LONGEST_ERROR
from headgate.storage import aws, table
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now
from tests.support.members import API
from tests.support.rolling import no_executions
from tests.support.sealed_hosts import WRONG, Rollout, SealedGroup, SealedHost
from tests.support.signing_host import SigningHost

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")
SECRETS = ("first", "second", "third")


@pytest.fixture
def group(fleet: Fleet, now: Clock) -> SealedGroup:
    return SealedGroup.of(fleet, now, 2)


def to_all(group: SealedGroup, **changes: object) -> Rollout:
    """A rollout of these changes that has given them to every host."""
    all_at_once = {"steps": [{"percent": 100, "soak_seconds": 60}]}
    return group.ends(group.starts(group.stores(**changes), strategy=all_at_once))


def revisions(group: SealedGroup) -> list[str]:
    """The stored revisions of the group."""
    prefix = f"{keys.ENV_REVISIONS}{group.id}#"
    return [str(item["sk"]) for item in _items(group.fleet.id) if str(item["sk"]).startswith(prefix)]


def _items(fleet_id: str) -> list[dict[str, Any]]:
    answer = aws.dynamodb().query(
        TableName=table.fleets.name,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": keys.of_fleet(fleet_id)}},
    )
    return [{name: next(iter(value.values())) for name, value in item.items()} for item in answer["Items"]]


def deliveries(group: SealedGroup) -> list[AuditRecord]:
    """The records of secrets that were sealed for hosts, newest first."""
    records = audit.records(admin_of(group.fleet), 100, None).entries
    return [record for record in records if record.action == "instance.secrets_delivered"]


def test_a_changed_secret_reaches_hosts_step_by_step_without_an_install(
    group: SealedGroup, capsys: pytest.CaptureFixture[str]
) -> None:
    revision = group.stores(secrets={"API_KEY": "second"}, variables={"ZONE": None, "LEVEL": "warn"})
    assert [host.digest for host in group.hosts] == ["", ""]
    before = group.of_hosts()
    assert (before["newest"], before["rolled_out"], before["running"]) == (2, None, [{"revision": None, "hosts": 2}])

    rollout = group.starts(revision)
    assert rollout["variables"] == {"revision": 2, "before": None, "names": ["API_KEY", "LEVEL", "ZONE"]}
    ended = group.ends(rollout)
    listed = group.fleet.member.http.get(f"{group.path}/history").json()["items"]
    assert [entry["variables_revision"] for entry in listed] == [2, None]
    third = group.starts(group.stores(secrets={"API_KEY": "third"}, variables={"LEVEL": "warn"}))
    assert third["variables"] == {"revision": 3, "before": 2, "names": ["API_KEY"]}
    group.fleet.member.http.post(f"{group.path}/rollouts/{third['id']}/abort")
    group.ends(third)

    assert (ended["status"], ended["hosts"]["applied"]) == ("completed", 2)
    for host in group.hosts:
        assert host.environment == {"API_KEY": "second", "LEVEL": "warn"}
        assert host.files[host.digest]["removed"] == ["ZONE"]
    after = group.of_hosts()
    assert (after["rolled_out"], after["running"]) == (2, [{"revision": 2, "hosts": 2}])
    assert group.fleet.member.http.get(group.path).json()["variables_revision"] == 2
    (shown, _) = group.fleet.instances()
    path = f"{API}/fleets/{group.fleet.id}/instances/{shown['id']}"
    known = group.fleet.member.http.get(path).json()
    assert known["variables_revision"] == 2
    history = group.fleet.member.http.get(f"{path}/history").json()["items"]
    events = [(one["event"], one["variables_revision"]) for one in history if one["event"].startswith("variables")]
    assert events == [("variables_changed", 2), ("variables_sent", 2)]
    changes = json.dumps(group.fleet.member.http.get(f"{API.replace('public', 'app')}/changes").json())
    records = deliveries(group)
    assert sorted((record.actor.kind, record.actor.id) for record in records) == sorted(
        ("instance", each["id"]) for each in group.fleet.instances()
    ), "once for each host, though two revisions were sent"
    assert {record.target for record in records} == {f"fleets/{group.fleet.id}/deployments/{group.id}"}
    assert [record.details["secrets"] for record in records] == ["API_KEY", "API_KEY"]
    assert {record.details["variables_revision"] for record in records} == {"2"}
    items = table.identity.list(audit_keys.partition(admin_of(group.fleet).organization_id), "", 100, None).entries
    taken_by_imports = next(kind.required for kind in KINDS if kind.title == "Audit record")
    assert all(check(item[attribute]) for item in items for attribute, check in taken_by_imports.items())
    told = capsys.readouterr().out + changes + json.dumps(known) + json.dumps(_items(group.fleet.id), default=repr)
    assert not [secret for secret in SECRETS if f'"{secret}"' in told]


def test_a_wrong_value_fails_the_gate_and_the_former_values_are_back(group: SealedGroup) -> None:
    to_all(group, secrets={"API_KEY": "second"})
    good = {host.digest for host in group.hosts}

    ended = group.ends(group.starts(group.stores(secrets={"API_KEY": WRONG})))

    assert (ended["status"], ended["failures"][0]["gate"]) == ("rolled_back", "apply_failed")
    assert len([host for host in group.hosts if len(host.files) == 2]) == 1, "only the first step got it"
    assert {host.digest for host in group.hosts} == good
    assert group.of_hosts()["running"] == [{"revision": 2, "hosts": 2}]
    assert all(host.environment["API_KEY"] == "second" for host in group.hosts)


def test_a_host_that_says_applied_and_runs_other_values_is_not_applied(group: SealedGroup) -> None:
    group.hosts[0].keeps = group.hosts[1].keeps = True
    rollout = group.starts(group.stores(secrets={"API_KEY": "second"}))
    shown = group.ends(rollout)
    assert (shown["status"], shown["failures"][0]["gate"]) == ("rolled_back", "apply_failed"), shown
    assert "has not been seen to run with the variables of revision 2" in str(group.said)
    assert group.of_hosts()["running"] == [{"revision": None, "hosts": 2}]


def test_a_host_whose_disk_is_full_is_offered_them_again_and_then_fails_the_gate(group: SealedGroup) -> None:
    for host in group.hosts:
        host.is_full = True

    ended = group.ends(group.starts(group.stores(secrets={"API_KEY": "second"})))

    assert (ended["status"], ended["failures"][0]["gate"]) == ("rolled_back", "apply_failed"), ended
    assert "no space left on device" in ended["failures"][0]["message"]
    assert max(sum("sealed" in offer for offer in host.offers) for host in group.hosts) > 1
    assert group.of_hosts()["running"] == [{"revision": None, "hosts": 2}]


def test_a_version_that_fails_later_is_taken_back_with_the_values_that_it_was_good_with(group: SealedGroup) -> None:
    to_all(group, secrets={"API_KEY": "second"})
    group.beats(120)
    to_all(group, secrets={"API_KEY": "third"})
    host = group.hosts[0]
    good = next(iter(host.files))

    # Before it has proved the third value good.
    host.fails("crashed")

    assert (host.digest, host.environment["API_KEY"]) == (good, "second")


def test_an_earlier_revision_is_rolled_out_again_and_six_are_stored_beside_the_newest(fleet: Fleet, now: Clock) -> None:
    group = SealedGroup.of(fleet, now, 1)
    for n in range(2, 10):
        group.starts(group.stores(secrets={"API_KEY": f"value {n}"}))
    assert [int(key[-8:]) for key in revisions(group)] == [3, 4, 5, 6, 7, 8, 9]

    ended = group.ends(group.starts(5))

    assert (ended["status"], ended["variables"]) == (
        "completed",
        {"revision": 5, "before": None, "names": ["API_KEY", "ZONE"]},
    )
    (host,) = group.hosts
    assert host.environment["API_KEY"] == "value 5"
    for refused in (2, 10):
        answer = group.asks(refused)
        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "variables_revision"])
        assert "is not stored; the newest is 9" in answer.json()["detail"]
    host.agent.leaves()
    now.moves(days=31)
    assert fleet.member.http.delete(group.path).status_code == 204
    assert revisions(group) == []


def test_hosts_without_a_key_the_ability_or_the_groups_token_are_listed_before_and_get_nothing(
    group: SealedGroup,
) -> None:
    older = group.join("older", can=("restart",))
    visitor = group.join("visitor", token=group.fleet.token)
    unsigned = group.unsigned("unsigned")
    windows = group.join("windows", can=("restart",), platform="windows")
    group.beats()
    before = group.of_hosts()
    named = {one["name"]: one["message"] for one in before["not_moved"]}
    assert (before["hosts"], before["unreached"], sorted(named)) == (6, 4, ["older", "unsigned", "visitor", "windows"])
    assert "its supervisor takes none" in named["older"]
    assert "it signs in with the fleet's token, not with the group's own" in named["visitor"]
    assert "it does not sign its messages" in named["unsigned"]
    assert "Windows and macOS do not tell what a collector runs with. An install" in named["windows"]

    ended = group.ends(group.starts(group.stores(secrets={"API_KEY": "second"})))

    assert (ended["status"], ended["hosts"]["not_moved"], ended["hosts"]["applied"]) == ("completed", 4, 2)
    assert sorted(one["name"] for one in ended["not_moved"]) == ["older", "unsigned", "visitor", "windows"]
    assert not [offer for host in (older, visitor, unsigned, windows) for offer in host.offers if "sealed" in offer]


def test_a_rollout_that_reaches_no_host_is_refused(fleet: Fleet, now: Clock) -> None:
    group = SealedGroup.of(fleet, now, 0)
    group.join("visitor", token=fleet.token)

    answer = group.asks(1)

    assert (answer.status_code, answer.json()["code"]) == (409, "no_host_to_upgrade")
    assert "change the variables of none of the group's 1 hosts" in answer.json()["detail"]


def sealed(host: SealedHost, body: bytes) -> bytes | None:
    """What an answer with that body has for the host."""
    told = json.loads(body).get("variables", {}) if body else {}
    return base64.b64decode(told["sealed"]) if "sealed" in told else None


def test_nobody_else_gets_or_opens_what_is_sealed_for_a_host(group: SealedGroup) -> None:
    to_all(group, secrets={"API_KEY": "second"})
    host = group.hosts[0]
    # A host refuses what names another configuration than the one that it came with (internal/variables).
    assert (host.opened() or {})["config"] == host.agent.status.last_remote_config_hash.hex()
    box = base64.b64decode(host.told["sealed"])
    for stranger in (group.hosts[1].signing.key, SigningHost.of(group.fleet).key):
        with pytest.raises(CryptoError):
            SealedBox(stranger.to_curve25519_private_key()).decrypt(box)

    # The fleet's token with the id of a host of the group, in the group and in another one, with the thief's key.
    for token, place in ((group.fleet.token, group.id), (group.fleet.token, group.fleet.deployment_id)):
        thief = SigningHost.of(group.fleet, place, token).agent(uid=host.agent.uid)
        thief.start()
        thief.tells(b'{"v":1,"supervisor":{"version":"1"},"can":["variables"]}')
        assert sealed(host, thief.answer.custom_message.data) is None
        assert thief.uid != host.agent.uid, "it is another instance"
    group.clock.moves(seconds=1)
    # The host's messages again, with its signature, and with another key's under the host's name.
    body, signature = host.signing.sent[-1]
    assert host.signing.posts(body, signature).json()["code"] == "message_repeated"
    forged = SigningHost.of(group.fleet, group.id, host.signing.token).signature(body).split(".")
    forged[1] = host.signing.signature(body).split(".")[1]
    assert host.signing.posts(body, ".".join(forged)).json()["code"] == "signature_invalid"
    # The group's own token and another key under the host's id: another instance.
    swapped = SigningHost.of(group.fleet, group.id, host.signing.token).agent(uid=host.agent.uid)
    swapped.start()
    assert swapped.uid != host.agent.uid
    assert sealed(host, swapped.answer.custom_message.data) is None


def test_an_install_delivers_what_a_rollout_has_proved_and_not_what_was_stored_since(group: SealedGroup) -> None:
    to_all(group, variables={"ZONE": "proved"})
    group.stores(variables={"ZONE": "not judged", "NEW": "x"})
    stored = deployments.of_fleet(group.fleet.id, group.id)

    assert variables.of_group(stored).plain == {"ZONE": "proved"}
    late = group.join("late")
    group.beats()
    assert late.environment["ZONE"] == "proved"
    asked = {"platform": "linux", "deployment_id": group.id, "env": {"NEW": "mine"}}
    assert group.fleet.member.http.post(f"{API}/fleets/{group.fleet.id}/install", json=asked).status_code == 200


def test_variables_of_the_supervisor_are_not_brought_and_noted(group: SealedGroup) -> None:
    ended = to_all(group, variables={"HEADGATE_NAME": "x", "LD_PRELOAD": "y", "ZONE": "b"})

    assert ended["notes"][0].startswith("Hosts take HEADGATE_NAME, LD_PRELOAD from an install alone")
    assert [sorted(host.environment) for host in group.hosts] == [["API_KEY", "ZONE"]] * 2


def test_hosts_keep_what_they_have_where_the_secrets_cannot_be_opened(
    group: SealedGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_all(group, secrets={"API_KEY": "second"})
    host = group.hosts[0]

    def not_readable(*_: object) -> None:
        raise variables.NotReadable("API_KEY")

    monkeypatch.setattr(variables, "opened", not_readable)
    variables.forget()
    group.fleet.publish_up_to(2)
    group.fleet.member.http.patch(group.path, json={"version_number": 2})
    group.beats()

    assert host.told == {"digest": host.digest}
    assert host.environment["API_KEY"] == "second"


def test_changes_and_starts_at_once_pin_one_content_for_each_revision(fleet: Fleet, now: Clock) -> None:
    group = SealedGroup.of(fleet, now, 0)
    group.starts(1)

    def change(n: int) -> int:
        return group.stores(secrets={"API_KEY": f"value {n}"})

    def start(n: int) -> int:
        return int(group.asks(1 if n % 2 else group.newest()).status_code)

    with ThreadPoolExecutor(8) as pool:
        stored = [pool.submit(change, n) for n in range(4)]
        started = [pool.submit(start, n) for n in range(4)]
        numbers = sorted(each.result() for each in stored)
        codes = {each.result() for each in started}

    assert numbers == [2, 3, 4, 5], "no revision was lost, or written twice"
    # One that is not the newest any more is refused.
    assert 201 in codes <= {201, 422}
    shown = deployments.of_fleet(fleet.id, group.id)
    assert shown.rollout is not None
    assert shown.rollout.variables is not None
    environment = variable_store.revision(fleet.id, group.id, shown.rollout.variables.revision)
    assert environment is not None
    assert environment.pinned == shown.rollout.variables


@pytest.mark.full
def test_fifty_hosts_of_which_two_are_away_take_a_renewed_token_and_a_changed_secret(fleet: Fleet, now: Clock) -> None:
    group = SealedGroup.of(fleet, now, 50)
    away, group.hosts = group.hosts[:2], group.hosts[2:]

    def on_old_token() -> list[str]:
        path = f"{API}/fleets/{fleet.id}/instances"
        listed = fleet.member.http.get(path, params={"old_token": "true", "limit": 100}).json()["items"]
        return sorted(one["host_name"] for one in listed)

    own_tokens.renew(admin_of(fleet), fleet.id, group.id, "unused")
    group.beats()
    group.beats()
    assert on_old_token() == ["edge-0", "edge-1"]
    ended = group.ends(group.starts(group.stores(secrets={"API_KEY": "second"})))
    assert (ended["status"], ended["hosts"]["applied"], ended["hosts"]["failed"]) == ("completed", 48, 0)

    group.hosts += away
    for _ in range(3):
        group.beats()
    assert on_old_token() == []
    assert {host.environment["API_KEY"] for host in group.hosts} == {"second"}
    assert group.of_hosts()["running"] == [{"revision": 2, "hosts": 50}]
    assert len(fleet.instances()) == 50


def test_no_error_of_a_host_tells_a_secret_of_its_group(group: SealedGroup, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "a1B2-hook_of.no-known-form"
    to_all(group, secrets={"API_KEY": secret}, variables={"ZONE": "zone of nobody"})
    host = group.hosts[0]
    quoted = f'Post "https://hooks.example.com/{secret}": dial tcp: refused in zone of nobody'
    # The collector's list of parts is cut in the middle of the secret.
    parts = {"otlp": wire.ComponentHealth(healthy=False, last_error="x" * (LONGEST_ERROR - 20) + secret)}
    host.agent.health = wire.ComponentHealth(healthy=False, last_error=quoted, component_health_map=parts)
    host.agent.send(host.agent.full())
    host.fails(f"failed to build pipelines: {quoted}")

    (shown, *_) = [one for one in group.fleet.instances() if one["state"] == "apply_failed"]
    path = f"{API}/fleets/{group.fleet.id}/instances/{shown['id']}"
    answers = "".join(group.fleet.member.http.get(place).text for place in (path, f"{path}/history"))
    told = answers + json.dumps(_items(group.fleet.id), default=repr) + capsys.readouterr().out
    assert "https://hooks.example.com/[REDACTED]" in answers
    assert "zone of nobody" in answers
    assert secret[:8] not in told


def test_every_revision_that_a_host_can_quote_is_stored_and_read_once(
    fleet: Fleet, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = SealedGroup.of(fleet, now, 1)
    (host,) = group.hosts
    all_at_once = {"steps": [{"percent": 100, "soak_seconds": 60}]}
    for n in range(2, 10):
        revision = group.stores(secrets={"API_KEY": f"secret number {n}"}, variables={"ZONE": WRONG if n > 4 else "a"})
        group.ends(group.starts(revision, strategy=all_at_once))
        group.beats(120)
    (stored,) = instances.of_group(fleet.id, group.id)
    offered = stored.offered_variables
    assert len(offered) > 6
    quoted = " ".join(f"secret number {each.revision}!" for each in offered)
    reads: list[object] = []
    read = variable_store.revision

    def counted(*place: Any) -> Environment | None:
        reads.append(place)
        return read(*place)

    table.transact([table.fleets.delete(keys.env_revision(fleet.id, group.id, offered[0].revision))])
    monkeypatch.setattr(variable_store, "revision", counted)
    variables.forget()
    for _ in range(2):
        host.agent.health = wire.ComponentHealth(healthy=False, last_error=quoted)
        host.agent.send(host.agent.full())

    (stored,) = instances.of_group(fleet.id, group.id)
    assert stored.reported.health is not None
    assert stored.reported.health.error.count("[REDACTED]") == len(offered) - 1
    assert len(reads) == len(offered), reads


def test_a_host_that_is_installed_in_another_group_never_goes_back_to_the_values_of_the_first(
    group: SealedGroup,
) -> None:
    second = SealedGroup(group.fleet, group.clock, group.fleet.add_group("second", 1))
    second.stores(secrets={"API_KEY": "of the second"})
    second.join("edge-2")
    second.ends(second.starts(1))
    to_all(group, secrets={"API_KEY": "of the first"})
    group.beats(120)
    host = group.hosts[0]
    first = host.digest

    host.signing.group, host.signing.token = second.id, tokens.value_of(second.id, 1)
    host.starts()
    assert host.environment["API_KEY"] == "of the second"
    host.fails("crashed")
    host.beats()

    assert [offer["digest"] for offer in host.offers if "digest" in offer].count(first) == 1, "before it moved"
    own = [record.target.rpartition("/")[2] for record in deliveries(group) if record.actor.name == "edge-0"]
    assert own == [second.id, group.id], "a record for each group"
    assert host.environment.get("API_KEY") != "of the first"
