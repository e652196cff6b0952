"""A host from its install line to its end: the real supervisor and the real collector, under the running service."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import boto3
import pytest

from headgate.foundation.settings import settings
from headgate_local.connection import of_service
from tests.support import fleet_host
from tests.support.fleet_host import Host, until
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.sizes import either

HEARTBEAT = {"HEADGATE_FLEET_HEARTBEAT_SECONDS": "1"}


@pytest.fixture(scope="module")
def fleet_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    started = LocalService(tmp_path_factory.mktemp("fleets") / "data", **HEARTBEAT)
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def host(fleet_service: LocalService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One host for all tests; each assigns what it needs."""
    env = {"GREETING": 'it\'s $HOME "here"\n\\ %s', "HEADGATE_FLEET_TOKEN": "not the token"}
    with fleet_host.host(tmp_path_factory.mktemp("host"), fleet_service.client(), "host", **env) as one:
        one.install()
        yield one


def processes_of(host: Host) -> list[str]:
    """The programs that run from the host's root."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            program = str((process / "exe").readlink())
        except OSError:
            continue
        if program.startswith(f"{host.root}/bin/"):
            found.append(Path(program).name)
    return sorted(found)


def pids_of(host: Host, name: str) -> list[int]:
    """The processes of that program from the host's root."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = str((process / "exe").readlink())
        except OSError:
            continue
        if program == f"{host.root}/bin/{name}":
            found.append(int(process.name))
    return sorted(found)


def runs_another(host: Host, collector: int) -> bool:
    """Whether a collector runs, and it is not that process."""
    return pids_of(host, "otelcol-contrib") not in ([], [collector])


def test_an_installed_host_appears_and_waits_for_an_assignment(host: Host) -> None:
    one = host.instance()

    assert (one["deployment_id"], one["os"], one["collector_version"]) == (
        host.deployment_id,
        "linux",
        settings().collector_version,
    )
    assert one["arch"] in ("amd64", "arm64")
    assert one["host_name"]
    for secret in ("token", "environment"):
        assert (host.root / "etc" / secret).stat().st_mode & 0o777 == 0o600


def test_telemetry_flows_through_each_version_in_turn(host: Host) -> None:
    first = host.apply(host.flowing("first"))
    assert host.flows_as("first")
    second = host.apply(host.flowing("second"))

    assert host.flows_as("second")
    one = host.instance()
    assert one["running"] == {"configuration_id": host.configuration_id, "version_number": second}
    assert (second, one["state_message"]) == (first + 1, None)
    parts = {"/".join(part["path"]) for part in host.told()["health"]["parts"] if part["healthy"]}
    assert {"pipeline:logs/receiver:otlp", "pipeline:logs/exporter:file"} <= parts


def test_a_variable_arrives_as_it_was_given(host: Host) -> None:
    host.apply(host.flowing("${env:GREETING}"))

    assert host.sends()
    until(lambda: "it's $HOME" in host.output.read_text(), host.log)
    record = json.loads(host.output.read_text().splitlines()[-1])
    (attribute,) = record["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"]
    assert attribute["value"]["stringValue"].startswith("it's $HOME")


def test_a_version_that_cannot_start_fails_with_its_cause_and_the_old_one_runs_again(host: Host) -> None:
    good = host.apply(host.flowing("good"))
    host.proves(good)
    with fleet_host.taken_port() as taken:
        bad = host.publish(host.flowing("bad", port=taken))
        assert host.assign(bad)["warnings"] == []
        one = host.wait_for("apply_failed", bad)

        assert f"127.0.0.1:{taken}: bind: address already in use" in one["state_message"]
        until(host.sends, host.log)
        assert host.flows_as("good")
        assert host.instance()["running"]["version_number"] == good
        # It is not tried again by itself.
        assert host.instance()["state"] == "apply_failed"
    host.assign(bad)
    host.wait_for("applied", bad)
    host.apply(host.flowing("recovered"))
    assert host.flows_as("recovered")


def test_a_broken_version_is_refused_on_the_host_while_the_old_one_runs_on(host: Host) -> None:
    host.apply(host.flowing("good"))
    broken = host.publish(host.flowing("broken").replace("processors: [attributes]", "processors: [nothing]"))
    warnings = host.assign(broken)["warnings"]

    assert warnings[0]["severity"] == "error"
    said = host.wait_for("apply_failed", broken)["state_message"]
    assert said == 'service::pipelines::logs: references processor "nothing" which is not configured'
    assert host.flows_as("good")


WITHOUT = [
    "",
    "service:\n",
    "service: {pipelines: }\n",
    "service: {pipelines: {}}\n",
    "service: {pipelines: {<<: [{}, {}]}}\n",
    "service::pipelines: {}\n",
    "service: {pipelines: '${env:NOWHERE_SET:-null}'}\n",
]


@pytest.mark.sized
def test_a_version_without_pipelines_fails_while_the_old_one_runs_on(host: Host, subtests: pytest.Subtests) -> None:
    n = host.apply(host.flowing("good"))
    whole = host.flowing("none")
    # On each change one without the key, one with no pipeline in it, and one whose value is a variable's.
    for service in either(WITHOUT[::3], WITHOUT):
        with subtests.test(service):
            none = host.publish(whole[: whole.index("service:")] + service)
            host.assign(none)

            said = host.wait_for("apply_failed", none)
            assert said["state_message"] == "service::pipelines: service must have at least one pipeline"
            assert said["running"]["version_number"] == n
            assert host.flows_as("good")


def test_the_supervisor_refuses_what_its_collector_would_run_without_pipelines(host: Host, tmp_path: Path) -> None:
    without = tmp_path / "without.yaml"
    without.write_text("receivers: {nop: }\nexporters: {nop: }\nservice: {telemetry: {metrics: {level: none}}}\n")
    # As the official supervisor asks, which allows it.
    question = ["validate", "--config", without, "--feature-gates=service.AllowNoPipelines"]
    collector, program = (host.root / "bin" / name for name in ("otelcol-contrib", "headgate-supervisor"))
    alone, guarded = (
        subprocess.run([one, *question], capture_output=True, text=True, check=False, timeout=120, env=environment)
        for one, environment in ((collector, {}), (program, {"HEADGATE_GUARDED_COLLECTOR": str(collector)}))
    )

    assert alone.returncode == 0, alone.stderr
    assert guarded.returncode == 1
    assert guarded.stderr.startswith("Error: service::pipelines: service must have at least one pipeline\n")


def test_a_version_that_only_the_old_one_would_complete_is_refused(host: Host) -> None:
    """The official supervisor validates a new configuration merged into the old one, which would let this pass."""
    host.apply(host.flowing("good"))
    whole = host.flowing("half")
    half = host.publish(whole[: whole.index("exporters:")] + whole[whole.index("service:") :])
    host.assign(half)

    said = host.wait_for("apply_failed", half)["state_message"]
    # Before it was ever started, so that the old one never stopped.
    assert "exited" not in said
    assert said == "no exporter configuration specified in config"
    assert host.flows_as("good")


def test_clearing_the_assignment_stops_the_collector(host: Host) -> None:
    host.apply(host.flowing("good"))
    host.assign(None)
    host.wait_for("idle", None)

    until(lambda: not host.sends(), host.log)
    # The supervisor says so with its next message.
    until(lambda: host.instance()["running"] == {"configuration_id": None, "version_number": None}, host.log)


def test_a_host_tells_what_its_collector_sends_and_what_was_changed_on_it(host: Host) -> None:
    metrics = f"{{pull: {{exporter: {{prometheus: {{host: 127.0.0.1, port: {free_port()}}}}}}}}}"
    text = host.flowing("counted").replace("metrics: {level: none}", f"metrics: {{readers: [{metrics}]}}")
    host.apply(text)
    assert host.flows_as("counted")

    effective = host.root / "var" / "effective.yaml"
    before = effective.read_text()
    changed = before.replace("step", "other")

    # Counters are written with other news.
    def told() -> bool:
        host.sends()
        effective.write_text(before if effective.read_text() == changed else changed)
        counters = host.instance()["counters"]
        return bool(counters and counters["sent"] and counters["exporters"].get("file"))

    until(told, host.log)
    effective.write_text(changed)
    until(lambda: host.instance()["drifted"] == ["processors"], host.log)
    effective.write_text(before)
    until(lambda: host.instance()["drifted"] == [], host.log)


@pytest.mark.full
def test_a_collector_that_ends_again_and_again_goes_back_to_the_version_before(host: Host) -> None:
    good = host.apply(host.flowing("lives"))
    host.proves(good)
    bad = host.apply(host.flowing("dies"))
    for _ in range(3):
        (collector,) = pids_of(host, "otelcol-contrib")
        os.kill(collector, signal.SIGKILL)
        until(partial(runs_another, host, collector), host.log)
    one = host.wait_for("apply_failed", bad)

    assert "ended 3 times in the 10 minutes after this configuration was applied" in one["state_message"]
    until(lambda: host.instance()["running"]["version_number"] == good, host.log)
    until(lambda: host.flows_as("lives"), host.log)
    host.order("retry")
    host.wait_for("applied", bad)
    assert host.flows_as("dies")


def test_a_restart_that_was_ordered_starts_another_collector_under_the_same_supervisor(host: Host) -> None:
    n = host.apply(host.flowing("restarted"))
    (collector,), supervisor = pids_of(host, "otelcol-contrib"), host.pid
    host.order("restart")

    until(partial(runs_another, host, collector), host.log)
    until(lambda: host.told()["orders"] == [], host.log)
    assert host.pid == supervisor
    assert host.wait_for("applied", n)["exits"] == 0
    assert host.flows_as("restarted")


def test_a_restart_of_the_host_brings_back_what_ran(host: Host) -> None:
    n = host.apply(host.flowing("lasting"))
    identity, before = host.instance()["id"], len(host.log())
    os.kill(host.pid, signal.SIGTERM)
    # It stops its collector before it ends itself.
    until(lambda: processes_of(host) == [], lambda: str(processes_of(host)))
    stopped = host.instance()
    assert (stopped["state"], stopped["state_message"]) == ("stopped", "The supervisor was shut down")
    assert stopped["running"]["version_number"] is None
    assert "cannot be reached" not in host.log()[before:]
    host.install()

    until(host.sends, host.log)
    assert host.flows_as("lasting")
    assert host.wait_for("applied", n)["id"] == identity


def test_a_supervisor_that_is_killed_leaves_no_collector_behind_and_is_started_again(host: Host) -> None:
    host.apply(host.flowing("orphan"))
    killed, collectors = host.pid, pids_of(host, "otelcol-contrib")
    os.kill(killed, signal.SIGKILL)

    until(lambda: not {*collectors} & {*pids_of(host, "otelcol-contrib")}, lambda: str(processes_of(host)))
    until(lambda: host.pid != killed, host.log)
    until(host.sends, host.log)
    assert "the supervisor ended with code 137, and is started again" in host.log()


@pytest.mark.full
def test_a_supervisor_that_is_killed_while_it_applies_a_version_has_applied_it_once_it_is_back(host: Host) -> None:
    host.apply(host.flowing("before"))
    n, killed = host.publish(host.flowing("applied by another process")), host.pid
    host.assign(n)
    until(lambda: host.instance()["state"] == "applying", host.log)
    os.kill(killed, signal.SIGKILL)

    until(lambda: host.pid != killed, host.log)
    host.wait_for("applied", n)
    assert host.flows_as("applied by another process")


@pytest.mark.full
def test_installing_again_changes_nothing(host: Host) -> None:
    host.apply(host.flowing("steady"))
    pid = host.pid

    assert f"Up to date, and running as process {pid}." in host.install()
    assert host.pid == pid


@pytest.mark.full
def test_a_silent_host_is_stale_until_it_speaks_again_and_a_restart_of_the_service_goes_unnoticed(
    host: Host, fleet_service: LocalService
) -> None:
    n = host.apply(host.flowing("silent"))
    os.kill(host.pid, signal.SIGSTOP)
    fleet_service.stop()
    later = LocalService(
        fleet_service.data, **fleet_service.environment, HEADGATE_CLOCK_AHEAD_SECONDS=str(15 * 60 + 30)
    )
    later.start()
    try:
        host.api = later.client()
        assert host.instance()["state"] == "stale"
        counts = host.api.get(f"/fleets/{host.fleet_id}").json()["instances"]
        assert (counts["stale"], counts["applied"], counts["total"]) == (1, 0, 1)
        os.kill(host.pid, signal.SIGCONT)
        host.wait_for("applied", n)
    finally:
        os.kill(host.pid, signal.SIGCONT)
        later.stop()
        fleet_service.start()
        host.api = fleet_service.client()

    assert host.flows_as("silent")
    host.apply(host.flowing("after"))
    assert host.flows_as("after")


@pytest.mark.full
def test_a_deleted_token_lets_nobody_report_and_leaves_the_collector_running(
    fleet_service: LocalService, tmp_path: Path
) -> None:
    with fleet_host.host(tmp_path, fleet_service.client(), "forgotten") as one:
        one.install()
        one.apply(one.flowing("good"))
        delete_tokens_of(one.fleet_id, fleet_service.data)
        n = one.publish(one.flowing("never"))
        one.assign(n)

        until(lambda: "401 Unauthorized" in one.log(), one.log)
        assert one.flows_as("good")
        assert one.instance()["state"] == "pending_pickup"
        assert one.uninstall() == f"Removed from {one.root}.\n"
        assert not one.root.exists()
        assert processes_of(one) == []


def test_a_second_supervisor_does_not_share_the_first_ones_storage(host: Host) -> None:
    program, file = host.root / "bin" / "headgate-supervisor", host.root / "etc" / "environment"
    done = subprocess.run([program, "--environment", file], capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 1
    assert f"is in use by another supervisor, process {host.pid}" in done.stderr


def test_a_signal_ends_a_start_that_is_under_way(host: Host, tmp_path: Path) -> None:
    program, own = host.root / "bin" / "headgate-supervisor", tmp_path / "own"
    # As the collector, one that never tells anything of itself; the supervisor would wait for it for half a minute.
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\ncase $1 in featuregate|components) ;; *) exec sleep 600 ;; esac\n")
    silent.chmod(0o755)
    variables = {
        "HEADGATE_ENDPOINT": "http://127.0.0.1:9/v1/opamp",
        "HEADGATE_DEPLOYMENT_ID": host.deployment_id,
        "HEADGATE_FLEET_TOKEN": "any",
        "HEADGATE_COLLECTOR": str(silent),
        "HEADGATE_STORAGE": str(own),
        "HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{free_port()}",
        "PATH": os.environ["PATH"],
    }
    with subprocess.Popen([program], env=variables, stderr=subprocess.DEVNULL) as process:
        effective = own / "effective.yaml"
        until(lambda: effective.exists() and "sleep" in names_of(process.pid), lambda: str(names_of(process.pid)))
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=120) == 0


def names_of(parent: int) -> list[str]:
    """The programs of a process's children."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition(" (")[2].rpartition(") ")
        except OSError:
            continue
        if rest.split()[1] == str(parent):
            found.append(name)
    return found


def delete_tokens_of(fleet_id: str, data: Path) -> None:
    """As an operator would, in the table: the API has no way to delete a fleet's token."""
    environment = of_service(data)
    table = boto3.client(
        "dynamodb",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_DEFAULT_REGION"],
    )
    name = environment["HEADGATE_FLEETS_TABLE"]
    for item in table.scan(TableName=name)["Items"]:
        if item["pk"]["S"].startswith("token#") and item["fleet_id"]["S"] == fleet_id:
            table.delete_item(TableName=name, Key={"pk": item["pk"], "sk": item["sk"]})
