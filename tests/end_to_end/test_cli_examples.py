"""Every example of every command's `--help`, as it stands there, on the running service."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pexpect
import pytest
import yaml

from headgate.settings import settings
from headgate_cli.main import headgate
from tests.support.cli_support import EDGE, Cli
from tests.support.second_version import second_version
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

SERVER = "https://headgate.example.com"
RUN = "run_01..."
INTERRUPTS = 30
# Commands whose examples need nothing on the server.
ALONE = {
    *("login", "logout", "whoami", "completion", "flow", "validate", "lint"),
    *("component", "schema", "ottl", "lsp"),
}
COLLECTOR = Path(settings().collectors_dir) / settings().collector_version / "otelcol-contrib"
RULE = {"name": "all have a body", "condition": "log.body != nil", "expect": "all"}
TEAM = {"name": "each names the team", "condition": 'log.attributes["team"] == "edge"', "expect": "all"}
TEST = {"sample": "a line", "rules": [RULE, TEAM]}
GATEWAY = EDGE.replace("filelog:\n    include: [/var/log/app.log]", "otlp:\n    protocols: {grpc: {}}").replace(
    "[filelog]", "[otlp]"
)


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from commands(found, (*path, name))


COMMANDS = dict(commands(headgate, ("headgate",)))


def examples(command: click.Command) -> list[str]:
    _, _, block = (command.help or "").partition("Examples:\n")
    return [line.strip() for line in block.splitlines() if line.strip()]


EXAMPLES = list(dict.fromkeys(line for command in COMMANDS.values() for line in examples(command)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_of_its_own(path: tuple[str, ...]) -> None:
    shown = examples(COMMANDS[path])

    assert shown
    assert all(re.search(rf"\b{' '.join(path)}\b", line) for line in shown), shown


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_in_the_reference(path: tuple[str, ...]) -> None:
    assert f"`{' '.join(path)}" in (ROOT / "docs" / "cli.md").read_text()


@pytest.mark.parametrize("path", [path for path, one in COMMANDS.items() if not isinstance(one, click.Group)])
def test_every_command_that_prints_a_result_can_print_json(path: tuple[str, ...]) -> None:
    """All but those whose result is a text, or a login."""
    texts = {"login", "logout", "completion", "diff", "output", "stderr", "schema", "lsp"}
    options = {option for one in COMMANDS[path].params for option in one.opts}

    is_text = path[-1] in texts and path[1:] != ("test", "diff")
    assert ("--json" in options) != is_text


def furnish(cli: Cli, line: str) -> str:
    """Make what the line names, but not what it makes. Returns the line with what only this server knows."""
    words = shlex.split(line.replace("|", " "))
    about = words[words.index("headgate") + 1 :]
    home = cli.folder.parent / "home"
    (home / ".local/share/bash-completion/completions").mkdir(parents=True)
    (home / ".zfunc").mkdir()
    for name in ("collector.yaml", "configurations/one.yaml", "configurations/two.yaml"):
        cli.write(name, EDGE)
    cli.write("gateway.yaml", GATEWAY)
    cli.write("edge.yaml", EDGE + "# later\n")
    cli.write("sample.log", "first line\nsecond line\n")
    cli.write("test.env", "TIMEOUT=6s\n")
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

        called = {"deployment": "shop"}.get(about[0], "edge")
        if about[:2] == ["config", "create"]:
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
            cli.write("policies.yaml", cli.ok("policy", "get"))
        if about[:1] in (["rules"], ["test"]):
            for n in (3, 4):
                saved = {"signal_type": "logs", "rules": [RULE]}
                assert api.put(f"{path}/{n}/validation-pipelines/logs", json=saved).is_success
            cli.write("rules.yaml", cli.ok("rules", "get", "edge"))
        if RUN in line:
            run = {"signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1, "rules": [RULE]}
            run["trace"] = True
            started = post("/testing/runs", configuration_id=edge, version_number=3, sample="a line\n" * 3, **run)["id"]
            cli.ok("test", "show", started, "--wait")
            line = line.replace(RUN, started)
        if about[:1] == ["deployment"]:
            gateway = post("/configurations", name="intake", yaml=GATEWAY)["id"]
            post(f"/configurations/{gateway}/versions/1/publish")
        if about[0] == "deployment" or (about[0] == "fleet" and about[1] != "create"):
            fleet = post("/fleets", label="servers" if about[0] == "deployment" else "edge", type="server-supervisor")[
                "id"
            ]
            post("/fleets", label="clusters", type="kubernetes-supervisor")
            if about[:2] != ["deployment", "create"]:
                post(f"/fleets/{fleet}/deployments", name="canary", configuration_id=edge, version_number=3)
    return line


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_example_works(cli: Cli, line: str) -> None:
    newer = second_version()
    if newer is None and "bisect" in line:
        pytest.skip("no second collector is installed to search")
    line = line.replace("0.158.0", newer or settings().collector_version)
    line = furnish(cli, line)
    if line.startswith("headgate login") and "--token" not in line:
        # The rest takes a person; tests/end_to_end/test_login.py has one.
        child = cli.spawn("bash", ["-c", line], 120, {"BROWSER": "false"})
        child.expect("Open this address|Approve this login")
        # A Ctrl-C that comes before the prompt waits for a code can be lost: send it until the process has ended.
        for _ in range(INTERRUPTS):
            child.sendintr()
            if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=2) == 0:
                break
        child.close(force=True)
        assert child.exitstatus == 130, child.signalstatus
        return
    done = cli.shell(line, HEADGATE_COLLECTORS_DIR=settings().collectors_dir)

    if line.startswith("headgate policy set"):
        # The rest takes an Admin's login; tests/end_to_end/test_publish_requirements.py has one.
        assert done.code == 3, done
        return
    assert done.code == 0, done
    assert "Traceback" not in done.err
    written = re.search(r"> *([^ ]+)$", line)
    if written:
        assert cli.shell(f"test -s {written[1]}").code == 0
    elif not line.startswith("headgate lsp"):  # its editor has closed the connection
        assert done.out or done.err
