"""The install script in its other ways: refusals, upgrades, compressed programs, a service. All of it is real."""

import gzip
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest

from headgate.deployments.install_releases import MANIFEST, PREFIX, Artifact, Release
from headgate_local.connection import of_service
from tests import fleet_host
from tests.end_to_end.local_service import LocalService
from tests.fleet_host import Host

pytestmark = pytest.mark.end_to_end

MACHINE = "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"
OTHER = "amd64" if MACHINE == "arm64" else "arm64"
SHELLS = [one for one in ("dash", "bash --posix", "busybox sh") if shutil.which(one.split()[0])]

# What stands in for systemd, which is no part of a container: it starts what the unit says, as a process.
SYSTEMCTL = """\
#!/bin/sh
echo "systemctl $*" >>"{folder}/calls"
case $1 in
  restart | start)
    [ "$1" = start ] && [ -f "{folder}/pid" ] && kill -0 "$(cat "{folder}/pid")" && exit 0
    [ -f "{folder}/pid" ] && kill "$(cat "{folder}/pid")" && sleep 2
    command=$(sed -n 's/^ExecStart=//p' "{folder}/headgate-supervisor.service")
    sh -c "exec $command" </dev/null >"{folder}/journal" 2>&1 &
    echo $! >"{folder}/pid"
    ;;
  disable) kill "$(cat "{folder}/pid")" && rm "{folder}/pid" ;;
esac
"""


@pytest.fixture(scope="module")
def installs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    started = LocalService(tmp_path_factory.mktemp("installs") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    started.start()
    yield started
    started.stop()


@pytest.fixture
def host(installs: LocalService, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Host]:
    """A host that is not installed yet."""
    with fleet_host.host(tmp_path, installs.client(), request.node.name) as one:
        yield one


def refused(command: str, **environment: str) -> str:
    """What the line says as it fails."""
    variables = {**os.environ, **environment}
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, env=variables, timeout=120
    )
    assert done.returncode != 0, done.stdout
    return done.stderr


@contextmanager
def released(service: LocalService, change: Callable[[dict[str, Artifact]], None]) -> Iterator[None]:
    """The release of a running service, changed for a while."""
    environment = of_service(service.data)
    s3 = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_DEFAULT_REGION"],
    )
    at = {"Bucket": environment["HEADGATE_BUCKET"], "Key": PREFIX + MANIFEST}
    before = s3.get_object(**at)["Body"].read()
    found = Release.decode(before)
    artifacts = dict(found.artifacts)
    change(artifacts)
    if artifacts:
        s3.put_object(**at, Body=Release(found.collector_version, found.supervisor_version, artifacts).encode())
    else:
        s3.delete_object(**at)
    try:
        yield
    finally:
        s3.put_object(**at, Body=before)


def test_a_program_that_is_not_what_was_published_changes_nothing(host: Host, installs: LocalService) -> None:
    def forge(artifacts: dict[str, Artifact]) -> None:
        name = f"supervisor-{MACHINE}"
        artifacts[name] = Artifact(artifacts[name].key, "0" * 64, compressed=False)

    with released(installs, forge):
        assert f"supervisor-{MACHINE} is not what was published" in refused(host.command)
    assert list((host.root / "bin").iterdir()) == []


def test_without_a_release_the_line_fails(host: Host, installs: LocalService) -> None:
    with released(installs, dict.clear):
        assert "returned error: 503" in refused(host.command.replace("| sh", "| (sh", 1) + "; exit 1)")
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
        (("--no-systemd", "--no-systemd --token ''"), "are needed"),
        (("--no-systemd", "--systemd"), "systemd does not run here"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(host: Host, change: tuple[str, str], said: str) -> None:
    command = host.command.replace("--arch amd64", f"--arch {MACHINE}").replace(*change)

    assert said in refused(command, SYSTEMD_RUNNING="/nonexistent")
    assert not host.root.exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_reads_the_script_whole_or_not_at_all(host: Host, tmp_path: Path, shell: str) -> None:
    url = host.command.split("'")[1]
    script = subprocess.run(["curl", "-fsSL", url], capture_output=True, check=True).stdout
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

    assert b"Removed" not in half.stdout
    assert whole.stdout == f"Removed from {tmp_path}/x.\n".encode(), whole.stderr


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


def test_a_service_is_set_up_by_its_unit_and_removed_with_it(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {
        "systemctl": SYSTEMCTL.format(folder=tmp_path),
        # Whoever runs the tests is root to the script, and has no such account.
        "sudo": '#!/bin/sh\nexec "$@"\n',
        "id": '#!/bin/sh\n[ "$1" = -u ] && echo 0\n',
        "useradd": f'#!/bin/sh\necho "useradd $*" >>"{tmp_path}/calls"\n',
        "chown": f'#!/bin/sh\necho "chown $*" >>"{tmp_path}/calls"\n',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("SYSTEMD_UNITS", str(tmp_path))
    monkeypatch.setenv("SYSTEMD_RUNNING", str(tmp_path))
    root = tmp_path / "plain"
    host.command = host.command.replace("--no-systemd", "--systemd").replace(f"'{host.root}'", str(root))
    host.root = root

    host.install()
    unit = (tmp_path / "headgate-supervisor.service").read_text()
    host.wait_for("applied", None)
    said = (tmp_path / "calls").read_text()
    assert f'ExecStart="{root}/bin/headgate-supervisor" --environment "{root}/etc/environment"' in unit
    assert "User=headgate-supervisor\n" in unit
    assert "NoNewPrivileges=yes\n" in unit
    assert f"chown -R headgate-supervisor {root}/etc {root}/var" in said
    assert "systemctl enable --quiet headgate-supervisor" in said
    host.install()
    assert (tmp_path / "calls").read_text().removeprefix(said).splitlines()[-1] == "systemctl start headgate-supervisor"
    another = host.command.replace(str(root), f"{root}-2")
    assert f"the service runs from {root} already" in refused(another)

    assert host.uninstall() == f"Removed from {root}.\n"
    assert not (tmp_path / "headgate-supervisor.service").exists()
    assert not root.exists()
