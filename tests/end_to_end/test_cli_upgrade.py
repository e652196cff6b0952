"""`headgate upgrade` on the running service, with its real collectors."""

import re
from pathlib import Path
from typing import Final

import pytest

from headgate.foundation.settings import settings
from tests.support.cli_support import BROKEN, EDGE, Cli
from tests.support.second_version import needs_second_version, older_and_newer

DEFAULT: Final = settings().collector_version
OLDER, NEWER = older_and_newer()

pytestmark = pytest.mark.end_to_end

# Comments, quotes, a flow, an anchor and Windows line ends: what a rewritten text would lose.
RENAMED = """\
# filelog reads files
receivers:
  filelog: &tail {include: [/var/log/filelog.log]}   # filelog
  "filelog/quoted": *tail\r
exporters:
    otlphttp:   {endpoint: 'https://otlphttp.example.com'}
service:
  pipelines: {logs: {receivers: ['filelog', "filelog/quoted"], exporters: [ otlphttp ]}}
"""
# No version calls one of these by another name.
CURRENT = """\
receivers: {otlp: {protocols: {grpc: {}}}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}
"""
FIXED = """\
# filelog reads files
receivers:
  file_log: &tail {include: [/var/log/filelog.log]}   # filelog
  "file_log/quoted": *tail\r
exporters:
    otlp_http:   {endpoint: 'https://otlphttp.example.com'}
service:
  pipelines: {logs: {receivers: ['file_log', "file_log/quoted"], exporters: [ otlp_http ]}}
"""


def created(cli: Cli, name: str, yaml: str, *, publish: bool = False) -> str:
    with cli.api() as api:
        configuration_id: str = api.post("/configurations", json={"name": name, "yaml": yaml}).json()["id"]
        if publish:
            assert api.post(f"/configurations/{configuration_id}/versions/1/publish").is_success
    return configuration_id


def test_on_the_same_version_nothing_differs(cli: Cli) -> None:
    cli.write("edge.yaml", CURRENT)
    done = cli.run("upgrade", "check", "edge.yaml", "--to", DEFAULT)

    assert (done.code, done.out) == (0, f"edge.yaml: works on {DEFAULT}, with nothing to rename\n")


def test_what_is_invalid_already_is_not_called_an_effect_of_the_upgrade(cli: Cli) -> None:
    cli.write("edge.yaml", BROKEN)
    done = cli.run("upgrade", "check", "edge.yaml", "--to", DEFAULT)

    assert done.code == 1
    assert done.out.startswith(f"edge.yaml: is invalid on {DEFAULT}, and on {DEFAULT} already: 1 error")
    assert done.out.splitlines()[1].startswith("edge.yaml:6:14: error: ")


def test_a_stored_version_and_a_group_are_checked(cli: Cli) -> None:
    configuration_id = created(cli, "edge", EDGE, publish=True)
    with cli.api() as api:
        fleet = api.post("/fleets", json={"label": "servers", "type": "server-supervisor"}).json()["id"]
        group = {"name": "web", "configuration_id": configuration_id, "version_number": 1}
        assert api.post(f"/fleets/{fleet}/deployments", json=group).is_success

    assert cli.ok("upgrade", "check", "edge@1", "--to", DEFAULT).startswith("edge@1: works on")
    assert cli.ok("upgrade", "check", "--all", "--to", DEFAULT).startswith("edge@1: works on")
    assert cli.ok("upgrade", "check", "--group", "servers", "web", "--to", DEFAULT).startswith("servers/web: works on")
    done = cli.run("upgrade", "check", "--group", "servers", "Default", "--to", DEFAULT)
    assert (done.code, done.out) == (1, "")
    assert "No version is assigned to this deployment group" in done.err


def test_a_version_that_is_not_installed_is_named_with_those_that_are(cli: Cli) -> None:
    cli.write("edge.yaml", EDGE)
    done = cli.run("upgrade", "check", "edge.yaml", "--to", "0.1.2")

    assert done.code == 1
    named = re.search(r"Collector version 0\.1\.2 is not installed; installed: (.*)", done.err)
    assert named is not None
    assert DEFAULT in named[1].split(", ")


@needs_second_version
def test_the_collectors_own_renames_are_reported(cli: Cli) -> None:
    cli.write("edge.yaml", RENAMED)
    done = cli.run("upgrade", "check", "edge.yaml", "--to", NEWER)

    assert done.code == 0
    assert done.out.splitlines()[0].startswith(f"edge.yaml: works on {NEWER}, but: 3 renames")
    assert re.findall(r"^edge\.yaml:(\d+):\d+: warning: (\w+) is called (\w+) on", done.out, re.MULTILINE) == [
        ("3", "filelog", "file_log"),
        ("4", "filelog", "file_log"),
        ("6", "otlphttp", "otlp_http"),
    ]
    assert cli.run("upgrade", "check", "edge.yaml", "--to", NEWER, "--strict").code == 1


@needs_second_version
def test_a_fix_changes_the_named_bytes_only_and_the_newer_collector_has_nothing_more_to_rename(cli: Cli) -> None:
    file: Path = cli.write("edge.yaml", RENAMED)
    done = cli.run("upgrade", "fix", "edge.yaml", "--to", NEWER)

    assert (done.code, file.read_bytes()) == (0, FIXED.encode())
    assert done.err.splitlines()[0] == "edge.yaml: filelog → file_log (4 places), otlphttp → otlp_http (2 places)"
    again = cli.run("upgrade", "check", "edge.yaml", "--from", NEWER, "--to", NEWER)
    assert (again.code, again.out) == (0, f"edge.yaml: works on {NEWER}, with nothing to rename\n")
    back = cli.run("upgrade", "fix", "edge.yaml", "--to", OLDER)
    assert (back.code, file.read_bytes()) == (0, RENAMED.encode()), back


@needs_second_version
def test_a_fixed_version_is_saved_as_a_draft_for_the_newer_collector(cli: Cli) -> None:
    configuration_id = created(cli, "shop", RENAMED, publish=True)
    shown = cli.run("upgrade", "fix", "shop@1", "--to", NEWER)
    assert "+  file_log: &tail" in shown.out
    assert cli.versions(configuration_id) == [RENAMED]

    assert cli.ok("upgrade", "fix", "shop@1", "--to", NEWER, "--save") == (
        f"shop v2 is saved as a draft for collector {NEWER}\n"
    )
    assert cli.versions(configuration_id) == [RENAMED, FIXED]
    with cli.api() as api:
        draft = api.get(f"/configurations/{configuration_id}/versions/2").json()
    assert (draft["status"], draft["collector_version"]) == ("draft", NEWER)
    assert cli.run("upgrade", "check", "shop", "--to", NEWER, "--strict").code == 0


@needs_second_version
def test_the_version_that_does_not_know_the_new_names_is_found(cli: Cli) -> None:
    cli.write("edge.yaml", RENAMED)
    done = cli.run("upgrade", "bisect", "edge.yaml", "--good", OLDER, "--bad", NEWER)
    assert (done.code, done.out) == (0, f"edge.yaml: no installed version up to {NEWER} breaks it\n")

    cli.write("edge.yaml", FIXED)
    done = cli.run("upgrade", "bisect", "edge.yaml", "--good", OLDER, "--bad", NEWER)
    assert done.code == 1
    assert f"edge.yaml is invalid on {OLDER} already" in done.err


# It has one topic for each signal; the newer collector takes lists of topics only.
TOPIC = """\
receivers:
  kafka: {brokers: [localhost:9092], logs: {topic: app-logs}}
exporters:
  debug: {}
service:
  pipelines:
    logs: {receivers: [kafka], exporters: [debug]}
"""


@needs_second_version
def test_a_text_that_breaks_is_shown_with_its_place_and_the_version_is_found(cli: Cli) -> None:
    cli.write("kafka.yaml", TOPIC)
    done = cli.run("upgrade", "check", "kafka.yaml", "--from", OLDER, "--to", NEWER)
    assert done.code == 1
    assert done.out.splitlines()[0].startswith(f"kafka.yaml: breaks on {NEWER}: 1 new error")
    assert re.match(r"kafka\.yaml:2:45: error: .*topic.* \[unknown_key\]", done.out.splitlines()[1])

    annotated = cli.run("upgrade", "check", "kafka.yaml", "--from", OLDER, "--to", NEWER, "--format", "github")
    assert annotated.out.startswith("::error file=kafka.yaml,title=unknown_key,line=2,col=45::")

    found = cli.run("upgrade", "bisect", "kafka.yaml", "--good", OLDER, "--bad", NEWER)
    assert found.code == 1
    assert found.out.splitlines()[0] == f"kafka.yaml: {NEWER} is the first installed version that breaks it"
    assert "[unknown_key]" in found.out


@needs_second_version
def test_a_fixed_file_is_pushed_for_the_newer_version_as_fix_says(cli: Cli) -> None:
    cli.write("shop.yaml", RENAMED)
    cli.ok("config", "push", "shop.yaml", "--publish", "--collector-version", OLDER)
    fixed = cli.run("upgrade", "fix", "shop.yaml", "--to", NEWER)
    refused = cli.run("config", "push", "shop.yaml")
    next_command = f"headgate config push shop.yaml --collector-version {NEWER}"

    assert fixed.err.splitlines()[-1] == f"Next: {next_command}"
    assert refused.code == 1
    assert f"shop.yaml: collector {OLDER} refuses it; for another version, use --collector-version" in refused.err
    assert cli.ok(*next_command.split()[1:]) == f"shop.yaml: shop v2, for collector {NEWER}\n"
    assert cli.ok("config", "push", "shop.yaml", "--publish") == "shop.yaml: shop v2, unchanged, published\n"


def test_a_required_value_is_given_to_checks_and_pushes(cli: Cli) -> None:
    kafka = 'exporters:\n  kafka: {auth: {sasl: {username: u, mechanism: PLAIN, password: "${env:PASSWORD}"}}}\n'
    cli.write("kafka.yaml", kafka + CURRENT.replace("exporters: {debug: {}}\n", "").replace("[debug]", "[kafka]"))
    value = ("--env", "PASSWORD=x")

    assert cli.run("config", "push", "kafka.yaml").code == 1
    assert cli.run("upgrade", "check", "kafka.yaml", "--to", DEFAULT).code == 1
    cli.ok("upgrade", "check", ".", "--to", DEFAULT, *value)
    cli.ok("config", "push", ".", *value)
    cli.ok("upgrade", "check", "kafka@1", "--to", DEFAULT, *value)
