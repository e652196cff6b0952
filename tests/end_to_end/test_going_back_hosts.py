"""What real hosts go back to while a backend hangs, answers late, is looked up slowly, or is gone."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import fleet_host, rolling_hosts
from tests.support.fleet_host import Host, until
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.rolling_hosts import Hosts
from tests.support.sink import Sink, sink, slow_names

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]
NAME_SERVER, NAME = "127.0.0.153", "slow.example"
WAYS = ["hangs", "late", "slow names", "gone"]


@dataclass
class World:
    """A group of one host with telemetry, whose versions send to a backend as it should not be."""

    group: Hosts
    sink: Sink

    @property
    def host(self) -> Host:
        return self.group.hosts[self.group.canary]

    def address(self, way: str) -> str:
        port = self.sink.address.rpartition(":")[2]
        return {
            "hangs": self.sink.hangs,
            "late": self.sink.late,
            "slow names": f"http://{NAME}:{port}/good",
            "gone": f"http://127.0.0.1:{free_port()}",
        }[way]

    def good(self, step: str) -> int:
        """A version that is assigned, runs, and has proved good."""
        n = self.group.publish(step)
        self.group.assign(n, step)
        self.group.all_run(n)
        self.host.proves(n)
        return n

    def ill(self, way: str) -> int:
        """A version for such a backend, assigned and applied, with records that wait for the backend."""
        n = self.group.publish(way, backend=self.address(way))
        self.group.assign(n, way)
        self.group.all_run(n)
        sender = next(iter(self.group.senders.values()))
        sent = len(sender.sent)
        until(lambda: len(sender.sent) > sent + 20, self.group.log)
        return n


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("hosts")
    service = LocalService(tmp_path_factory.mktemp("service") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    with ExitStack() as stack:
        service.start()
        stack.callback(service.stop)
        under = ""
        if os.geteuid() == 0:
            stack.enter_context(slow_names(NAME_SERVER, NAME))
            resolver = folder / "resolv.conf"
            resolver.write_text(f"nameserver {NAME_SERVER}\noptions timeout:15 attempts:1\n")
            # The host alone has this name server.
            under = f"unshare --mount /bin/sh -c 'mount --bind {resolver} /etc/resolv.conf && exec /bin/sh -c \"$0\"'"
        group = stack.enter_context(
            rolling_hosts.hosts(
                folder, service.client(), number=1, a_second=20, under=under, HEADGATE_STOP_TIMEOUT="2s"
            )
        )
        yield World(group, stack.enter_context(sink()))


def needs_root(way: str) -> None:
    if way == "slow names" and os.geteuid() != 0:
        pytest.skip("giving a host another name server needs root")


@pytest.mark.parametrize("way", WAYS)
def test_the_next_good_version_runs_in_place_of_one_whose_backend_is_ill(world: World, way: str) -> None:
    needs_root(way)
    world.good("before")
    world.ill(way)
    world.good("after")
    world.group.flow()


@pytest.mark.parametrize("way", WAYS)
def test_a_version_that_ends_gives_way_to_the_last_one_that_passed_its_data_on(world: World, way: str) -> None:
    needs_root(way)
    good = world.good("good")
    bad = world.ill(way)
    with fleet_host.taken_port() as taken:
        ends = world.group.publish("ends", grpc=f"127.0.0.1:{taken}")
        world.group.assign(ends, "ends")
        world.host.wait_for("apply_failed", ends)

        def runs() -> bool:
            running = world.host.instance()["running"]["version_number"]
            return running in ((bad, good) if way in ("late", "slow names") else (good,))

        # What answers late passes data on, and has run healthily.
        until(runs, world.group.log)


@pytest.mark.parametrize("way", WAYS)
def test_an_aborted_rollout_leaves_the_host_with_what_it_ran_before(world: World, way: str) -> None:
    needs_root(way)
    good = world.good("good")
    bad = world.group.publish(way, backend=world.address(way))
    rollout = world.group.start(bad, way, 600, 1)
    world.group.until(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))
    path = f"{world.group.group}/rollouts/{rollout}"
    if world.group.rollout(rollout)["status"] == "in_progress":
        assert world.group.api.post(f"{path}/abort").is_success
    ended = world.group.until(rollout, lambda shown: shown["status"] in ("aborted", "rolled_back"))
    assert ended["status"] in ("aborted", "rolled_back")
    world.group.all_run(good)
    world.group.flow()


def test_the_good_version_is_known_however_many_have_failed_since(world: World) -> None:
    good = world.good("good")
    with fleet_host.taken_port() as taken:
        for place in range(8):
            ends = world.group.publish(f"ends {place}", grpc=f"127.0.0.1:{taken}")
            world.group.assign(ends, "ends")
            world.host.wait_for("apply_failed", ends)
        until(lambda: world.host.instance()["running"]["version_number"] == good, world.group.log)
    world.group.flow()


def test_a_fresh_host_goes_back_to_what_ran_on_the_groups_other_host(world: World, tmp_path: Path) -> None:
    good = world.good("good")
    with fleet_host.taken_port() as taken, ExitStack() as stack:
        ends = world.group.publish("ends", grpc=f"127.0.0.1:{taken}")
        world.group.assign(ends, "ends")
        world.host.wait_for("apply_failed", ends)
        ports = {"OTLP_PORT": str(free_port()), "METRICS_PORT": str(free_port())}
        fresh = stack.enter_context(
            fleet_host.host(
                tmp_path, world.group.api, "web", fleet_id=world.group.fleet_id, options={"name": "fresh"}, **ports
            )
        )
        fresh.install()

        def runs() -> bool:
            one = world.group.instances().get("fresh")
            return one is not None and (one["state"], one["running"]["version_number"]) == ("apply_failed", good)

        until(runs, fresh.log)
