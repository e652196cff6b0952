"""`headgate accept` finds nothing wrong with this service, and finds what is wrong with broken ones."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from headgate_cli.accept.bench import PREFIX
from headgate_cli.accept.checks.all import ALL
from tests.support import sizes
from tests.support.altering_proxy import Answered, Fault, altering, says
from tests.support.broken_deployments import FAULTS
from tests.support.cli_support import Cli, Done, Founder, until_end
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end


@dataclass(frozen=True)
class Operator:
    """Somebody who has every credential of an organization."""

    cli: Cli
    read_token: str
    admin: httpx.Client

    def accept(self, *arguments: str, url: str = "") -> Done:
        """The checks with all credentials, of the server at that address."""
        self._sign_in(url or self.cli.url)
        cli = replace(self.cli, url=url or self.cli.url)
        return cli.run("accept", "--admin", "--json", *arguments, HEADGATE_READ_TOKEN=self.read_token)

    def there(self) -> list[str]:
        """The names of what a run could have left."""
        with self.cli.api() as api:
            configurations = api.get("/configurations", params={"limit": 100}).json()["items"]
            fleets = api.get("/fleets", params={"limit": 100}).json()["items"]
        webhooks = self.admin.get("/webhooks").json()["items"]
        names = [one["name"] for one in [*configurations, *webhooks]] + [one["label"] for one in fleets]
        return [name for name in names if name.startswith(PREFIX)]

    def _sign_in(self, url: str) -> None:
        """Store the Admin's session as `headgate login` does."""
        file = self.cli.folder.parent / "home" / ".config" / "headgate" / "credentials.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        session = self.admin.headers["Authorization"].removeprefix("Bearer ")
        stored = {"url": url, "value": session, "organization_id": self.admin.headers["X-Service-Org"]}
        file.write_text(json.dumps(stored))


@pytest.fixture(scope="module")
def operator(service: LocalService, founder: Founder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    token, admin = founder.admin("accepted")
    folder = tmp_path_factory.mktemp("accept") / "work"
    folder.mkdir()
    accounts = f"{service.base_url}/api/v1/app/service-accounts"
    with admin:
        account = admin.post(accounts, json={"name": "reads"}).json()["id"]
        read = admin.post(f"{accounts}/{account}/tokens", json={"name": "reads", "write_access": False}).json()["value"]
        yield Operator(Cli(folder, service.base_url, token), read, admin)


def failed(report: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["message"] for one in report["checks"] if one["status"] == "failed"}


@pytest.mark.full
def test_nothing_is_wrong_with_this_service_and_nothing_is_left(operator: Operator, tmp_path: Path) -> None:
    done = operator.accept("--report", str(tmp_path))
    (report,) = done.json

    assert failed(report) == {}, done.err
    assert (done.code, report["left"], operator.there()) == (0, [], [])
    # The limit of this service is too high to be reached, and the host has a test of its own.
    left_out = ["hosts.applies", "limits.rate"]
    assert [one["id"] for one in report["checks"] if one["status"] == "not_checked"] == left_out
    cases = ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    assert [case.get("name") for case in cases] == [one.id for one in ALL]
    assert "nothing was left behind" in (tmp_path / "report.md").read_text()
    assert {"endpoint", "first_ms", "median_ms"} <= report["latencies"][0].keys()


@pytest.mark.full
def test_a_host_is_installed_with_the_real_supervisor(operator: Operator) -> None:
    done = operator.accept("--only", "hosts", "--host")

    (report,) = done.json
    assert [(one["id"], one["status"]) for one in report["checks"]] == [("hosts.applies", "passed")], done.err


# On each change a seventh of them, in `make trust` all.
@pytest.mark.sized
@pytest.mark.parametrize("fault", sizes.either(FAULTS[::7], FAULTS), ids=lambda fault: fault.name)
def test_what_is_broken_is_found_by_the_checks_that_are_for_it(operator: Operator, fault: Fault) -> None:
    with altering(operator.cli.url, fault) as url:
        done = operator.accept("--only", fault.only, url=url)

    (report,) = done.json
    assert (set(failed(report)), done.code) == (set(fault.fails.split()), 1), failed(report)


def test_a_server_that_repeats_credentials_gets_none_into_the_report(operator: Operator, tmp_path: Path) -> None:
    token = operator.cli.token
    fault = Fault("repeats", "", "", alter=says('"kind":"service_account"', f'"kind":"{token} ## ::error::x"'))
    with altering(operator.cli.url, fault) as url:
        done = operator.accept("--only", "identity.token", "--report", str(tmp_path), url=url)

    told = [done.out, done.err, *(file.read_text() for file in tmp_path.iterdir())]
    assert all("[credential]" in text or "\\[credential\\]" in text for text in told)
    assert not any(token in text for text in told)


@dataclass
class Leaking:
    """Makes an answer with secrets a wrong one, which the report quotes, and puts them where an id is expected."""

    shown: set[str] = field(default_factory=set)

    def __call__(self, answered: Answered) -> None:
        found = set(re.findall(r"(?:ft|sv|whsec)_[A-Za-z0-9+/=_-]{20,}", answered.content.decode()))
        if found:
            self.shown |= found
            told = " ".join(sorted(found))
            answered.status, answered.content = 500, json.dumps({"id": told, "detail": f"{told} {told}"}).encode()


@pytest.mark.parametrize(
    ("only", "asked"),
    [
        ("fleets.install", "POST /api/v1/public/fleets/"),
        ("admin.webhooks", "POST /api/v1/public/webhooks"),
        ("admin.revoked", "POST /api/v1/app/service-accounts/"),
    ],
)
def test_no_secret_that_a_run_made_gets_into_what_it_writes(
    operator: Operator, tmp_path: Path, only: str, asked: str
) -> None:
    leaking = Leaking()
    with altering(operator.cli.url, Fault("leaks", "", "", asked, leaking)) as url:
        done = operator.accept("--only", only, "--report", str(tmp_path), url=url)
    told = [text.replace("\\", "") for text in (done.out, done.err, *(one.read_text() for one in tmp_path.iterdir()))]

    assert leaking.shown
    assert (done.code, failed(done.json[0]).keys()) == (1, {only})
    assert all("[credential]" in text for text in told)
    parts = {secret[start : start + 12] for secret in leaking.shown for start in range(len(secret) - 11)}
    assert not any(part in text for text in told for part in parts)


def test_an_interrupted_run_takes_away_what_it_made(operator: Operator) -> None:
    before = operator.there()
    child = operator.cli.terminal("accept", "--only", "configurations,runs")
    child.expect("runs.passes|configurations.create")
    child.sendintr()
    code, said = until_end(child)

    assert (code, operator.there()) == (130, before), said


def test_what_a_killed_run_left_is_taken_away(operator: Operator) -> None:
    with operator.cli.api() as api:
        made = api.post("/configurations", json={"name": f"{PREFIX}00000000-left", "yaml": "a: 1"}).json()["id"]
        api.post("/fleets", json={"label": f"{PREFIX}00000000-left", "type": "server-supervisor"})
        mine = api.post("/configurations", json={"name": "mine", "yaml": "a: 1"}).json()["id"]
        hook = {"name": f"{PREFIX}00000000-left", "url": "https://headgate-accept.invalid/"}
        assert operator.admin.post("/webhooks", json=hook).is_success
        accounts = f"{operator.cli.url}/api/v1/app/service-accounts"
        account = operator.admin.post(accounts, json={"name": f"{PREFIX}00000000-left"}).json()["id"]
        without = operator.cli.run("accept", "--remove")
        there = operator.there()
        (removed,) = operator.accept("--remove").json

        assert (without.code, "that takes --admin" in without.err, there) == (0, True, [hook["name"]])
        assert (removed, operator.there()) == ({"left": []}, [])
        assert operator.admin.get(f"{accounts}/{account}").status_code == 404
        assert [api.get(f"/configurations/{one}").status_code for one in (made, mine)] == [404, 200]


def test_without_further_credentials_the_checks_that_need_them_are_not_checked(operator: Operator) -> None:
    done = operator.cli.run("accept", "--only", "identity", "--json")
    strict = operator.cli.run("accept", "--only", "identity", "--strict")

    (report,) = done.json
    reasons = {one["id"]: one["message"] for one in report["checks"] if one["status"] == "not_checked"}
    assert reasons.keys() == {"identity.read-only-token", "identity.write-claim", "identity.session"}
    assert all(reasons.values())
    assert (done.code, strict.code) == (0, 1)
