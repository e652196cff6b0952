"""Whatever a server answers in whatever field, no line that the command line prints is one that it wrote."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cli_forked, sizes, traces
from tests.support.answering import Answer, Server
from tests.support.service import ROOT

# As the runner splits its log into lines and reads them (actions/runner, ActionCommand.cs).
LINES = re.compile(r"\r\n|[\r\n]")
V1 = re.compile(r"##\[[^\]]*\]")
FORGED = "edge\n::error::FORGED\r::add-mask::FORGED\n  ::FORGED::a\nFORGED\n##[error]FORGED \x1b[2J\u202e\u200b\x9b"
ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP, RUN = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}", f"run_{ID}"
FINDING = dict.fromkeys(("message", "component_path", "code", "severity"), FORGED) | {"line": 1, "column": 1}
VERSION = {"configuration_id": FORGED, "version_number": 1}
RESULT = dict.fromkeys(("name", "condition", "context", "expect", "message"), FORGED)

PLACE: dict[str, object] = {"component_path": FORGED, "line": 1, "column": 1}
GATE: dict[str, object] = dict.fromkeys(("id", "stage_before", "stage_after", "description"), FORGED)
VERDICT = {"valid": None, "errors": [FINDING, {**FINDING, "line": 2}], "warnings": [FINDING]}

NAMES = """
    id name description updated_at created_at status collector_version yaml configuration_id label type token_expires_at
    deployment_id host_name os arch state last_seen_at state_message command expires_at role namespace slug summary
    author organization_name access distribution version target_pipeline stderr pipeline signal_type user_code
    verification_uri device_code email access_token error note
"""
ENTITY: dict[str, object] = dict.fromkeys(NAMES.split(), FORGED) | {
    "n": 2,
    "latest_version": 2,
    "published_version": 1,
    "version_number": 1,
    "replicas": FORGED,
    "rule_count": 1,
    "evidence": [{"collector_version": FORGED, "finished_at": FORGED}],
    "duration_seconds": 1,
    "checked": 1,
    "valid": False,
    "errors": [FINDING],
    "warnings": [FINDING],
    "skipped": [],
    "notes": [FORGED],
    "signals": [FORGED],
    "tags": [FORGED],
    "assigned": VERSION,
    "running": VERSION,
    "instances": {"total": 1, "applied": FORGED},
    "validation_results": [RESULT | {"matched": 0, "total": 1, "passed": False}],
    "rules": [{"name": FORGED, "condition": FORGED, "api_owned": True}],
    "expires_in": 300,
    "interval": 1,
    "verification_uri_complete": f"http://127.0.0.1:1/{FORGED}",
    "location": {"path": FORGED, "line": 1, "column": 1},
    "from": FORGED,
    "to": FORGED,
    "verdict": {"from": VERDICT, "to": VERDICT},
    "new_errors": [FINDING],
    "new_warnings": [FINDING],
    "renames": [PLACE | {"from": FORGED, "to": FORGED}],
    "not_renamed": [PLACE | {"from": FORGED, "to": FORGED, "reason": FORGED}],
    "deprecations": [PLACE | {"message": FORGED, "new": True}, PLACE | {"message": FORGED, "new": False}],
    "feature_gates": [GATE | {"components": [FORGED]}, GATE | {"components": []}],
    "defaults": [PLACE | {"key": FORGED, "before": FORGED, "after": [FORGED]}],
    "not_checked": [PLACE | dict.fromkeys(("kind", "type", "version"), FORGED)],
    "proposed_yaml": FORGED,
}
CAUSE = {"statement": FORGED, "path": FORGED, "line": None, "column": None}
FIELD = {"path": FORGED, "change": FORGED, "before": FORGED, "after": {FORGED: FORGED}, "by": CAUSE}
STATEMENT = traces.STATEMENT | {"text": FORGED, "line": None, "errors": [{"message": FORGED, "count": 1}]}
STEPS = [
    traces.step(
        n,
        FORGED,
        traces.record(
            1, FORGED, FIELD, traces.field(FORGED, "changed", FORGED, FORGED), name=FORGED, by=[CAUSE, CAUSE]
        ),
        kind=FORGED,
        pipeline=FORGED,
        feeds=[FORGED],
        exact=False,
        statements=[STATEMENT],
    )
    for n in (1, 2)
]
COMMANDS = (
    "whoami",
    "login --token sv_x",
    "config list",
    f"config show {CONFIGURATION}",
    f"config show {CONFIGURATION} --version 1",
    f"config versions {CONFIGURATION}",
    f"config diff {CONFIGURATION}",
    f"config diff {CONFIGURATION} --file edge.yaml",
    f"config publish {CONFIGURATION} --force",
    "config create edge.yaml --no-validate",
    "config create edge.yaml",
    "config push edge.yaml --dry-run --no-validate",
    "config push edge.yaml --no-validate --publish",
    f"config pull {CONFIGURATION} --to pulled",
    "config pull unknown",
    "validate edge.yaml",
    "validate --format github edge.yaml",
    "validate --format sarif edge.yaml",
    "validate --json edge.yaml",
    "lint --notes edge.yaml",
    "upgrade check edge.yaml --to 0.158.0",
    "upgrade check edge.yaml --to 0.158.0 --format github",
    "upgrade check edge.yaml --to 0.158.0 --format sarif",
    "upgrade check edge.yaml --to 0.158.0 --json",
    "upgrade check --all --to 0.158.0",
    f"upgrade check {CONFIGURATION}@2 --to 0.158.0",
    f"upgrade check --group {FLEET} {GROUP} --to 0.158.0",
    "upgrade fix edge.yaml --to 0.158.0",
    "upgrade fix edge.yaml --to 0.158.0 --dry-run",
    f"upgrade fix {CONFIGURATION}@2 --to 0.158.0",
    f"upgrade fix {CONFIGURATION}@2 --to 0.158.0 --save",
    "upgrade bisect edge.yaml",
    f"test show {RUN}",
    "test run edge.yaml --pipeline logs --sample edge.yaml --rule a=true --no-wait",
    f"test steps {RUN}",
    f"test steps {RUN} --record 1",
    f"test steps {RUN} --step 2 --json",
    f"test steps {RUN} --step 2",
    f"test output {RUN}",
    f"test list {CONFIGURATION}",
    f"rules get {CONFIGURATION}",
    f"rules set {CONFIGURATION} rules.yaml",
    "fleet list",
    "fleet create edge",
    f"fleet instances {FLEET}",
    f"fleet install {FLEET}",
    f"deployment list {FLEET}",
    f"deployment create {FLEET} a {CONFIGURATION} --force",
    f"deployment assign {FLEET} {GROUP} {CONFIGURATION} --force",
    f"deployment assign {FLEET} {GROUP} {CONFIGURATION}",
    f"deployment clear {FLEET} {GROUP}",
    f"deployment history {FLEET} {GROUP}",
    f"deployment delete {FLEET} {GROUP}",
    f"deployment check {FLEET} {GROUP} {CONFIGURATION}",
    f"deployment env {FLEET} {GROUP}",
    f"deployment select {FLEET} {GROUP} --label a=b",
    f"fleet delete {FLEET}",
    f"webhook secret whk_{ID}",
    "flow list",
    "flow show edge",
    "flow use edge",
)
# What prints a text as it is, and is refused where the log could take a line of it for a command.
RAW = (
    f"config show {CONFIGURATION} --yaml",
    "flow show edge --yaml",
    f"test output {RUN}",
    f"fleet install {FLEET}",
)


def hostile(asked: str) -> Answer:
    if asked.endswith("/steps"):
        return 200, {}, {"available": True, "complete": False, "left_out": {"records": 1, "bytes": 1}, "items": STEPS}
    if "/steps/" in asked:
        return 200, {}, {**STEPS[1], "next_cursor": None}
    if asked.endswith("/output"):
        return 200, {"Content-Type": "text/plain"}, FORGED.encode()
    listed = re.search(r"/(configurations|versions|instances|deployments|fleets|flows)(\?|$)", asked)
    if asked.startswith("GET") and (listed or asked.endswith("validation-pipelines")):
        return 200, {}, {"items": [ENTITY], "next_cursor": None}
    return 200, {}, {**ENTITY, "items": [ENTITY]}


def refusing(_: str) -> Answer:
    error = {"loc": ["body", FORGED], "message": FORGED}
    return 422, {}, {"detail": FORGED, "code": FORGED, "errors": [error, error]}


def unwelcoming(_: str) -> Answer:
    return 401, {}, {"detail": FORGED, "code": "unauthenticated"}


WAYS = (hostile, refusing, unwelcoming)


def variables(server: Server, folder: Path) -> dict[str, str]:
    (folder / "edge.yaml").write_text("::warning::FORGED\n")
    (folder / "rules.yaml").write_text("logs: [{name: a, condition: b}]\n")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        "HOME": str(folder / "home"),
        "HEADGATE_URL": server.url,
        "SERVICE_API_TOKEN": "sv_x",
        "LANG": "C.UTF-8",
    }


def run(server: Server, folder: Path, line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return cli_forked.run(line.split(), folder, variables(server, folder) | more)


def forged(printed: str, command: str) -> list[str]:
    """The lines that somebody else wrote, or that a runner would obey."""
    ours = "::error " if "--format github" in command else "nothing"
    return [
        line
        for line in LINES.split(printed)
        if line.lstrip().startswith("FORGED")
        or (line.lstrip().startswith("::") and not line.startswith((ours, "::warning " if ours != "nothing" else ours)))
        or V1.search(line)
        or re.search("[\x1b\x9b\u202e\u200b]", line)
    ]


@pytest.mark.sized
@pytest.mark.parametrize("at", range(len(WAYS)), ids=[way.__name__ for way in WAYS])
def test_no_line_is_one_that_the_server_wrote(server: Server, tmp_path: Path, at: int) -> None:
    server.answering = WAYS[at]
    commands = sizes.either(COMMANDS[at :: len(WAYS)], COMMANDS)
    done = {line: run(server, tmp_path, line, GITHUB_ACTIONS="true") for line in commands}
    printed = {line: (one.stderr + one.stdout).decode() for line, one in done.items()}

    assert {line: said for line, said in printed.items() if "Traceback" in said or not said.strip()} == {}
    assert {line: lines for line, said in printed.items() if (lines := forged(said, line))} == {}


@pytest.mark.parametrize("line", RAW)
def test_a_text_as_it_is_goes_to_a_file_and_not_to_the_log_of_a_workflow(
    server: Server, tmp_path: Path, line: str
) -> None:
    server.answering = hostile
    refused = run(server, tmp_path, line, GITHUB_ACTIONS="true")

    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"would run a line of this text as a command: write it to a file with `> FILE`" in refused.stderr
    assert run(server, tmp_path, line).stdout.rstrip(b"\n") == FORGED.encode()
    with (tmp_path / "out").open("wb") as out:
        written = subprocess.run(
            [sys.executable, "-m", "headgate_cli.main", *line.split()],
            env=variables(server, tmp_path) | {"GITHUB_ACTIONS": "true"},
            stdout=out,
            check=False,
            timeout=60,
        )
    assert written.returncode == 0
    assert (tmp_path / "out").read_bytes().rstrip(b"\n") == FORGED.encode()


def test_a_harmless_text_is_printed_in_a_workflow(server: Server, tmp_path: Path) -> None:
    server.answers = [(200, {"Content-Type": "text/plain"}, b"a: ::b\n## [x]\n##[ x ]\nstd::move\n")]
    done = run(server, tmp_path, f"test output {RUN}", GITHUB_ACTIONS="true")

    assert done.stdout == b"a: ::b\n## [x]\n##[ x ]\nstd::move\n"
