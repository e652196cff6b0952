"""What components do that a text can bring to act: the real collector, in each tier, asked to run, read and leak.

`tests/unit/test_checker_abuse.py` makes the system calls themselves.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.checker import CheckerFailed
from headgate.foundation.settings import settings
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.plain_command import PlainCommand
from headgate_engine.checker.spawn import MEANS

pytestmark = [pytest.mark.contract, pytest.mark.collector]

# The exploit of the hostile review: an extension that executes what AWS's configuration file says, the file being this
# very text, which the plain command has in its folder.
EXECUTING = """\
extensions: {sigv4auth: {region: us-east-1}}
receivers: {nop: {}}
exporters: {otlphttp: {endpoint: "http://localhost:1", auth: {authenticator: sigv4auth}}}
service:
  extensions: [sigv4auth]
  pipelines: {traces: {receivers: [nop], exporters: [otlphttp]}}
---
x: |
  # ${env:AWS_CONFIG_FILE} ${env:AWS_SHARED_CREDENTIALS_FILE} ${env:PATH}
  [default]
  credential_process = id
"""
PICKED = {"AWS_CONFIG_FILE": "collector.yaml", "AWS_SHARED_CREDENTIALS_FILE": "none", "PATH": "/usr/bin:/bin"}
READING = """\
receivers: {{prometheus: {{config: {{scrape_config_files: ["{path}"]}}}}}}
exporters: {{nop: {{}}}}
service: {{pipelines: {{metrics: {{receivers: [prometheus], exporters: [nop]}}}}}}
"""
PERCENTAGES_AND_ZONES = """\
receivers:
  filelog:
    include: [sample]
    operators:
      - type: regex_parser
        regex: "^(?P<time>.*)$"
        timestamp: {parse_from: attributes.time, layout: "%Y", location: LOCATION}
processors: {memory_limiter: {check_interval: 1s, limit_percentage: 80, spike_limit_percentage: 20}}
exporters: {nop: {}}
service: {pipelines: {logs: {receivers: [filelog], processors: [memory_limiter], exporters: [nop]}}}
"""


@pytest.fixture(scope="module")
def binary() -> Path:
    return Installed(Path(settings().collectors_dir)).binary(settings().collector_version)


@pytest.fixture(
    scope="module",
    params=[MEANS, ("root", "user"), ("landlock",), ()],
    ids=["all that there is", "no namespaces", "Landlock alone", "system calls alone, as in Lambda"],
)
def child(binary: Path, request: pytest.FixtureRequest) -> Iterator[Child]:
    started = Child.start(binary, Limits(), request.param)
    yield started
    started.kill()


@pytest.fixture(params=[MEANS, ("root",), ("landlock",)], ids=["all that there is", "root directory", "Landlock alone"])
def plain(request: pytest.FixtureRequest) -> PlainCommand:
    return PlainCommand(Limits(), request.param)


def said_by(child: Child, yaml: str, env: dict[str, str]) -> str:
    return str(child.ask("validate", {"yaml": yaml, "env": env}, 120))


def test_no_text_has_the_check_process_execute_a_program(child: Child) -> None:
    said = said_by(child, EXECUTING, PICKED)

    assert "no EC2 IMDS role found" in said
    assert "process provider" not in said


def test_no_text_has_the_plain_command_execute_a_program(plain: PlainCommand, binary: Path) -> None:
    said = plain.validate(binary, EXECUTING, PICKED).message

    assert "no EC2 IMDS role found" in said
    assert "process provider" not in said


def test_where_a_component_would_execute_one_the_kernel_refuses(
    plain: PlainCommand, binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the caller's variables were the environment, as they were once."""
    monkeypatch.setattr("headgate_engine.checker.plain_command._ENVIRONMENT", PICKED)

    said = plain.validate(binary, EXECUTING, {}).message

    assert "process provider error: error in credential_process" in said
    assert "uid=" not in said


@pytest.mark.parametrize("path", ["/etc/hosts", "/etc/passwd", "/proc/self/environ", "{secret}"])
def test_no_text_has_the_check_process_read_a_file(child: Child, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_text("secret: of the host\n")

    said = said_by(child, READING.format(path=path.format(secret=tmp_path / "secret")), {})

    assert "cannot unmarshal" not in said  # with which it quotes what it read


@pytest.mark.parametrize("path", ["/etc/hosts", "/etc/passwd", "/proc/self/environ", "{secret}"])
def test_no_text_has_the_plain_command_read_a_file(
    plain: PlainCommand, binary: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret").write_text("secret: of the host\n")

    said = plain.validate(binary, READING.format(path=path.format(secret=tmp_path / "secret")), {}).message

    assert "cannot unmarshal" not in said


@pytest.mark.parametrize(("location", "valid"), [("Europe/Berlin", True), ("Europe/Nowhere", False)])
def test_memory_and_time_zones_are_known_without_files(
    child: Child, plain: PlainCommand, binary: Path, location: str, valid: bool
) -> None:
    text = PERCENTAGES_AND_ZONES.replace("LOCATION", location)

    assert child.ask("validate", {"yaml": text, "env": {}}, 120)["valid"] is valid
    assert plain.validate(binary, text, {}).valid is valid


def test_a_message_of_the_plain_command_names_the_callers_variable(plain: PlainCommand, binary: Path) -> None:
    text = READING.format(path="x").replace("nop: {}", "debug: {verbosity: '${env:AWS_CONFIG_FILE}'}", 1)

    said = plain.validate(binary, text.replace("[nop]", "[debug]"), {"AWS_CONFIG_FILE": "loud"}).message

    assert "loud" in said


def test_where_nothing_holds_the_plain_command_to_its_files_there_is_no_verdict(binary: Path) -> None:
    with pytest.raises(CheckerFailed, match="nothing on this machine holds it to its own files"):
        PlainCommand(Limits(), ()).validate(binary, EXECUTING, PICKED)
