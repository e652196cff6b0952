"""Fleets, groups and rollouts in the export and import of an organization."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.backup import archive, export, restore
from headgate.fleets import keys as fleet_keys
from headgate.fleets import tokens
from headgate.foundation.hashing import hash_of
from headgate.foundation.settings import settings
from headgate.identity import keys, signing
from headgate.instances.counting.census import SHARDS
from headgate.rollouts import executions
from headgate.storage import aws, items
from headgate.storage.items import Item
from headgate.storage.table import Table
from headgate_local import template
from tests.support.backups import (
    alone,
    ann,
    default_group,
    export_to,
    fleet_endpoint,
    forget_everything,
    furnished,
    quietly,
    seal_key_of,
)
from tests.support.fleet_of_agents import Clock, make_fleet, now
from tests.support.members import API, Member
from tests.support.rolling import QUICK, RollingGroup
from tests.support.signing_host import SigningHost
from tests.support.world import create_state_machines

__all__ = ["alone", "ann", "fleet_endpoint", "furnished", "now"]

pytestmark = pytest.mark.usefixtures("fleet_endpoint")


def test_a_fleet_accepts_its_old_token_and_the_one_of_the_new_deployment(
    alone: template.Template, ann: Member, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    (fleet,) = ann.http.get(f"{API}/fleets").json()["items"]
    group = default_group(ann, fleet["id"])
    old = [tokens.value_of(holder, 1) for holder in (fleet["id"], group)]
    export_to(path, ann.organization_id)
    seal_key = seal_key_of(path)
    forget_everything(alone)
    signing.signing_key.cache_clear()

    restored = restore.restore(path, quietly, seal_key)

    assert restored.left_out == []
    new = [tokens.value_of(holder, 1) for holder in (fleet["id"], group)]
    assert not set(new) & set(old)
    for value, of_group in zip((*old, *new), (None, group, None, group), strict=True):
        answer = aws.dynamodb().get_item(
            TableName=settings().fleets_table, Key=items.marshal(fleet_keys.token(hash_of(value)))
        )
        item = items.unmarshal(answer["Item"])
        assert (item["fleet_id"], item["organization_id"]) == (fleet["id"], ann.organization_id)
        assert item.get("deployment_id") == of_group


@pytest.mark.usefixtures("fleets_without_collector")
def test_an_import_counts_the_collectors_of_each_fleet_and_knows_their_keys(
    alone: template.Template, ann: Member, now: Clock, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    fleet, other = make_fleet(ann, label="One"), make_fleet(ann, label="Two")
    fleet.assign(1)
    agents = [fleet.agent(), fleet.agent(), SigningHost.of(fleet).agent()]
    for agent in agents[:2]:
        agent.start()
        agent.applies()
    other.agent().start()
    now.moves(minutes=20)
    agents[2].start()
    expected = {"total": 3, "pending_pickup": 1, "stale": 2}
    assert fleet.counts() == expected
    export_to(path, ann.organization_id)
    key = items.marshal(keys.signing_key())
    saved = aws.dynamodb().get_item(TableName=settings().identity_table, Key=key)["Item"]
    forget_everything(alone)
    aws.dynamodb().put_item(TableName=settings().identity_table, Item=saved)
    now.moves(minutes=1)

    restore.restore(path, quietly)

    assert fleet.counts() == expected
    assert other.counts() == {"total": 1, "stale": 1}
    assert ann.http.get(f"{API}/fleets/{fleet.id}").json()["hosts_without_key"] == 2
    assert fleet.post(agents[2].full().SerializeToString()).json()["code"] == "signature_missing"
    agents[0].heartbeat()
    agents[2].heartbeat()
    assert fleet.counts() == {"total": 3, "applied": 1, "pending_pickup": 1, "stale": 1}
    fleet.agent().start()
    assert fleet.counts() == {"total": 4, "applied": 1, "pending_pickup": 2, "stale": 1}
    room = aws.dynamodb().get_item(TableName=settings().fleets_table, Key=items.marshal(fleet_keys.room(fleet.id)))
    assert items.unmarshal(room["Item"])["total"] == 4


@pytest.mark.usefixtures("alone", "fleets_without_collector")
def test_a_rollout_under_way_is_halted_by_an_import_and_goes_on_when_it_is_retried(
    alone: template.Template, ann: Member, now: Clock, tmp_path: Path
) -> None:
    create_state_machines(alone)
    group = RollingGroup.of(make_fleet(ann, label="Rolling"), now, hosts=3)
    finished = group.ends(group.start(QUICK))
    group.fleet.assign(1)
    group.beats()
    rollout = group.start(QUICK)
    group.goes_on(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    listed = ann.http.get(group.path).json()["items"]
    path = tmp_path / "acme.jsonl.gz"
    key = aws.dynamodb().get_item(TableName=settings().identity_table, Key=items.marshal(keys.signing_key()))["Item"]
    export_to(path, ann.organization_id)
    forget_everything(alone)
    aws.dynamodb().put_item(TableName=settings().identity_table, Item=key)

    restore.restore(path, quietly)

    halted = group.now(rollout)
    assert halted["status"] == "halted"
    assert "was under way when its organization was exported" in halted["reason"]
    assert ann.http.get(group.path).json()["items"] == [halted, *listed[1:]]
    assert group.now(finished) == listed[2]
    # Its hosts have not reported here yet, and nothing is taken from them.
    now.moves(hours=1)
    assert executions.sweep() == 1
    group.tick(rollout)
    assert (group.now(rollout)["status"], len(group.with_new())) == ("halted", 1)
    group.beats()
    assert group.act(rollout, "retry").status_code == 200
    assert (group.ends(rollout)["status"], len(group.with_new())) == ("completed", 3)


def test_a_group_that_is_rolled_out_while_it_is_read_is_read_again(
    alone: template.Template, ann: Member, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_state_machines(alone)
    group = RollingGroup.of(make_fleet(ann, label="Rolling"), now, hosts=1)
    read = Table.each
    started: list[object] = []

    def started_meanwhile(table: Table, pk: str, prefix: str = "") -> Iterator[Item]:
        yield from read(table, pk, prefix)
        if pk == fleet_keys.rollouts_of(group.fleet.deployment_id) and not started:
            started.append(group.start(QUICK))

    monkeypatch.setattr(Table, "each", started_meanwhile)
    rows = [one.item for one in export.records(ann.organization_id, b"") if isinstance(one, archive.TableItem)]

    (exported,) = [row for row in rows if row.get("sk") == f"deployment#{group.fleet.deployment_id}"]
    rollouts = [row for row in rows if str(row.get("sk")).startswith(fleet_keys.ROLLOUTS)]
    assert "rollout" in exported
    assert [json.loads(str(row["rollout"]))["status"] for row in rollouts].count("in_progress") == 1


def test_no_count_is_negative_after_an_import_that_left_the_counters_out(ann: Member, now: Clock) -> None:
    fleet = make_fleet(ann, label="One")
    agents = [fleet.agent() for _ in range(3)]
    for agent in agents:
        agent.start()
    for number in range(SHARDS):
        shard = items.marshal(fleet_keys.census_shard(fleet.id, number))
        aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=shard)
    now.moves(minutes=1)

    for agent in agents:
        agent.heartbeat()
        assert all(n > 0 for n in fleet.counts().values())
    assert fleet.counts() == {"total": 3, "pending_pickup": 3}
