"""The action `check` and the workflows: their syntax by actionlint, and the action's script as a job runs it."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.cli_support import BROKEN, EDGE
from tests.support.service import ROOT

pytestmark = pytest.mark.contract

TEST = """\
sample: one
rules:
  - name: team
    condition: log.attributes["team"] == "edge"
"""
# Where the programs are that the tests' environment brings: `headgate`, `shellcheck`.
PROGRAMS = Path(sys.executable).parent
# A name that would be commands of the job's shell and of its log.
HOSTILE = "configurations/$(touch pwned) ::error::x\nresult=passed.yaml"

# The condition on which the workflow's token is sent to a registry.
OUR_REGISTRY = "startsWith(vars.HEADGATE_REGISTRY, 'ghcr.io/')"


@dataclass(frozen=True)
class Job:
    """How the script ended: its log, its summary for people, and its outputs."""

    code: int
    log: str
    summary: str
    outputs: dict[str, str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with one configuration and its test, as a pull request from a fork finds it."""
    folder = tmp_path / "repository"
    (folder / "configurations" / "edge.tests").mkdir(parents=True)
    (folder / "configurations" / "edge.yaml").write_text(EDGE)
    (folder / "configurations" / "edge.tests" / "team.yaml").write_text(TEST)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Change")


def check(folder: Path, **inputs: str) -> Job:
    """Run the script with the action's default inputs, without a server and without a secret."""
    runner = folder.with_name("runner")
    shutil.rmtree(runner, ignore_errors=True)
    runner.mkdir()
    given = {"FILES": "configurations/*.yaml", "FOLDER": "configurations", "BASE": "", "POLICIES": "false"}
    given |= {"COLLECTOR_VERSION": "", "HEADGATE_URL": "", "SERVICE_API_TOKEN": ""}
    files = {name: str(runner / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {**os.environ, **given, **inputs, **files, "RUNNER_TEMP": str(runner), "HOME": str(runner)}
    environment["PATH"] = f"{PROGRAMS}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", ROOT / "check" / "check.sh"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    outputs = dict(re.findall("^(.*?)=(.*)$", (runner / "GITHUB_OUTPUT").read_text(), re.MULTILINE))
    return Job(done.returncode, done.stdout + done.stderr, (runner / "GITHUB_STEP_SUMMARY").read_text(), outputs)


def put_together(folder: Path, *, wheels: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the release's step on what both builds upload, as GitHub's runner does. Some files of theirs share a name."""
    for architecture, content in wheels.items():
        built = folder / "built" / f"dist-{architecture}"
        built.mkdir(parents=True)
        (built / "headgate-1.0.0-py3-none-any.whl").write_text(content)
        (built / f"headgate-supervisor-1.0.0-linux-{architecture}").write_text(architecture)
        names = sorted(path.name for path in built.iterdir())
        (built / "SHA256SUMS").write_bytes(subprocess.check_output(["sha256sum", *names], cwd=built))
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["publish"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "Put the architectures together"]
    return subprocess.run(["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


def test_actionlint_finds_nothing() -> None:
    actionlint = subprocess.check_output([ROOT / "scripts" / "ensure_actionlint"], text=True).strip()
    done = subprocess.run([actionlint, "-no-color"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_shellcheck_finds_nothing() -> None:
    scripts = [*(ROOT / "check").glob("*.sh"), ROOT / "scripts" / "go_tool"]
    done = subprocess.run([PROGRAMS / "shellcheck", *scripts], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_no_input_becomes_a_part_of_a_command() -> None:
    steps = yaml.safe_load((ROOT / "check" / "action.yml").read_text())["runs"]["steps"]

    assert not [step for step in steps if "${{" in step.get("run", "")]


def test_no_workflow_names_an_owner_or_a_registry() -> None:
    variables = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        variables |= set(re.findall(r"\b(?:vars|secrets)\.(\w+)", path.read_text()))
        named = path.read_text().replace(OUR_REGISTRY, "")
        assert not re.search(r"ghcr\.io|docker\.io|pypi\.org", named), path
    documented = (ROOT / "docs" / "releasing.md").read_text()

    assert variables
    assert all(f"`{name}`" in documented for name in variables)


def test_a_release_has_the_files_of_both_architectures(tmp_path: Path) -> None:
    done = put_together(tmp_path, wheels={"amd64": "the same", "arm64": "the same"})

    assert done.returncode == 0, done
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == [
        "SHA256SUMS",
        "headgate-1.0.0-py3-none-any.whl",
        "headgate-supervisor-1.0.0-linux-amd64",
        "headgate-supervisor-1.0.0-linux-arm64",
    ]
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path / "dist", check=True)


def test_wheels_for_all_that_differ_are_not_released(tmp_path: Path) -> None:
    done = put_together(tmp_path, wheels={"amd64": "one", "arm64": "another"})

    assert done.returncode == 1
    assert "headgate-1.0.0-py3-none-any.whl" in done.stdout + done.stderr
    assert not list((tmp_path / "dist").iterdir())


def test_the_workflows_token_goes_to_no_registry_but_githubs() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    (images,) = [step for step in jobs["publish"]["steps"] if step.get("name") == "Publish the images"]
    given = {name: " ".join(value.split()) for name, value in images["env"].items() if "github.token" in value}
    password = f"${{{{ secrets.HEADGATE_REGISTRY_PASSWORD || ({OUR_REGISTRY} && github.token) || '' }}}}"

    assert given == {"REGISTRY_PASSWORD": password}


def test_what_uploads_wheels_has_no_other_right() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    uploading = [job for job in jobs.values() if "gh-action-pypi-publish" in str(job["steps"])]

    assert [job["permissions"] for job in uploading] == [{"id-token": "write"}]


@pytest.mark.full
def test_a_change_that_is_right_passes_and_is_compared(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "change")
    edge = repository / "configurations" / "edge.yaml"
    edge.write_text(EDGE.replace('attributes["team"], "edge"', 'attributes["owner"], "edge"'))
    (repository / "configurations" / "edge.tests" / "team.yaml").write_text(TEST.replace('"team"', '"owner"'))
    commit(repository)
    job = check(repository, BASE="main")

    assert (job.code, job.outputs["result"], job.outputs["differs"]) == (0, "passed", "true"), job
    assert "- Validate: passed\n- Lint: passed\n- Test: passed\n" in job.summary
    assert "owner" in Path(job.outputs["comparison"]).read_text()
    assert ElementTree.parse(job.outputs["junit"]).getroot().get("failures") == "0"
    assert '"executionSuccessful": true' in Path(job.outputs["sarif"]).read_text()


def test_a_finding_is_an_annotation_and_fails_the_check(repository: Path) -> None:
    (repository / "configurations" / "wrong.yaml").write_text(BROKEN)
    job = check(repository)

    assert (job.code, job.outputs["result"]) == (0, "failed"), job
    assert re.search(r"^::error file=configurations/wrong\.yaml,.*line=6,", job.log, re.MULTILINE), job.log
    assert "- Validate: **failed**" in job.summary
    assert '"level": "error"' in Path(job.outputs["sarif"]).read_text()


def test_a_file_name_is_nothing_but_a_name(repository: Path) -> None:
    (repository / HOSTILE).write_text(BROKEN)
    job = check(repository, FOLDER="")

    assert job.outputs["result"] == "failed", job
    assert not (repository / "pwned").exists()
    assert not re.search("^::error::x", job.log, re.MULTILINE)


def test_patterns_without_files_fail(repository: Path) -> None:
    job = check(repository, FILES="elsewhere/*.yaml", FOLDER="")

    assert (job.outputs, "No file matches" in job.log) == ({"result": "failed"}, True)


def installing(folder: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the script that installs, with a `python` that only notes its arguments; they are the second result."""
    noted = folder / "noted"
    (folder / "python").write_text(f"#!/bin/sh\necho \"$*\" >>'{noted}'\necho 0.1.0\n")
    (folder / "python").chmod(0o755)
    environment = {**os.environ, "HAS_SERVER": "false", "FIND_LINKS": "", "INDEX_URL": "", **inputs}
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    command = ["bash", str(ROOT / "check" / "install.sh")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done, noted.read_text().splitlines()


def test_without_a_server_and_a_wheel_the_way_out_is_named(tmp_path: Path) -> None:
    done, _ = installing(tmp_path)

    assert done.returncode == 1
    assert (
        "::error::Without a server and a token, the check needs a collector: set find-links or index-url" in done.stdout
    )


@pytest.mark.parametrize(
    ("inputs", "place"),
    [
        ({"FIND_LINKS": "dist"}, "--no-index --find-links dist"),
        ({"INDEX_URL": "https://packages.example.com/"}, "--index-url https://packages.example.com/"),
    ],
)
def test_the_collectors_wheel_comes_from_the_named_place_alone(
    tmp_path: Path, inputs: dict[str, str], place: str
) -> None:
    done, (_, _, first, second) = installing(tmp_path, **inputs)

    assert done.returncode == 0, done
    assert first.endswith(f" --no-deps {place} headgate-collector==0.1.0")
    assert second.endswith(" headgate-collector==0.1.0")


def test_installing_runs_nothing_of_the_pull_request(tmp_path: Path) -> None:
    _, noted = installing(tmp_path, FIND_LINKS="dist")

    assert noted
    assert all(line.startswith("-P ") for line in noted)


def test_what_is_installed_does_not_see_the_token() -> None:
    steps = yaml.safe_load((ROOT / "check" / "action.yml").read_text())["runs"]["steps"]
    (install,) = [step for step in steps if step.get("name") == "Install Headgate"]

    assert set(install["env"]) == {"HAS_SERVER", "FIND_LINKS", "INDEX_URL"}
    assert install["env"]["HAS_SERVER"] == "${{ inputs.url != '' && inputs.token != '' }}"
