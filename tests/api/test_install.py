"""Install commands: the rules of the specification, and what a real shell makes of them."""

import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from httpx2 import Response
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.deployments import store
from headgate.deployments.model import VolumeMount
from headgate.fleets import tokens
from headgate.foundation.settings import settings
from headgate.installs import commands
from headgate.installs.commands import FleetConnection
from headgate.installs.links import Link
from tests.support import configurations as cfg
from tests.support import helm
from tests.support.deployments import add
from tests.support.fleets import create
from tests.support.members import API, JoinWith, Member

ORIGIN = "https://fleet.example"
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
ENV = st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), ANY, max_size=3)


@pytest.fixture(autouse=True)
def _endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", ORIGIN)
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([*fleets_routers, configurations_router], "ann")


def install(member: Member, fleet_id: str, platform: str, **fields: object) -> Response:
    return member.http.post(f"{API}/fleets/{fleet_id}/install", json={"platform": platform, **fields})


def words(command: str) -> list[str]:
    """The words that a real shell makes of a command."""
    show = 'show() { for word in "$@"; do printf \'%s\\0\' "$word"; done; }\n'
    out = subprocess.run(["/bin/sh", "-c", show + "show " + command], capture_output=True, check=True)
    return out.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("platform", ["docker", "linux"])
def test_a_server_fleet_installs_into_its_default_group_with_its_token(ann: Member, platform: str) -> None:
    fleet_id = create(ann).json()["id"]
    answer = install(ann, fleet_id, platform).json()
    (default,) = ann.http.get(f"{API}/fleets/{fleet_id}/deployments").json()["items"]
    token = tokens.value_of(fleet_id, 1)

    assert answer["deployment_id"] == default["id"]
    assert answer["connection"] == {
        "endpoint": f"{ORIGIN}/v1/opamp",
        "fleet_id": fleet_id,
        "deployment_id": default["id"],
        "token": token,
    }
    assert token in answer["command"]
    assert token not in answer["install_url"]
    assert answer["values_url"] is None


def test_a_kubernetes_fleet_names_its_group_when_it_has_more_than_one(ann: Member, tmp_path: Path) -> None:
    fleet_id = create(ann, type="kubernetes-supervisor").json()["id"]
    configuration_id = cfg.create(ann)
    cfg.publish(ann, configuration_id)
    at = f"{API}/fleets/{fleet_id}/deployments"

    assert install(ann, fleet_id, "kubernetes").status_code == 422
    first = add(ann, at, configuration_id, "a", role="node").json()["id"]
    answer = install(ann, fleet_id, "kubernetes").json()
    assert (answer["deployment_id"], answer["connection"]["token"]) == (first, None)
    token = tokens.value_of(fleet_id, 1)
    given, seen = helm.line(answer["command"], tmp_path)
    assert answer["values_url"] in seen
    assert token not in str(seen)
    assert yaml.safe_load(given) == {"token": token}
    assert token not in str({**answer, "command": ""})
    add(ann, at, configuration_id, "b", role="cluster")
    assert install(ann, fleet_id, "kubernetes").status_code == 422
    assert install(ann, fleet_id, "kubernetes", deployment_id=first).status_code == 200


@pytest.mark.parametrize(
    ("platform", "fields"),
    [
        ("kubernetes", {}),
        ("linux", {"server_name": "a"}),
        ("docker", {"arch": "arm64"}),
        ("docker", {"root_deploy_path": "/opt"}),
        ("docker", {"systemd": False}),
        ("docker", {"server_name": "-a"}),
        ("docker", {"server_name": "a\n"}),
        ("docker", {"env": {"1A": "x"}}),
        ("docker", {"env": {"A\n": "x"}}),
        ("docker", {"env": {"A": "\0"}}),
        ("docker", {"env": {"A": 1}}),
        ("linux", {"arch": "riscv"}),
        ("linux", {"root_deploy_path": "opt"}),
        ("linux", {"root_deploy_path": "/opt/../etc"}),
        ("linux", {"root_deploy_path": "/"}),
        ("linux", {"root_deploy_path": "//"}),
        ("linux", {"root_deploy_path": "/."}),
        ("linux", {"root_deploy_path": "/.."}),
        ("linux", {"root_deploy_path": "/./opt"}),
        ("linux", {"root_deploy_path": "/opt/."}),
        ("linux", {"root_deploy_path": "/opt//headgate"}),
        ("linux", {"root_deploy_path": "/opt/headgate//"}),
        ("linux", {"root_deploy_path": "//opt"}),
        ("linux", {"root_deploy_path": "/etc"}),
        ("linux", {"root_deploy_path": "/etc/"}),
        ("linux", {"root_deploy_path": "/opt/a\nb"}),
        ("linux", {"systemd": "true"}),
        # Its group has no version, so that the collector would run nothing.
        ("linux", {"from_official": True}),
        ("linux", {"from_official": True, "systemd": False}),
        ("docker", {"from_official": True}),
        ("solaris", {}),
    ],
)
def test_what_does_not_fit_the_platform_is_422(ann: Member, platform: str, fields: dict[str, object]) -> None:
    assert install(ann, create(ann).json()["id"], platform, **fields).status_code == 422


@pytest.mark.parametrize("path", ["/opt/headgate", "/opt/headgate/", "/data", "/srv/..a/.b/c d/é"])
def test_a_root_may_be_any_folder_of_its_own(ann: Member, path: str) -> None:
    answer = install(ann, create(ann).json()["id"], "linux", root_deploy_path=path)

    assert (answer.status_code, f"--root {shlex.quote(path)} " in answer.json()["command"]) == (200, True)


def test_a_host_gets_its_name_and_labels_on_every_platform(ann: Member) -> None:
    given = {"name": "web 'one'", "labels": {"zone": "a", "app.kubernetes.io/name": "x=y"}}
    for platform in ("docker", "linux"):
        fleet_id = create(ann, platform).json()["id"]
        command = install(ann, fleet_id, platform, **given).json()["command"]
        said = " ".join(words(command)) if platform == "docker" else command
        assert "HEADGATE_LABELS=zone=a,app.kubernetes.io/name=x=y" in said
        assert "HEADGATE_NAME=web" in said


@pytest.mark.parametrize(("platform", "way_out"), [("docker", "--network host"), ("kubernetes", "the cluster reaches")])
def test_what_a_container_cannot_reach_is_told(
    ann: Member, monkeypatch: pytest.MonkeyPatch, platform: str, way_out: str
) -> None:
    kind = "kubernetes-supervisor" if platform == "kubernetes" else "server-supervisor"
    fleet_id = create(ann, type=kind).json()["id"]
    if platform == "kubernetes":
        made = cfg.create(ann)
        group = {"name": "nodes", "role": "node", "configuration_id": made, "version_number": 1}
        cfg.publish(ann, made)
        assert ann.http.post(f"{API}/fleets/{fleet_id}/deployments", json=group).status_code == 201
    assert way_out not in str(install(ann, fleet_id, platform).json()["notes"])
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "http://127.0.0.1:8300")
    settings.cache_clear()

    assert way_out in str(install(ann, fleet_id, platform).json()["notes"])


def test_a_host_runs_with_the_feature_gates_of_the_assigned_version(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    version = f"{API}/configurations/{configuration_id}/versions/1"
    assert ann.http.patch(version, json={"feature_gates": ["+service.profilesSupport", "-a.b"]}).status_code == 200
    assert cfg.publish(ann, configuration_id, 1).status_code == 200
    for platform in ("docker", "linux"):
        fleet_id = create(ann, platform).json()["id"]
        groups = f"{API}/fleets/{fleet_id}/deployments"
        group = f"{groups}/{ann.http.get(groups).json()['items'][0]['id']}"
        before = install(ann, fleet_id, platform).json()["command"]
        assigned = ann.http.patch(group, json={"configuration_id": configuration_id, "version_number": 1})
        answer = install(ann, fleet_id, platform).json()

        assert assigned.status_code == 200
        assert "FEATURE_GATES" not in before
        assert "HEADGATE_FEATURE_GATES=+service.profilesSupport,-a.b" in answer["command"]
        assert any("+service.profilesSupport, -a.b" in note for note in answer["notes"])
        if platform == "linux":
            takeover = install(ann, fleet_id, platform, from_official=True).json()
            assert "--systemd --from-official" in takeover["command"]
            assert any(note.startswith("What stays: the instance") for note in takeover["notes"])

        labels = {f"label-{n}": "" for n in range(64)}
        full = install(ann, fleet_id, platform, labels=labels).json()["errors"]
        assert full[0]["loc"] == ["body", "labels"]
        assert full[0]["message"].startswith("This may have 63 labels, since the host adds headgate.feature-gates")
        long = {f"label-{n}": "&" * 255 for n in range(3)}
        assert "have 4,694 bytes" in install(ann, fleet_id, platform, labels=long).json()["detail"]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"labels": {"": "a"}},
        {"labels": {"a b": "c"}},
        {"labels": {"a": "b,c=d"}},
        {"labels": {"a": "b\nc"}},
        {"labels": {f"k{i}": "v" for i in range(65)}},
    ],
)
def test_what_cannot_name_a_host_is_422(ann: Member, fields: dict[str, object]) -> None:
    answer = install(ann, create(ann).json()["id"], "linux", **fields)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][:2] == ["body", next(iter(fields))]


def test_a_group_of_another_fleet_is_404(ann: Member) -> None:
    one, two = (create(ann, label).json()["id"] for label in "ab")
    elsewhere = store.ids(two, 1).entries[0]

    refused = install(ann, one, "docker", deployment_id=elsewhere)
    assert (refused.status_code, refused.json()["detail"]) == (404, "deployment_id: No such deployment")
    assert install(ann, one, "docker", deployment_id="x").status_code == 404


def test_without_an_endpoint_there_is_no_command(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet_id = create(ann).json()["id"]
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "")
    settings.cache_clear()

    assert install(ann, fleet_id, "docker").status_code == 503


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/var/log", True),
        ("/a_b-c.d/..e", True),
        ("/", True),
        ("var", False),
        ("/a/../b", False),
        ("/..", False),
        ("/a b", False),
        ("/a:ro", False),
        ("/é", False),
        ("/a\n", False),
        ("", False),
        ("/$(x)", False),
    ],
)
def test_an_unsafe_mount_is_left_out_without_an_error(path: str, kept: bool) -> None:
    connection = FleetConnection("e", "f", "d", "t")
    for mount in (VolumeMount(path, "/ok"), VolumeMount("/ok", path)):
        command = commands.docker(
            connection, image="headgate-supervisor:1", server_name=None, mounts=[mount, VolumeMount("/x", "/y")], env={}
        )
        mounted = [value for flag, value in zip(words(command), words(command)[1:], strict=False) if flag == "--volume"]
        assert mounted == ([f"{mount.host_path}:{mount.mount_path}"] if kept else []) + ["/x:/y"]


@limits(max_examples=60)
@given(ANY, ANY, ANY, ANY, ANY, ENV, st.lists(st.builds(VolumeMount, ANY, ANY), max_size=3))
def test_a_shell_reads_every_docker_word_as_it_was_meant(
    endpoint: str, deployment_id: str, token: str, name: str, image: str, env: dict[str, str], mounts: list[VolumeMount]
) -> None:
    safe = VolumeMount("/var/log", "/logs")
    command = commands.docker(
        FleetConnection(endpoint, "f", deployment_id, token),
        image=image,
        server_name=name or "n",
        mounts=[*mounts, safe],
        env=env,
    )
    expected = ["docker", "run", "--detach", "--init", "--restart", "unless-stopped", "--name", name or "n"]
    expected += ["--hostname", name or "n", "--stop-timeout", "30"]
    for mount in [*filter(commands.mountable, mounts), safe]:
        expected += ["--volume", f"{mount.host_path}:{mount.mount_path}"]
    expected += ["--mount", f"type=volume,source=headgate-{name or 'n'},target=/home/nonroot"]
    connection = {
        "HEADGATE_ENDPOINT": endpoint,
        "HEADGATE_DEPLOYMENT_ID": deployment_id,
        "HEADGATE_FLEET_TOKEN": token,
    }
    for variable, value in {**env, **connection}.items():
        expected += ["--env", f"{variable}={value}"]

    assert words(command) == [*expected, image]


def test_a_container_is_named_after_its_group_unless_it_is_given_a_name(ann: Member) -> None:
    fleet_id = create(ann).json()["id"]
    answer = install(ann, fleet_id, "docker").json()
    named = words(install(ann, fleet_id, "docker", server_name="web-1").json()["command"])

    assert words(answer["command"])[7] == f"headgate-{answer['deployment_id']}"
    assert "--hostname" not in words(answer["command"])
    assert named[6:10] == ["--name", "web-1", "--hostname", "web-1"]
    assert named[-1] == f"headgate-supervisor:{settings().collector_version}"
    assert f"docker rm headgate-{answer['deployment_id']}" in str(answer["notes"])


@pytest.mark.parametrize("path", ["/home/nonroot", "/home/nonroot/"])
def test_a_groups_own_mount_of_the_storage_takes_the_place_of_the_volume(path: str) -> None:
    def mounts(mount: VolumeMount) -> list[str]:
        given = commands.docker(
            FleetConnection("e", "f", "dep_1", "t"), image="i", server_name=None, mounts=[mount], env={}
        )
        return [word for word in words(given) if "/home/nonroot" in word]

    # Docker refuses two mounts at one place.
    assert mounts(VolumeMount("/srv/state", path)) == [f"/srv/state:{path}"]
    elsewhere = mounts(VolumeMount("/srv/state", f"{path}x"))
    assert "type=volume,source=headgate-dep_1,target=/home/nonroot" in elsewhere


def test_the_image_is_the_operators_choice(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet_id = create(ann).json()["id"]
    monkeypatch.setenv("HEADGATE_SUPERVISOR_IMAGE", "registry.example:5000/team/supervisor:7")
    settings.cache_clear()

    assert words(install(ann, fleet_id, "docker").json()["command"])[-1] == "registry.example:5000/team/supervisor:7"


@limits(max_examples=60)
@given(ANY, ANY, ANY, ANY, ANY, ENV, st.sampled_from(["amd64", "arm64"]), st.booleans())
def test_a_shell_reads_every_linux_word_as_it_was_meant(
    tmp_path_factory: pytest.TempPathFactory,
    endpoint: str,
    deployment_id: str,
    url: str,
    token: str,
    root: str,
    env: dict[str, str],
    arch: Literal["amd64", "arm64"],
    systemd: bool,
) -> None:
    command = commands.linux(
        FleetConnection(endpoint, "f", deployment_id, token),
        script_url=url,
        arch=arch,
        root_deploy_path=root,
        systemd=systemd,
        env=env,
    )
    # What the URL serves is a script that tells its words; and `sh` tells those that every user can see.
    tell = 'for word in "$@"; do printf \'%s\\0\' "$word"; done\n'
    folder = tmp_path_factory.mktemp("line")
    (folder / "served").write_text(tell)
    script = f'cd "$0"\ncurl() {{\n{{ {tell} }} >fetched; cat served; }}\n'
    script += f'sh() {{\n{{ {tell} }} >seen; command sh "$@"; }}\n'
    script += 'sudo() { "$@"; }\n'
    out = subprocess.run(["/bin/sh", "-c", script + command, folder], capture_output=True, check=True)
    told = [(folder / "fetched").read_bytes(), (folder / "seen").read_bytes(), out.stdout]
    fetched, seen, got = (text.decode().split("\0")[:-1] for text in told)
    visible = ["--endpoint", endpoint, "--deployment-id", deployment_id, "--arch", arch, "--root", root]
    visible += ["--systemd" if systemd else "--no-systemd"]
    secret = ["--token", token]
    for variable, value in env.items():
        secret += ["--env", f"{variable}={value}"]

    assert fetched == ["-fsSL", url]
    assert seen == ["-s", "--", *visible]
    assert got == [*visible, *secret]
    assert (" | sudo sh -s " in command) or not systemd


def test_a_line_whose_link_does_not_answer_fails() -> None:
    command = commands.linux(
        FleetConnection("e", "f", "d", "t"), script_url="u", arch="amd64", root_deploy_path="/r", systemd=False, env={}
    )
    for curl in ("return 22", "printf 'main() {\\n  echo half'; return 18"):
        done = subprocess.run(["/bin/sh", "-c", f"curl() {{ {curl}; }}\n{command}"], capture_output=True, check=False)

        assert done.returncode != 0
        assert done.stdout == b""


@limits(max_examples=60)
@given(ANY, ANY, ANY, ANY, ENV)
def test_a_shell_reads_every_kubernetes_word_as_it_was_meant(
    tmp_path_factory: pytest.TempPathFactory, chart: str, values: str, namespace: str, token: str, env: dict[str, str]
) -> None:
    command = commands.kubernetes(
        FleetConnection("e", "f", "dep_1", None),
        token=token,
        chart_url=chart,
        values_url=values,
        namespace=namespace or None,
        env=env,
    )
    given, seen = helm.line(command, tmp_path_factory.mktemp("line"))

    expected = ["upgrade", "--install", "headgate-1", chart, "--namespace", namespace or "headgate"]
    assert seen == [*expected, "--create-namespace", "--values", values, "--values", "-"]
    assert yaml.safe_load(given) == {"token": token, **({"env": env} if env else {})}


@pytest.mark.parametrize("secure", [True, False])
def test_curl_takes_nothing_but_tls_where_the_link_has_it(secure: bool) -> None:
    url = "https://fleet.example/x" if secure else "http://127.0.0.1:8484/x"
    command = commands.linux(
        FleetConnection("e", "f", "d", "t"), script_url=url, arch="amd64", root_deploy_path="/r", systemd=False, env={}
    )

    assert ("curl --proto =https --tlsv1.2 -fsSL https://fleet.example/x ||" in command) is secure
    assert ("curl -fsSL http://127.0.0.1:8484/x ||" in command) is not secure


def test_a_link_serves_one_group_for_an_hour(ann: Member) -> None:
    fleet_id = create(ann).json()["id"]
    answer = install(ann, fleet_id, "linux").json()
    parts = urlsplit(answer["install_url"])
    query = {name: value for name, (value,) in parse_qs(parts.query).items()}
    expires = int(query["expires"])
    link = Link("linux", query["organization"], query["fleet"], parts.path.rpartition("/")[2], expires, 1)
    just_in_time = datetime.fromtimestamp(expires - 1, UTC)

    assert link.signed_by(query["signature"], just_in_time)
    assert not link.signed_by(query["signature"], datetime.fromtimestamp(expires, UTC))
    other = {"platform": "docker", "fleet_id": "x", "deployment_id": "x", "expires": expires + 1, "generation": 2}
    for name, value in other.items():
        changed = {field: getattr(link, field) for field in link.__slots__} | {name: value}
        assert not Link(**changed).signed_by(query["signature"], just_in_time)
    for signature in ("", "é", "x", query["signature"][:-2]):
        assert not link.signed_by(signature, just_in_time)
