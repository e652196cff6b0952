"""What signed links serve, to whom, and until when."""

import io
import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import boto3
import pytest
import yaml
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.deployments import store
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.installs import publish
from headgate.installs.releases import CHART, MANIFEST, PREFIX, SYSTEMS, Artifact
from headgate.storage import aws
from install.app import app
from tests.support import configurations as cfg
from tests.support.deployments import add
from tests.support.fleets import create
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member

ORIGIN = "https://fleet.example"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
HADOLINT = SHELLCHECK.with_name("hadolint")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def released(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, aws_here: object) -> Path:
    """A folder with a release for amd64 alone."""
    artifacts = {}
    for name in ("collector-amd64", "supervisor-amd64", *(f"supervisor-{system}-amd64" for system in SYSTEMS)):
        file = tmp_path / name
        file.write_bytes(f"content of {name}".encode())
        with file.open("rb") as opened:
            artifacts[name] = Artifact(str(file), publish.sha256(opened), compressed=name.startswith("coll"))
    chart = f"content of {CHART}".encode()
    publish.release(aws.s3(), settings().bucket, ("0.139.0", "0.149.0"), artifacts, chart)
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", ORIGIN)
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    monkeypatch.setenv("HEADGATE_RELEASES_DIRS", str(tmp_path))
    settings.cache_clear()
    return tmp_path


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([*fleets_routers, configurations_router], "ann")


def composed(member: Member, platform: str, **fields: object) -> dict[str, Any]:
    """An install of a new fleet's group."""
    if platform == "kubernetes":
        fleet_id = create(member, new_id("flt"), type="kubernetes-supervisor").json()["id"]
        configuration_id = cfg.create(member)
        cfg.publish(member, configuration_id)
        group: dict[str, object] = {"role": "gateway", "replicas": 3, **fields}
        add(member, f"{API}/fleets/{fleet_id}/deployments", configuration_id, "a", **group)
    else:
        fleet_id = create(member, new_id("flt")).json()["id"]
    made: dict[str, Any] = member.http.post(f"{API}/fleets/{fleet_id}/install", json={"platform": platform}).json()
    return made


def url_of(made: dict[str, Any]) -> str:
    return str(made["install_url"] or made["values_url"])


def get(url: str, name: str = "", **query: str) -> Response:
    """Fetch a link, or a file with it, with changes of its query."""
    parts = urlsplit(url)
    changed = urlencode({**dict(parse_qsl(parts.query)), **query})
    path = f"{parts.path}/{name}" if name else parts.path
    return TestClient(app, raise_server_exceptions=False).get(f"{path}?{changed}", follow_redirects=False)


@pytest.mark.parametrize("platform", ["linux", "docker", "macos"])
def test_a_link_serves_a_script_that_shellcheck_finds_nothing_in(ann: Member, tmp_path: Path, platform: str) -> None:
    made = composed(ann, platform)
    answer = get(url_of(made))
    script = tmp_path / "script"
    script.write_text(answer.text)
    done = subprocess.run([SHELLCHECK, "--shell=sh", script], capture_output=True, text=True, check=False)

    assert answer.headers["content-type"] == "text/x-shellscript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert done.returncode == 0, done.stdout
    assert made["connection"]["token"] not in answer.text
    assert "@VALUES@" not in answer.text


@pytest.mark.parametrize("platform", ["linux", "docker", "kubernetes", "windows", "macos"])
def test_no_link_leads_to_the_fleets_token(ann: Member, platform: str) -> None:
    made = composed(ann, platform)
    token = tokens.value_of(made["connection"]["fleet_id"], 1)

    assert token in made["command"]
    assert token not in url_of(made)
    assert get(url_of(made)).status_code == 200
    assert token not in get(url_of(made)).text


def test_a_kubernetes_link_serves_the_values_of_its_group(ann: Member) -> None:
    made = composed(ann, "kubernetes")
    values = yaml.safe_load(get(url_of(made)).text)

    assert values == {
        "role": "gateway",
        "replicas": 3,
        "endpoint": f"{ORIGIN}/v1/opamp",
        "deploymentId": made["deployment_id"],
        "image": {"repository": "headgate-supervisor", "tag": "0.139.0"},
    }


def test_files_come_by_the_same_link(ann: Member) -> None:
    linux, kubernetes = (url_of(composed(ann, platform)) for platform in ("linux", "kubernetes"))

    assert get(linux, "collector-amd64").content == b"content of collector-amd64"
    assert get(kubernetes, CHART).content == f"content of {CHART}".encode()
    assert get(linux, CHART).status_code == 404
    assert get(kubernetes, "collector-amd64").status_code == 404
    assert get(linux, "manifest.json").status_code == 404
    assert get(linux, "..%2F..%2Fetc%2Fpasswd").status_code == 404
    assert get(linux, "collector-arm64").json()["code"] == "release_not_published"


def test_a_link_that_was_changed_is_refused(ann: Member) -> None:
    url, other = (url_of(composed(ann, "linux")) for _ in range(2))
    query = dict(parse_qsl(urlsplit(url).query))
    elsewhere = dict(parse_qsl(urlsplit(other).query))
    changes = [
        {"expires": str(int(query["expires"]) + 1)},
        {"expires": "9" * 30},
        {"expires": "-1"},
        {"expires": "x"},
        {"generation": "2"},
        {"generation": "9" * 30},
        {"generation": ""},
        {"fleet": elsewhere["fleet"]},
        {"organization": "org_01m7xw1hxef239fzepeez3r693"},
        {"signature": elsewhere["signature"]},
        {"signature": ""},
        {"signature": "é"},
    ]

    assert get(url).status_code == 200
    for change in changes:
        answer = get(url, **change)
        assert (answer.status_code, answer.json()["code"]) == (403, "link_invalid"), change
    for before, after in (("/linux/", "/docker/"), (urlsplit(url).path[-30:], urlsplit(other).path[-30:])):
        assert get(url.replace(before, after)).status_code == 403
        assert get(url.replace(before, after), "collector-amd64").status_code == 403
    assert get(url, more="x").status_code == 422


def test_an_hour_later_it_has_expired(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    url = url_of(composed(ann, "linux"))
    later = datetime.now(UTC) + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    for name in ("", "collector-amd64"):
        answer = get(url, name)
        assert (answer.status_code, answer.json()["code"]) == (410, "link_expired")
    # Whether it was good once is for those who hold it.
    assert get(url, signature="x").status_code == 403


def test_a_kubernetes_line_from_before_a_renewal_installs_nothing_with_the_old_token(ann: Member) -> None:
    before = url_of(composed(ann, "kubernetes"))
    query = dict(parse_qsl(urlsplit(before).query))
    assert get(before).status_code == 200

    fleets.renew_token(an_admin(query["organization"]), query["fleet"], "1d")

    answer = get(before)
    assert (answer.status_code, answer.json()["code"]) == (410, "link_expired")
    # A newer number needs a newer signature.
    assert get(before, generation="2").status_code == 403
    again = ann.http.post(f"{API}/fleets/{query['fleet']}/install", json={"platform": "kubernetes"}).json()
    assert tokens.value_of(query["fleet"], 2) in again["command"]
    assert get(url_of(again)).status_code == 200


def an_admin(organization_id: str) -> Caller:
    admin = Principal("user", new_id("usr"), "admin@example.com")
    return Caller(organization_id, "Acme", admin, admin.name, "admin", "read_write", new_id("ses"))


def test_a_deleted_group_has_nothing_to_install(ann: Member) -> None:
    made = composed(ann, "linux")
    table = boto3.client("dynamodb")
    key = {"pk": f"fleet#{made['connection']['fleet_id']}", "sk": f"deployment#{made['deployment_id']}"}
    table.delete_item(TableName=settings().fleets_table, Key={name: {"S": value} for name, value in key.items()})

    assert store.deployment(made["connection"]["fleet_id"], made["deployment_id"]) is None
    assert get(url_of(made)).json()["code"] == "deployment_not_found"


def test_without_a_release_there_is_nothing_to_install(ann: Member) -> None:
    url = url_of(composed(ann, "linux"))
    aws.s3().delete_object(Bucket=settings().bucket, Key=PREFIX + MANIFEST)
    answer = get(url)

    assert (answer.status_code, answer.json()["code"]) == (503, "release_not_published")
    assert "make publish-install" in answer.json()["detail"]


@pytest.mark.parametrize("allowed", ["", "elsewhere"])
def test_no_manifest_makes_the_function_read_a_file_of_its_own(
    ann: Member, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, allowed: str
) -> None:
    monkeypatch.setenv("HEADGATE_RELEASES_DIRS", allowed and str(tmp_path / allowed))
    settings.cache_clear()

    assert get(url_of(composed(ann, "linux")), "collector-amd64").status_code == 404


def test_on_aws_a_host_is_sent_to_the_object(ann: Member, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADGATE_RELEASES_DIRS", "")
    settings.cache_clear()
    linux, kubernetes = (url_of(composed(ann, platform)) for platform in ("linux", "kubernetes"))
    program = tmp_path / "program"
    program.write_bytes(b"#!/bin/sh\n" * 1000)
    binaries = {"collector-amd64": program, "supervisor-amd64": program}
    release = publish.upload(aws.s3(), settings().bucket, ("0.139.0", "0.149.0"), binaries, b"chart")
    answer = get(linux, "collector-amd64")
    parts = urlsplit(answer.headers["location"])
    query = dict(parse_qsl(parts.query))

    artifact = release.artifacts["collector-amd64"]
    assert answer.status_code == 307
    assert parts.path.endswith(f"/{artifact.key}")
    assert (query["X-Amz-Algorithm"], query["X-Amz-Expires"]) == ("AWS4-HMAC-SHA256", "900")
    assert get(kubernetes, CHART).content == b"chart"
    fetched = aws.s3().get_object(Bucket=settings().bucket, Key=artifact.key)["Body"].read()
    (tmp_path / "fetched.gz").write_bytes(fetched)
    assert subprocess.run(["gzip", "-dc", tmp_path / "fetched.gz"], capture_output=True, check=True).stdout == (
        program.read_bytes()
    )
    assert artifact.sha256 in get(linux).text


def test_the_image_is_linted_and_is_what_a_docker_link_builds(ann: Member) -> None:
    dockerfile = ROOT / "images" / "supervisor" / "Dockerfile"
    done = subprocess.run([HADOLINT, "--no-color", dockerfile], capture_output=True, text=True, check=False)
    script = get(url_of(composed(ann, "docker"))).text
    built = re.search(r"<<'DOCKERFILE'\n(.*)^DOCKERFILE$", script, re.DOTALL | re.MULTILINE)

    assert done.returncode == 0, done.stdout
    assert built is not None
    assert built[1] == dockerfile.read_text()


def test_a_command_for_windows_has_every_value_as_powershell_reads_it(ann: Member) -> None:
    fleet_id = create(ann, "windows").json()["id"]
    strange = {"QUOTES": 'it\'s \u2018so\u2019 "or" $env:PATH `n', "LINES": "a\nb"}
    body = {"platform": "windows", "env": strange, "name": "web-1"}
    made = ann.http.post(f"{API}/fleets/{fleet_id}/install", json=body).json()
    written = re.search(r"-Order '((?:[^']|'')*)'$", made["command"])

    assert written is not None
    # PowerShell ends such a string at typographic quotes, too.
    assert written[1].isascii()
    order = json.loads(written[1].replace("''", "'"))
    assert order["variables"] == strange | {"HEADGATE_NAME": "web-1"}
    assert order["token"] == made["connection"]["token"]
    assert "PowerShell" in " ".join(made["notes"])


@pytest.mark.parametrize("platform", ["windows", "macos"])
def test_a_script_names_the_programs_that_are_published_for_its_system(ann: Member, platform: str) -> None:
    made = composed(ann, platform)
    text = get(url_of(made)).text
    values = json.loads(next(line for line in re.findall(r"\{.*\}", text) if '"supervisors"' in line))

    assert values["supervisors"]["amd64"]["sha256"] == publish.sha256(
        io.BytesIO(f"content of supervisor-{platform}-amd64".encode())
    )
    assert values["collectors"] == {}
    name = f"supervisor-{platform}-amd64"
    assert get(url_of(made), name).content == f"content of {name}".encode()
    assert get(url_of(made), f"collector-{platform}-amd64").status_code == 503


@pytest.mark.parametrize("platform", ["windows", "macos"])
def test_without_a_supervisor_for_the_system_the_link_says_so(ann: Member, platform: str) -> None:
    publish.release(aws.s3(), settings().bucket, ("0.139.0", "0.149.0"), {}, b"")
    answer = get(url_of(composed(ann, platform)))

    assert answer.status_code == 503
    assert f"The supervisor for {platform} is not published" in answer.json()["detail"]
