"""Stored variables of a group: secrets are never shown again, and reach a host with the group's own token."""

import base64
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from httpx2 import Response
from nacl.public import SealedBox
from nacl.signing import SigningKey

from headgate.audit import service as audit
from headgate.deployments import own_tokens
from headgate.fleets import keys, tokens
from headgate.fleets import service as fleets
from headgate.installs.links import Platform
from headgate.storage import aws, table
from install.app import app as install_app
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, make_fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API, Member

__all__ = ["ann", "fleet", "now"]
AWKWARD = """it's a $(touch pwned) "quote" # \\ `x` é"""


@pytest.fixture
def group(fleet: Fleet) -> str:
    """A group with a stored value and a stored secret."""
    made = fleet.add_group("secretive", 1)
    stored(fleet, made, variables={"ZONE": "a b"}, secrets={"API_KEY": AWKWARD})
    return made


def stored(fleet: Fleet, group: str, expected: int = 200, **body: object) -> Any:
    response = fleet.member.http.patch(f"{API}/fleets/{fleet.id}/deployments/{group}/env", json=body)
    assert response.status_code == expected, response.text
    return response.json()


def shown(fleet: Fleet, group: str) -> list[tuple[str, bool, str | None]]:
    items = fleet.member.http.get(f"{API}/fleets/{fleet.id}/deployments/{group}/env").json()["items"]
    return [(one["name"], one["secret"], one["value"]) for one in items]


def installed(fleet: Fleet, group: str, platform: Platform = "linux", **options: object) -> Response:
    asked = {"platform": platform, "deployment_id": group, **options}
    return fleet.member.http.post(f"{API}/fleets/{fleet.id}/install", json=asked)


def url_of(answer: Any, what: str) -> str:
    """The path and query of the link to the variables, or to the secrets."""
    url = urlsplit(answer["install_url"] or answer["values_url"])
    return f"{url.path}/{what}?{url.query}"


def code_of(answer: Any) -> str:
    """The code in a composed command."""
    (code, *_) = re.findall(r"ic_[A-Za-z0-9_-]{43}", answer["command"])
    return str(code)


def served(answer: Any, token: str, what: str = "secrets", **headers: str) -> Response:
    """What the host fetches with what is in its command."""
    http = TestClient(install_app, raise_server_exceptions=False)
    sent = {"Authorization": f"Bearer {token}", "X-Install-Code": code_of(answer), **headers}
    return http.request("GET" if what == "variables" else "POST", url_of(answer, what), headers=sent)


def opened(answer: Any, token: str, key: SigningKey) -> bytes:
    """What comes sealed for the key of a host."""
    public = base64.urlsafe_b64encode(bytes(key.verify_key)).decode().rstrip("=")
    response = served(answer, token, **{"X-Host-Key": public})
    assert response.status_code == 200, response.text
    return SealedBox(key.to_curve25519_private_key()).decrypt(response.content)


def deliveries(fleet: Fleet) -> list[dict[str, str]]:
    """What the records of deliveries say, newest first."""
    records = audit.records(admin_of(fleet), 100, None).entries
    return [{**one.details, "by": one.actor.name} for one in records if one.action == "install.secrets_delivered"]


def test_a_secret_is_never_shown_and_is_encrypted_where_it_is_stored(fleet: Fleet, group: str) -> None:
    assert shown(fleet, group) == [("API_KEY", True, None), ("ZONE", False, "a b")]
    item = table.fleets.get(keys.env(fleet.id, group)) or {}
    assert (AWKWARD in str(item), "a b" in str(item)) == (False, True)
    records = audit.records(admin_of(fleet), 100, None).entries
    assert {"set": "API_KEY, ZONE"} in [dict(one.details) for one in records]
    assert AWKWARD not in str(records)


def test_variables_are_set_and_removed_one_by_one(fleet: Fleet, group: str) -> None:
    stored(fleet, group, variables={"ZONE": None, "REGION": "eu"})
    assert shown(fleet, group) == [("API_KEY", True, None), ("REGION", False, "eu")]
    stored(fleet, group, secrets={"REGION": "now secret", "API_KEY": None})
    assert shown(fleet, group) == [("REGION", True, None)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "At least one"),
        ({"variables": {"A": "x"}, "secrets": {"A": "x"}}, "give it once"),
        ({"variables": {"1A": "x"}}, "letters, digits"),
        ({"variables": {"A": "x\ny"}}, "line breaks"),
        ({"secrets": {"A": ""}}, "must not be empty"),
        ({"secrets": {"A": "é" * 2_049}}, "4,096 bytes"),
        ({"secrets": {f"A{n}": "x" for n in range(21)}}, "at most 20 stored secrets"),
        ({"variables": {f"A{n}": "x" for n in range(51)}}, "at most 50"),
        ({"other": {}}, "other"),
    ],
)
def test_what_cannot_be_stored_is_422(fleet: Fleet, body: dict[str, object], said: str) -> None:
    assert said in str(stored(fleet, fleet.deployment_id, 422, **body))


def test_variables_are_limited_in_all(fleet: Fleet, group: str) -> None:
    stored(fleet, group, variables={f"A{n}": "x" for n in range(48)})
    assert stored(fleet, group, 422, variables={"LAST": "x"})["code"] == "too_many_variables"


def test_after_200_removed_names_a_person_may_have_them_forgotten(fleet: Fleet, group: str) -> None:
    for first in range(0, 200, 40):
        batch = [f"A{n}" for n in range(first, first + 40)]
        stored(fleet, group, variables=dict.fromkeys(batch, "x"))
        shown = stored(fleet, group, variables=dict.fromkeys(batch))
    assert len(shown["removed"]) == 200
    refused = stored(fleet, group, 422, variables={"ZONE": None})
    assert "`forget_removed` forgets them" in refused["detail"]

    assert stored(fleet, group, variables={"ZONE": None}, forget_removed=True)["removed"] == ["ZONE"]
    assert stored(fleet, group, forget_removed=True)["removed"] == []


def test_the_first_variable_gives_the_group_a_token_of_its_own(fleet: Fleet, group: str) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments/"
    own = fleet.member.http.get(f"{path}{group}").json()["token_id"]
    assert own is not None
    assert fleet.member.http.get(f"{path}{fleet.deployment_id}").json()["token_id"] is None
    token = installed(fleet, group).json()["connection"]["token"]
    assert token == tokens.value_of(group, 1) != fleet.token

    body = fleet.agent().full().SerializeToString()
    assert fleet.post(body, token=token, group=group).status_code == 200
    assert fleet.post(body, token=token, group=fleet.deployment_id).status_code == 403
    (seen,) = fleet.instances()
    assert (seen["token_id"], seen["token_current"]) == (own, True)
    # A host that was there before goes on, and is listed among those with an older token.
    assert fleet.agent(group).start().instance_uid
    listed = fleet.member.http.get(f"{API}/fleets/{fleet.id}/instances", params={"old_token": "true"}).json()["items"]
    assert len(listed) == 1


def test_only_the_groups_own_token_opens_its_variables(fleet: Fleet, group: str) -> None:
    other = fleet.add_group("other", 1)
    stored(fleet, other, secrets={"API_KEY": "another"})
    answer = installed(fleet, group).json()
    own = answer["connection"]["token"]

    assert opened(answer, own, SigningKey.generate()) == f"API_KEY={AWKWARD}\0".encode()
    assert served(answer, own, "variables").text == "set -- \"$@\" --env 'ZONE=a b'\n"
    for token in (fleet.token, tokens.value_of(other, 1), tokens.value_of(group, 2), "", "ft_x"):
        for what in ("variables", "secrets"):
            response = served(answer, token, what)
            assert (response.status_code, AWKWARD in response.text) == (401, False), token
    http = TestClient(install_app, raise_server_exceptions=False)
    forged = url_of(answer, "secrets").replace("signature=", "signature=x")
    assert http.post(forged, headers={"Authorization": f"Bearer {own}"}).status_code == 403


def test_with_link_and_token_alone_nobody_reads_a_secret(
    fleet: Fleet, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are the same for all commands of an hour; each delivery takes the code of a command, and is recorded."""
    answer = installed(fleet, group, "docker").json()
    url, token = url_of(answer, "secrets"), answer["connection"]["token"]
    http = TestClient(install_app, raise_server_exceptions=False)
    public = base64.urlsafe_b64encode(bytes(SigningKey.generate().verify_key)).decode().rstrip("=")
    another = fleet.add_group("other", 1)
    stored(fleet, another, secrets={"API_KEY": "another"})
    foreign = code_of(installed(fleet, another, "docker").json())
    monkeypatch.setattr(aws, "kms", lambda: pytest.fail("a secret was opened"))
    for code in ("", "ic_x", "ic_" + "A" * 43, foreign):
        for key in ("", public):
            sent = {"Authorization": f"Bearer {token}", "X-Install-Code": code, "X-Host-Key": key}
            response = http.post(url, headers=sent)
            assert (response.status_code, response.json()["code"]) == (403, "install_code_invalid")
    assert http.get(url_of(answer, "variables"), headers={"Authorization": f"Bearer {token}"}).status_code == 403
    assert deliveries(fleet) == []


def test_each_delivery_is_recorded_with_who_composed_the_command(fleet: Fleet, group: str) -> None:
    answer = installed(fleet, group).json()
    token, key = answer["connection"]["token"], SigningKey.generate()
    for _ in range(3):
        opened(answer, token, key)

    first, *others = deliveries(fleet)
    assert (first["secrets"], first["by"], len(first["host_key"]), len(others)) == ("API_KEY", "ann", 16, 2)
    assert AWKWARD not in str(deliveries(fleet))


def test_a_command_for_one_container_delivers_once_and_for_several_as_often_as_it_says(
    fleet: Fleet, group: str
) -> None:
    for hosts in (1, 3):
        options = {"deliveries": hosts} if hosts > 1 else {}
        answer = installed(fleet, group, "docker", **options).json()
        token = answer["connection"]["token"]
        assert [served(answer, token).status_code for _ in range(hosts)] == [200] * hosts
        used = served(answer, token)
        assert (used.status_code, used.json()["code"], AWKWARD in used.text) == (410, "install_code_used", False)
        # What is not secret is not counted.
        assert served(answer, token, "variables").text == "ZONE=a b\n"
    assert len(deliveries(fleet)) == 4
    assert installed(fleet, group, "linux", deliveries=2).status_code == 422
    for wrong in (0, 101, "2"):
        assert installed(fleet, group, "docker", deliveries=wrong).status_code == 422


def test_of_simultaneous_deliveries_no_more_than_are_left_are_made(fleet: Fleet, group: str) -> None:
    answer = installed(fleet, group, "docker", deliveries=3).json()
    token = answer["connection"]["token"]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: served(answer, token).status_code, range(8)))

    assert sorted(statuses) == [200] * 3 + [410] * 5
    assert len(deliveries(fleet)) == 3


def test_the_code_of_a_linux_command_gives_no_secret_in_clear(fleet: Fleet, group: str) -> None:
    answer = installed(fleet, group).json()
    token = answer["connection"]["token"]
    assert served(answer, token).json()["code"] == "install_code_invalid"
    # Points that are of small order or not on the curve, and what is not a key.
    for key in ("A" * 43, "x", "_" * 43, "AQ" + "A" * 41):
        refused = served(answer, token, **{"X-Host-Key": key})
        assert (refused.status_code, refused.json()["code"]) == (400, "host_key_invalid")
    assert deliveries(fleet) == []


def test_a_code_ends_with_its_link(now: Clock, fleet: Fleet, group: str) -> None:
    answer = installed(fleet, group, "docker").json()
    now.moves(hours=1)
    assert served(answer, answer["connection"]["token"]).status_code == 410
    assert deliveries(fleet) == []


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Stand-ins: a curl that gives what is in `served`, or fails; docker and helm, which print what they get."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {
        "curl": 'config=; case "$*" in *--config*) config=$(cat);; esac\n'
        'printf "%s\\n" "$*" >>"$HOME/arguments"\n'
        'case "$*" in */variables*) file=variables;; */secrets*) file=secrets;; *) file=;; esac\n'
        'case "$file" in ?*) printf "%s" "$config" >"$HOME/header"; [ -f "$HOME/$file" ] || exit 22\n'
        'cat "$HOME/$file";; *) echo \'for word; do printf "<%s>" "$word"; done\';; esac',
        "docker": 'for word; do printf "<%s>" "$word"; done; echo; cat',
        "helm": 'for word; do printf "<%s>" "$word"; done; echo; cat',
        "sudo": 'exec "$@"',
    }.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
    return folder


def ran(command: str, programs: Path, **texts: str) -> subprocess.CompletedProcess[str]:
    """The command, where the server answers with these `variables` and `secrets`, or not at all."""
    home = programs.parent
    for name, text in texts.items():
        (home / name).write_text(text)
    path = f"{programs}:/usr/bin:/bin"
    return subprocess.run(
        ["sh", "-c", command],
        env={"PATH": path, "HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_linux_host_gets_values_as_options_of_the_script_and_a_code_for_secrets(
    fleet: Fleet, group: str, programs: Path
) -> None:
    answer = installed(fleet, group, env={"OWN": "1"}).json()
    token = answer["connection"]["token"]
    done = ran(answer["command"], programs, variables=served(answer, token, "variables").text)

    assert f"<--secrets><{code_of(answer)}><--env><OWN=1>" in done.stdout
    assert "<--env><ZONE=a b>" in done.stdout
    sent = f'header = "Authorization: Bearer {token}"\nheader = "X-Install-Code: {code_of(answer)}"'
    assert (programs.parent / "header").read_text() == sent
    for secret in (token, code_of(answer)):
        assert secret not in (programs.parent / "arguments").read_text()
    assert not (programs.parent / "pwned").exists()
    assert AWKWARD not in answer["command"]
    assert "API_KEY, ZONE" in answer["notes"][-1]


def test_a_container_gets_the_values_as_a_file_of_its_environment(fleet: Fleet, group: str, programs: Path) -> None:
    answer = installed(fleet, group, "docker").json()
    token = answer["connection"]["token"]
    texts = {what: served(answer, token, what).text for what in ("variables", "secrets")}
    done = ran(answer["command"], programs, **texts)

    assert "<--env-file></dev/stdin>" in done.stdout
    assert done.stdout.splitlines()[1:] == ["ZONE=a b", f"API_KEY={AWKWARD}"]
    assert answer["notes"][-1].startswith("The secrets among them are delivered to 1 host;")


def test_a_cluster_gets_the_values_with_the_token(ann: Member, programs: Path) -> None:
    fleet = make_fleet(ann, "kubernetes-supervisor", "Cluster")
    # NO is a truth value to YAML, unless it is quoted.
    stored(fleet, fleet.deployment_id, variables={"NO": "0"}, secrets={"API_KEY": AWKWARD})
    answer = installed(fleet, fleet.deployment_id, "kubernetes", env={"OWN": "1"}).json()
    token = tokens.value_of(fleet.deployment_id, 1)
    texts = {what: served(answer, token, what).text for what in ("variables", "secrets")}
    done = ran(answer["command"], programs, **texts)

    given = yaml.safe_load(done.stdout.split("\n", 1)[1])
    assert given == {"token": token, "env": {"OWN": "1", "API_KEY": AWKWARD, "NO": "0"}}


@pytest.mark.parametrize(
    ("platform", "texts"), [("linux", {}), ("docker", {}), ("docker", {"variables": "ZONE=a b\n"})]
)
def test_without_its_variables_nothing_is_installed(
    fleet: Fleet, group: str, programs: Path, platform: Platform, texts: dict[str, str]
) -> None:
    answer = installed(fleet, group, platform).json()
    done = ran(answer["command"], programs, **texts)

    # The script is not reached; docker refuses a line without a name.
    assert "API_KEY" not in done.stdout
    assert (done.returncode, done.stdout) == (1, "") if platform == "linux" else done.stdout.endswith("\n=\n")


def test_a_stored_variable_cannot_be_given_in_the_command_as_well(fleet: Fleet, group: str) -> None:
    response = installed(fleet, group, env={"API_KEY": "x"})
    assert (response.status_code, response.json()["code"]) == (422, "not_installable")
    assert "API_KEY is stored with the group" in response.json()["detail"]


def test_a_groups_token_is_renewed_apart_from_the_fleets(now: Clock, fleet: Fleet, group: str) -> None:
    body = fleet.agent().full().SerializeToString()

    def status(n: int) -> int:
        return fleet.post(body, token=tokens.value_of(group, n), group=group).status_code

    fleets.renew_token(admin_of(fleet), fleet.id, "none")
    assert status(1) == 200
    own_tokens.renew(admin_of(fleet), fleet.id, group, "1d")
    assert [status(n) for n in (1, 2)] == [200, 200]
    now.moves(days=1)
    assert [status(n) for n in (1, 2)] == [401, 200]
    own_tokens.renew(admin_of(fleet), fleet.id, group, "none")
    assert [status(n) for n in (1, 2, 3)] == [401, 401, 200]
    with pytest.raises(own_tokens.NoOwnToken):
        own_tokens.renew(admin_of(fleet), fleet.id, fleet.deployment_id, "none")


def test_variables_and_tokens_of_a_group_end_with_it(fleet: Fleet, group: str) -> None:
    answer = installed(fleet, group).json()
    own_tokens.renew(admin_of(fleet), fleet.id, group, "7d")
    assert fleet.member.http.delete(f"{API}/fleets/{fleet.id}/deployments/{group}").status_code == 204

    assert table.fleets.get(keys.env(fleet.id, group)) is None
    assert [fleets.token(tokens.hash_at(group, n)) for n in (1, 2)] == [None, None]
    assert served(answer, tokens.value_of(group, 1)).status_code == 404


def test_secrets_of_another_deployment_say_that_they_have_to_be_set_again(fleet: Fleet, group: str) -> None:
    """As after an import: the key that encrypted them is another one."""
    item = table.fleets.get(keys.env(fleet.id, group)) or {}
    variables: Any = item["variables"]
    key = aws.kms().create_key()["KeyMetadata"]["KeyId"]
    foreign = aws.kms().encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    table.fleets.put(item | {"variables": {**variables, "API_KEY": {**variables["API_KEY"], "secret": foreign}}})
    answer = installed(fleet, group, "docker").json()

    response = served(answer, answer["connection"]["token"])
    assert (response.status_code, response.json()["code"]) == (409, "secret_not_readable")
    stored(fleet, group, secrets={"API_KEY": "again"})
    # What could not be delivered was not counted.
    assert served(answer, answer["connection"]["token"]).text == "API_KEY=again\n"
