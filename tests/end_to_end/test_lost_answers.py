"""A host whose service stops answering, or whose collector does not stop, during a rollout: what runs there then."""

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support import rolling_hosts
from tests.support.fleet_host import until
from tests.support.installing import installs
from tests.support.local_service import LocalService
from tests.support.lossy_way import Way, way_to
from tests.support.rolling_hosts import Hosts

__all__ = ["installs"]
pytestmark = [pytest.mark.end_to_end, pytest.mark.full]
FIRST = {"secrets": {"PLACE": "/first-key"}}
# Two parts of the collector listen on one port, so that it starts and ends.
FAILS = ('127.0.0.1:${env:OTLP_PORT}"}', '127.0.0.1:${env:METRICS_PORT}"}')


@contextmanager
def a_host(folder: Path, service: LocalService) -> Iterator[tuple[Hosts, Way]]:
    """A host with a secret, and its way to the service."""
    api = service.client()
    port = urlsplit(str(api.base_url)).port or 0
    with way_to(port) as way:
        command = f'printf %s "$0" | sed "s/127.0.0.1:{port}/127.0.0.1:{way.port}/g" | /bin/sh'
        with rolling_hosts.hosts(
            folder,
            api,
            number=1,
            a_second=20,
            stored=FIRST,
            place="${env:PLACE}",
            apply_timeout="5s",
            under=f"/bin/sh -c {shlex.quote(command)}",
        ) as group:
            yield group, way


def place(group: Hosts) -> str | None:
    """The secret with which the collector's process was started; None if there is none now."""
    for pid in group.collectors("web-1"):
        try:
            content = Path(f"/proc/{pid}/environ").read_bytes().decode()
        except OSError:
            continue
        return dict(entry.split("=", 1) for entry in content.split("\0") if entry).get("PLACE")
    return None


def test_a_host_goes_back_by_itself_if_no_answer_comes_after_a_version_that_fails(
    installs: LocalService, tmp_path: Path
) -> None:
    with a_host(tmp_path, installs) as (group, way):
        n = group.publish("the-last-answer", backend=group.backend.good + "${env:PLACE}", instead=(FAILS,))
        revision = group.stores(secrets={"PLACE": "/second-key"})
        way.last = b"the-last-answer"

        # The service hears that the version failed, and its offer to go back is lost.
        rollout = group.start(n, "a version that cannot listen", 2, 2, variables=revision)
        until(lambda: way.swallows and place(group) != "/first-key", group.log)
        until(lambda: place(group) == "/first-key", group.log)
        group.flow()
        assert way.swallows
        way.last, way.swallows = b"", False

        ended = group.ends(rollout)
        assert ended["status"] == "rolled_back", ended
        group.all_run(1)
        assert place(group) == "/first-key"


def test_a_collector_that_does_not_stop_is_killed_for_a_changed_secret_and_again_to_take_it_back(
    installs: LocalService, tmp_path: Path
) -> None:
    with a_host(tmp_path, installs) as (group, _):
        for value, soak, status in (("/second-key", 2, "completed"), ("/wrong", 40, "rolled_back")):
            (pid,) = group.collectors("web-1")
            revision = group.stores(secrets={"PLACE": value})
            os.kill(pid, signal.SIGSTOP)
            ended = group.ends(group.start(1, "another key", soak, 2, variables=revision), 240)

            assert (ended["status"], place(group)) == (status, "/second-key"), ended
            assert not Path(f"/proc/{pid}").exists()
            group.flow()
