"""Every example of every command's `--help`, as it stands there, on the running service."""

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import httpx
import pexpect
import pytest
import yaml

from headgate.foundation.settings import settings
from headgate_opamp import opamp_pb2 as wire
from tests.support import cli_commands, sizes
from tests.support.agents_of_service import post_to
from tests.support.cli_support import EDGE, Cli
from tests.support.opamp_agent import Agent
from tests.support.second_version import second_version
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

SERVER = "https://headgate.example.com"
RUN = "run_01..."
PATIENCE_SECONDS = 60
# Commands that go on until Ctrl-C: what they say before, how they end, and how often Ctrl-C is pressed at most. Signing
# in takes a person, whom tests/end_to_end/test_login.py has; a Ctrl-C before its prompt waits for a code can be lost.
INTERRUPTED = {
    "headgate login(?!.*--token).*": ("Open this address|Approve this login", 130, 30),
    "headgate demo": ("until you press Ctrl-C", 0, 1),
    "headgate (?!rollout).* --watch": ("Watching every", 130, 1),
}
# Commands whose examples need nothing on the server.
ALONE = {
    *("login", "logout", "whoami", "completion", "flow", "validate", "lint"),
    *("component", "schema", "ottl", "lsp", "webhook", "capture", "dev", "apply"),
}
# Commands that are about a deployment group.
OF_GROUPS = ("deployment", "instance", "rollout", "rollback")
# Commands that take a person's session.
OF_PERSONS = (
    *("headgate policy set", "headgate rollout approve", "headgate webhook", "headgate instance allow-move"),
    "headgate price set",
)
FOLDERS = ("configurations", "organization/configurations")
COLLECTOR = Path(settings().collectors_dir) / settings().collector_version / "otelcol-contrib"
RULE = {"name": "all have a body", "condition": "log.body != nil", "expect": "all"}
TEAM = {"name": "each names the team", "condition": 'log.attributes["team"] == "edge"', "expect": "all"}
TEST = {"sample": "a line", "rules": [RULE, TEAM]}
GATEWAY = EDGE.replace("filelog:\n    include: [/var/log/app.log]", "otlp:\n    protocols: {grpc: {}}").replace(
    "[filelog]", "[otlp]"
)


COMMANDS = {("headgate", *words): command for words, command in cli_commands.walk()}


def examples(command: click.Command) -> list[str]:
    _, _, block = (command.help or "").partition("Examples:\n")
    return [line.strip() for line in block.splitlines() if line.strip()]


PAGES = "".join(page.read_text() for page in sorted((ROOT / "docs").glob("cli*.md")))
ALL_EXAMPLES = list(dict.fromkeys(line for command in COMMANDS.values() for line in examples(command)))
# Those that are carried out: on each change the first of every fourth command, in `make trust` all. They begin with the
# second command, so that one that Ctrl-C ends is in them, one that takes a login, and one of every large group.
EXAMPLES = sizes.either(
    list(dict.fromkeys([line for command in COMMANDS.values() for line in examples(command)[:1]]))[1::4], ALL_EXAMPLES
)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_of_its_own(path: tuple[str, ...]) -> None:
    shown = examples(COMMANDS[path])

    assert shown
    assert all(re.search(rf"\b{' '.join(path)}\b", line) for line in shown), shown


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_in_the_reference(path: tuple[str, ...]) -> None:
    assert f"`{' '.join(path)}" in PAGES


@pytest.mark.parametrize("line", ALL_EXAMPLES)
def test_every_example_has_only_options_that_its_command_takes(line: str) -> None:
    words = shlex.split(line.partition(" > ")[0])
    words = words[words.index("headgate") :]
    path = max((path for path in COMMANDS if words[: len(path)] == list(path)), key=len)
    command = COMMANDS[path]

    options, _, _ = command.make_parser(click.Context(command)).parse_args(words[len(path) :])
    assert set(options) <= {parameter.name for parameter in command.params}


def furnish(cli: Cli, line: str) -> str:
    """Make what the line names, but not what it makes. Returns the line with what only this server knows."""
    words = shlex.split(line.replace("|", " "))
    about = words[words.index("headgate") + 1 :]
    home = cli.folder.parent / "home"
    (home / ".local/share/bash-completion/completions").mkdir(parents=True)
    (home / ".zfunc").mkdir()
    for name in ("collector.yaml", *(f"{folder}/{one}.yaml" for folder in FOLDERS for one in ("one", "two"))):
        cli.write(name, EDGE)
    cli.write("gateway.yaml", GATEWAY)
    cli.write("edge.yaml", EDGE + "# later\n")
    cli.write("sample.log", "first line\nsecond line\n")
    cli.write("test.env", "TIMEOUT=6s\n")
    cli.write("address", "https://hooks.example.com/services/1\n")
    if "k8sattributes" in line:
        stored = EDGE.replace("processors: [", "processors: [k8sattributes, ").replace(
            "processors:\n", "processors:\n  k8sattributes: {}\n", 1
        )
    else:
        stored = EDGE
    for name in ("collector", "configurations/one"):
        cli.write(f"{name}.tests/checkout.yaml", yaml.safe_dump(TEST))
    (cli.folder / COLLECTOR.name).symlink_to(COLLECTOR)
    if "--base" in about:
        cli.write("collector.yaml", EDGE + "# as it was\n")
        identity = "-c user.name=Ada -c user.email=ada@example.com -c commit.gpgsign=false"
        assert cli.shell(f"git init -q -b main && git add -A && git {identity} commit -qm first").code == 0
        cli.write("collector.yaml", EDGE)
    if about[0] in ALONE:
        return line.replace(SERVER, cli.url)
    with cli.api() as api:

        def post(path: str, **body: object) -> dict[str, str]:
            response = api.post(path, json=body)
            assert response.is_success, response.text
            made: dict[str, str] = response.json()
            return made

        called = "shop" if about[0] in OF_GROUPS else "edge"
        if about[:2] == ["config", "create"]:
            return line
        if about[:2] == ["config", "delete"]:
            # One of which nothing was published.
            post("/configurations", name="attempt", yaml=EDGE)
            return line
        edge = post("/configurations", name=called, yaml=EDGE)["id"]
        path = f"/configurations/{edge}/versions"
        if about[0] == "test":
            assert api.put(f"{path}/1/tests/checkout", json=TEST | {"target_pipeline": "logs"}).is_success
        post(f"{path}/1/publish")
        post(path, yaml=EDGE.replace("5s", "6s"))
        post(path, yaml=EDGE)
        post(f"{path}/3/publish")
        post(path, yaml=stored + "# later\n")
        if about[0] == "policy":
            cli.write("policies.yaml", cli.ok("policy", "get") if "policies.yaml" in line else "")
        if about[:1] in (["rules"], ["test"]):
            for n in (3, 4):
                saved = {"signal_type": "logs", "rules": [RULE]}
                assert api.put(f"{path}/{n}/validation-pipelines/logs", json=saved).is_success
            cli.write("rules.yaml", cli.ok("rules", "get", "edge") if "rules.yaml" in line else "")
        if RUN in line:
            run = {"signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1, "rules": [RULE]}
            run["trace"] = True
            started = post("/testing/runs", configuration_id=edge, version_number=3, sample="a line\n" * 3, **run)["id"]
            cli.ok("test", "show", started, "--wait")
            line = line.replace(RUN, started)
        if about[:1] == ["deployment"]:
            gateway = post("/configurations", name="intake", yaml=GATEWAY)["id"]
            post(f"/configurations/{gateway}/versions/1/publish")
        if about[0] in OF_GROUPS or (about[0] == "fleet" and about[1] != "create"):
            fleet = post("/fleets", label="servers" if about[0] in OF_GROUPS else "edge", type="server-supervisor")[
                "id"
            ]
            post("/fleets", label="clusters", type="kubernetes-supervisor")
            if "existing" in about:
                observe(cli, post("/fleets", label="existing", type="server-supervisor", mode="observed")["id"])
            groups = f"/fleets/{fleet}/deployments"
            if about[:2] not in (["deployment", "create"], ["fleet", "delete"]):
                post(groups, name="canary", configuration_id=edge, version_number=3)
            if "web" in about:
                post(groups, name="web", configuration_id=edge, version_number=3)
            if about[:2] == ["fleet", "forget"]:
                (default,) = [one for one in api.get(groups).json()["items"] if one["is_default"]]
                with httpx.Client(base_url=cli.url) as client:
                    gone = Agent(post_to(client, api, fleet, default["id"]), host_name="web-1")
                    gone.start()
                    gone.leaves()
            if "--secret" in about:
                line = f"API_KEY=x {line}"
            if about[0] == "instance":
                report(cli, api, about, fleet, edge)
            if about[0] in ("rollback", "rollout"):
                for group in api.get(groups).json()["items"]:
                    for n in (1, 3):
                        assigned = {"configuration_id": edge, "version_number": n}
                        assert api.patch(f"{groups}/{group['id']}", json=assigned).is_success
                    if about[0] == "rollout" and group["is_default"]:
                        roll_out(cli, api, about[1], f"{groups}/{group['id']}")
    return line


def observe(cli: Cli, fleet: str) -> None:
    """A host of an observed fleet, which reports what it runs."""
    token = cli.run("fleet", "observe", fleet, "--json").json[0]["token"]
    with httpx.Client(base_url=cli.url, headers={"Authorization": f"Bearer {token}"}) as client:
        agent = Agent(lambda body: client.post("/v1/opamp", content=body).content, host_name="web-1")
        agent.start()
        message = agent.full()
        message.effective_config.config_map.config_map[""].body = EDGE.encode()
        agent.send(message)


def report(cli: Cli, api: httpx.Client, about: list[str], fleet: str, configuration: str) -> None:
    """A host that has failed to apply what its group runs, as the command may be about."""
    (group,) = [one for one in api.get(f"/fleets/{fleet}/deployments").json()["items"] if one["is_default"]]
    assigned = {"configuration_id": configuration, "version_number": 1}
    assert api.patch(f"/fleets/{fleet}/deployments/{group['id']}", json=assigned).is_success
    with httpx.Client(base_url=cli.url) as client:
        agent = Agent(post_to(client, api, fleet, group["id"]), host_name="web-1")
        agent.start()
        agent.tells(b'{"v":1,"supervisor":{"version":"0.2.0"},"can":["restart","retry","upgrade_supervisor"]}')
        if "replace" in about:
            # Its host was installed again.
            agent.leaves()
            Agent(post_to(client, api, fleet, group["id"]), host_name="web-1").start()
        else:
            agent.report(wire.RemoteConfigStatuses_FAILED, "no")
    if "--end" in about:
        cli.ok("instance", "override", "servers", "web-1", "--version", "3", "--for", "2h")


def roll_out(cli: Cli, api: httpx.Client, command: str, group: str) -> None:
    """A rollout that the command can be about: one that has ended, or that waits for an hour to come."""
    if command in ("start", "list", "show"):
        return
    strategy: dict[str, object] = {"preset": "all_at_once"}
    if command != "watch":
        _, _, fleet_id, _, deployment_id = group.split("/")
        with httpx.Client(base_url=cli.url) as client:
            Agent(post_to(client, api, fleet_id, deployment_id)).start()
        hours = [f"{datetime.now(UTC) + timedelta(hours=ahead):%H:%M}" for ahead in (2, 3)]
        strategy["window"] = {"start": hours[0], "end": hours[1], "time_zone": "UTC"}
    assert api.post(f"{group}/rollouts", json={"version_number": 1, "strategy": strategy}).is_success
    if command == "resume":
        cli.ok("rollout", "pause", "servers", "Default")


@pytest.mark.sized
@pytest.mark.parametrize("line", EXAMPLES)
def test_the_example_works(cli: Cli, line: str) -> None:
    newer = second_version()
    if newer is None and "bisect" in line:
        pytest.skip("no second collector is installed to search")
    line = line.replace("0.158.0", newer or settings().collector_version)
    line = furnish(cli, line)
    # Before the group was created nothing ran.
    line = re.sub(r"--at \S+Z", f"--at {datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", line)
    until = next((said for command, said in INTERRUPTED.items() if re.fullmatch(command, line)), None)
    if until:
        said, code, times = until
        child = cli.spawn("bash", ["-c", line], 120, {"BROWSER": "false"})
        child.expect(said)
        for _ in range(times):
            child.sendintr()
            if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=PATIENCE_SECONDS / times) == 0:
                break
        child.close(force=True)
        assert child.exitstatus == code, child.signalstatus
        return
    done = cli.shell(line, HEADGATE_COLLECTORS_DIR=settings().collectors_dir)

    if line.startswith(OF_PERSONS):
        # The rest takes a login: tests/end_to_end/test_publish_requirements.py, tests/api/test_rollouts.py,
        # tests/unit/test_cli_webhooks.py and tests/api/test_host_keys.py have one.
        assert done.code == 3, done
        return
    if line.startswith("headgate capture"):
        # The rest takes a host, and an Admin who allows it: tests/end_to_end/test_captures.py has both.
        assert done.code == 1, done
        assert "there is no fleet 'servers'" in done.err
        return
    if line.startswith("headgate price remove"):
        # Setting one takes a session: tests/unit/test_cli_prices.py removes one.
        assert done.code == 1, done
        assert "there is no price" in done.err
        return
    if line.startswith("headgate dev"):
        # It comes with a release: tests/contract/test_release.py installs one.
        assert done.code == 1, done
        assert "the local service is not installed" in done.err
        return
    assert done.code == 0, done
    assert "Traceback" not in done.err
    if "--detach" in line:
        # Its process would report until the service has been away for half an hour.
        assert "the simulated hosts has ended" in cli.ok("demo", "--remove")
    written = re.search(r"> *([^ ]+)$", line)
    if written:
        assert cli.shell(f"test -s {written[1]}").code == 0
    elif not line.startswith("headgate lsp"):  # its editor has closed the connection
        assert done.out or done.err
