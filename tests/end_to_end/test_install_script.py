"""The install script in its other ways: refusals, upgrades, compressed programs, a service. All of it is real."""

import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import psutil
import pytest

from headgate.installs.releases import Artifact
from tests.support import fleet_host
from tests.support.admin import Admin
from tests.support.fleet_host import Host
from tests.support.installing import host, installs, refused, released
from tests.support.local_service import LocalService
from tests.support.service import ROOT
from tests.support.sizes import turn

__all__ = ["host", "installs"]

pytestmark = pytest.mark.end_to_end

MACHINE = "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"
OTHER = "amd64" if MACHINE == "arm64" else "arm64"
SHELLS = [one for one in ("dash", "bash --posix", "busybox sh") if shutil.which(one.split()[0])]


def script_of(host: Host) -> bytes:
    """What the line fetches."""
    (url,) = [word for word in shlex.split(host.command) if word.startswith("http") and "signature=" in word]
    return httpx.get(url).raise_for_status().content


def test_a_program_that_is_not_what_was_published_changes_nothing(host: Host, installs: LocalService) -> None:
    def forge(artifacts: dict[str, Artifact]) -> None:
        name = f"supervisor-{MACHINE}"
        artifacts[name] = Artifact(artifacts[name].key, "0" * 64, compressed=False)

    with released(installs, forge):
        assert f"supervisor-{MACHINE} is not what was published" in refused(host.command)
    assert list((host.root / "bin").iterdir()) == []


def test_without_a_release_the_line_fails(host: Host, installs: LocalService) -> None:
    with released(installs, dict.clear):
        assert "returned error: 503" in refused(host.command)
    assert not host.root.exists()


def test_a_program_that_is_not_published_is_named(host: Host, installs: LocalService) -> None:
    def lose(artifacts: dict[str, Artifact]) -> None:
        del artifacts[f"collector-{MACHINE}"]

    with released(installs, lose):
        assert f"this server has no collector-{MACHINE} to install" in refused(host.command)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((f"--arch {MACHINE}", f"--arch {OTHER}"), f"this host is {MACHINE}"),
        (("--no-systemd", "--no-systemd --loud"), "unknown option --loud"),
        (("--no-systemd", "--no-systemd --env 1A=x"), "--env takes NAME=VALUE"),
        (("--no-systemd", "--no-systemd --root /"), "--root has to be an absolute path"),
        (("--no-systemd", "--no-systemd --root relative"), "--root has to be an absolute path"),
        (("--token ft_", '--token "" --env X=ft_'), "are needed"),
        (("--no-systemd", "--systemd"), "systemd does not run here"),
        (
            ("--no-systemd", "--no-systemd --endpoint http://127.0.0.1:9/"),
            "http://127.0.0.1:9/ does not answer",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(host: Host, change: tuple[str, str], said: str) -> None:
    command = host.command.replace("--arch amd64", f"--arch {MACHINE}").replace(*change)

    assert said in refused(command, SYSTEMD_RUNNING="/nonexistent")
    assert not host.root.exists()


def test_its_help_names_every_option() -> None:
    script = ROOT / "shared" / "headgate" / "installs" / "linux.sh"
    done = subprocess.run(["/bin/sh", str(script), "--help"], capture_output=True, text=True, check=True)
    taken = re.findall(r"^ +(?:-h \| )?(--[a-z-]+)\)", script.read_text(), re.MULTILINE)

    assert len(taken) > 10
    assert {option for option in taken if option not in done.stdout} == {"--help"}


@pytest.mark.full
def test_a_supervisor_that_does_not_start_says_why(host: Host) -> None:
    said = refused(host.command.replace("--no-systemd", "--no-systemd --env HEADGATE_STOP_TIMEOUT=never"))

    assert 'did not become ready: headgate-supervisor: HEADGATE_STOP_TIMEOUT is "never", but must be a duration' in said
    host.uninstall()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_reads_the_script_whole_or_not_at_all(host: Host, tmp_path: Path, shell: str) -> None:
    script = script_of(host)
    half = subprocess.run(
        [*shell.split(), "-s", "--", "--root", str(tmp_path / "x"), "--uninstall"],
        input=script[: len(script) * 9 // 10],
        capture_output=True,
        check=False,
    )
    whole = subprocess.run(
        [*shell.split(), "-s", "--", "--root", str(tmp_path / "x"), "--uninstall"],
        input=script,
        capture_output=True,
        check=False,
    )

    assert half.stdout == b""
    assert whole.stdout == f"Nothing is installed in {tmp_path}/x.\n".encode(), whole.stderr


def stalled(folder: Path) -> dict[str, str]:
    """An environment whose curl gets half of a program, names its shell in a file, and waits for the test."""
    curl = folder / "bin" / "curl"
    curl.parent.mkdir()
    curl.write_text(
        "#!/bin/sh\n"
        f'case "$*" in */supervisor-*) ;; *) exec {shutil.which("curl")} "$@" ;; esac\n'
        'for word; do [ "${before:-}" = -o ] && printf half >"$word"; before=$word; done\n'
        f'echo $PPID >"{folder}/part" && mv "{folder}/part" "{folder}/shell"\n'
        f'until [ -e "{folder}/go on" ] || [ "${{tries:=0}}" -gt 1200 ]; do sleep 0.1; tries=$((tries + 1)); done\n'
        "exit 18\n"
    )
    curl.chmod(0o755)
    return {**os.environ, "PATH": f"{curl.parent}:{os.environ['PATH']}"}


@pytest.mark.sized
@pytest.mark.parametrize("shell", turn(SHELLS, 0))
def test_an_install_that_is_called_off_leaves_nothing_of_what_it_fetched(
    host: Host, tmp_path: Path, shell: str
) -> None:
    line = host.command.replace("| sh -s", f"| {shell} -s")
    with subprocess.Popen(["/bin/sh", "-c", line], env=stalled(tmp_path), stderr=subprocess.PIPE) as process:
        fleet_host.until(lambda: (tmp_path / "shell").exists(), lambda: "it never fetched")
        os.kill(int((tmp_path / "shell").read_text()), signal.SIGTERM)
        (tmp_path / "go on").touch()
        process.communicate(timeout=120)

    assert process.returncode == 128 + signal.SIGTERM
    assert sorted(one.name for one in host.root.iterdir()) == [".headgate-installed", "bin", "etc", "var"]
    assert list((host.root / "bin").iterdir()) == []


def test_a_second_run_stands_back_while_the_first_is_at_work(host: Host, tmp_path: Path) -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", host.command], env=stalled(tmp_path), stderr=subprocess.PIPE, text=True
    ) as first:
        fleet_host.until(lambda: (tmp_path / "shell").exists(), lambda: "it never fetched")
        said = refused(host.command)
        (tmp_path / "go on").touch()
        _, failed = first.communicate(timeout=120)

    assert f"another run of this script is at work in {host.root}" in said
    assert f"supervisor-{MACHINE} could not be fetched" in failed


@pytest.mark.full
def test_what_a_killed_run_left_is_cleared_away(host: Host) -> None:
    host.install()
    # Its supervisor does not hold on to the root.
    assert "Up to date" in host.install()
    left = host.root / ".installing-AAAAAA"
    left.mkdir()
    (left / "token").write_text("ft_")
    host.install()

    assert not left.exists()
    left.mkdir()
    host.uninstall()
    assert not host.root.exists()
    fleet_host.until(lambda: host.instance()["state"] == "stopped", lambda: str(host.instance()))
    assert host.instance()["state_message"] == "The supervisor was uninstalled"


def test_a_port_that_another_supervisor_answers_on_is_told_before_anything_is_made(host: Host) -> None:
    with fleet_host.taken_port() as taken:
        command = host.command.replace(f"127.0.0.1:{host.health_port}", f"127.0.0.1:{taken}")
        assert f"127.0.0.1:{taken} is in use already" in refused(command)
    assert not host.root.exists()


def test_the_token_is_among_the_words_of_no_process(host: Host, tmp_path: Path) -> None:
    token = json.loads(host.api.post(f"/fleets/{host.fleet_id}/install", json={"platform": "linux"}).text)
    words = tmp_path / "words"
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "sh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{words}"\nexec /bin/sh "$@"\n')
    (programs / "sh").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    line = host.command.replace("--no-systemd", "--no-systemd --loud")
    subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False, env=environment)

    assert host.deployment_id in words.read_text()
    assert token["connection"]["token"] in host.command
    assert token["connection"]["token"] not in words.read_text()


def storing(host: Host) -> str:
    """A configuration that needs a folder to write to."""
    storage = (
        "extensions:\n  file_storage: {directory: '${env:STORAGE_DIRECTORY:-/nonexistent}', create_directory: true}\n"
    )
    return storage + host.flowing("kept").replace("service:\n", "service:\n  extensions: [file_storage]\n")


@pytest.mark.full
def test_a_state_that_a_full_disk_emptied_costs_nothing_and_the_collector_is_asked_without_its_port(
    host: Host, tmp_path: Path
) -> None:
    """Every collector serves its metrics on port 8888 if it is not told otherwise; another one may be there already."""
    host.install()
    n = host.apply(storing(host))
    before = host.instance()["id"]
    assert (host.root / "var" / "storage").is_dir()
    real, runs = host.root / "bin" / "otelcol-contrib", tmp_path / "runs"
    moved = real.rename(real.with_name("real"))
    real.write_text(f'#!/bin/sh\necho "$*" >>"{runs}"\nexec "{moved}" "$@"\n')
    real.chmod(0o755)
    os.kill(host.pid, signal.SIGTERM)
    fleet_host.until(lambda: not psutil.pid_exists(host.pid), host.log)
    (host.root / "var" / "persistent_state.yaml").write_text("")
    host.install()

    assert host.wait_for("applied", n)["id"] == before
    fleet_host.until(host.sends, host.log)
    learned, *applied = [
        line for line in runs.read_text().splitlines() if "--config" in line and "validate" not in line
    ]
    assert learned.startswith("--set=service.telemetry.metrics.level=none --config ")
    assert applied
    assert "--set" not in str(applied)


def test_a_host_that_is_installed_again_takes_the_renewed_token(host: Host, installs: LocalService) -> None:
    host.install()
    # Nobody's own token for the API is left to the host's configurations.
    assert b"sv_of-a-person" not in Path(f"/proc/{host.pid}/environ").read_bytes()
    n = host.apply(host.flowing("renewed"))
    before = host.instance()["id"]
    admin = Admin(installs)
    answer = admin.http.post(f"/api/v1/app/fleets/{host.fleet_id}/token", json={"grace": "none"})
    assert answer.is_success, answer.text
    fleet_host.until(lambda: "401 Unauthorized" in host.log(), host.log)
    # It is cut off, and its collector goes on.
    assert host.flows_as("renewed")

    old = (host.root / "etc" / "token").read_text().strip()
    body = {"platform": "linux", "systemd": False, "root_deploy_path": str(host.root)}
    variables = {"HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{host.health_port}", "HEADGATE_APPLY_TIMEOUT": "3s"}
    made = host.api.post(f"/fleets/{host.fleet_id}/install", json={**body, "env": variables}).json()
    host.command = made["command"]
    host.install()

    assert (host.root / "etc" / "token").read_text().strip() == made["connection"]["token"] != old
    m = host.publish(host.flowing("after"))
    host.assign(m)
    assert host.wait_for("applied", m)["id"] == before
    assert (n, m) == (1, 2)
    assert host.flows_as("after")


def test_an_upgrade_replaces_the_program_and_keeps_the_instance(
    host: Host, installs: LocalService, tmp_path: Path
) -> None:
    host.install()
    n = host.apply(host.flowing("old"))
    before, pid = host.instance()["id"], host.pid
    built = host.root / "bin" / "headgate-supervisor"
    # The same program with a byte more behind its end, compressed as it is on AWS.
    packed = Path(os.environ["HEADGATE_COLLECTORS_DIR"]).parent / f"test-{os.getpid()}.gz"
    packed.write_bytes(gzip.compress(built.read_bytes() + b"\0", 1))

    def newer(artifacts: dict[str, Artifact]) -> None:
        sha256 = hashlib.sha256(packed.read_bytes()).hexdigest()
        artifacts[f"supervisor-{MACHINE}"] = Artifact(str(packed), sha256, compressed=True)

    try:
        with released(installs, newer):
            assert f"Fetching supervisor-{MACHINE}" in host.install()
    finally:
        packed.unlink()

    assert host.pid != pid
    assert (host.root / "bin" / "headgate-supervisor").read_bytes().endswith(b"\0")
    assert host.wait_for("applied", n)["id"] == before
    fleet_host.until(host.sends, host.log)
