"""The page of a rollout: what its gates judge, over time, with what can be decided beside it."""

from fleets.app import app
from headgate_local import streams
from series.app import handler
from tests.support.aws import read_template
from tests.support.counting_hosts import CountingHost
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.page_visitor import member_at
from tests.support.rolling import QUICK, RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]


def test_gates_have_what_the_hosts_with_the_version_counted_and_the_buttons_above(
    fleet: Fleet, now: Clock, no_executions: None
) -> None:
    group = RollingGroup.of(fleet, now, 2)
    counting = [CountingHost(int(now.at.timestamp() * 1_000)) for _ in group.hosts]
    steps = [QUICK["steps"][0], {**QUICK["steps"][1], "approval": True}]
    with streams.followed(read_template()) as (stream,):
        rollout = group.start({"steps": steps})
        for _ in range(24):
            group.tick(rollout)
            group.beats()
            for host, counted in zip(group.hosts, counting, strict=True):
                counted.counts(500 if host.has_new else 9_000, 30_000)
                counted.tells(host.agent)
        while stream.take(handler):
            pass
    page = f"/organizations/{fleet.member.organization_id}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"

    shown = member_at(app, fleet.member.organization_id, "admin").get(f"{page}/rollouts/{rollout['id']}").text

    gates = shown[shown.index("<h2>Gates</h2>") : shown.index("<h2>Collectors</h2>")]
    # One host has the version, which takes 500 in half a minute, and of 450 fails to send 4.
    assert "send failed over time: last 0.89 %, at most 0.89 %" in gates
    assert "throughput drop over time: last 1 K/min each" in gates
    assert gates.count("no history is stored") == 2, "memory and processor"
    assert "what the 1 collector with the version counted together" in gates
    assert "<strong>Approve</strong>: The step begins at once" in shown.partition("<h2>Gates</h2>")[0]
