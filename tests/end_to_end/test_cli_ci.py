"""The installed command, and docs/ci.md: its workflow's steps run by a shell, its hooks by pre-commit."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from headgate_cli import VERSION
from tests.support.cli_support import BROKEN, EDGE, Cli, Done
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

PACKAGED = ("pyproject.toml", "README.md", ".pre-commit-hooks.yaml", "cli", "engine")
TEST = """\
sample: one
rules:
  - name: team
    condition: log.attributes["team"] == "edge"
"""
REPOSITORY = "https://github.com/YOUR-ORGANIZATION/headgate"
SOURCE = f"headgate @ git+{REPOSITORY}@v{VERSION}"


def run(command: list[str], folder: Path, **environment: str) -> Done:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HEADGATE"))}
    # What is imported is compiled then; the rest of what is installed is not.
    variables["PIP_NO_COMPILE"] = "1"
    done = subprocess.run(
        command, cwd=folder, env=variables | environment, capture_output=True, text=True, check=False, timeout=300
    )
    return Done(done.returncode, done.stdout, done.stderr)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    done = run(["git", *identity, *arguments], folder)
    assert done.code == 0, done
    return done.out.strip()


def documented(beginning: str) -> dict[str, object]:
    """The YAML of docs/ci.md that begins so."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs" / "ci.md").read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [one for one in blocks if one.startswith(beginning)]
    found: dict[str, object] = yaml.safe_load(block)
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of what is packaged, as pip and pre-commit clone it."""
    folder = tmp_path_factory.mktemp("package")
    for name in PACKAGED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Package the command line")
    git(folder, "tag", f"v{VERSION}")
    return folder


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a new virtual environment."""
    folder = tmp_path_factory.mktemp("fresh")
    assert run([sys.executable, "-m", "virtualenv", "--no-download", str(folder)], folder).code == 0
    return folder / "bin"


def steps(job: str) -> list[tuple[str, str]]:
    """Name and command of the job's steps that run one."""
    jobs = documented("name: Collector configurations")["jobs"]
    assert isinstance(jobs, dict)
    return [(step["name"], step["run"]) for step in jobs[job]["steps"] if "run" in step]


# test_action.py runs the action that the workflow calls.
@pytest.mark.full
def test_the_workflows_steps_run_in_a_fresh_environment(cli: Cli, package: Path, fresh: Path) -> None:
    cli.write("configurations/edge.yaml", EDGE)
    cli.write("configurations/edge.tests/one.yaml", TEST)
    cli.ok("config", "push", "configurations")
    cli.write("configurations/edge.yaml", EDGE.replace("5s", "6s"))
    variables = {
        "PATH": f"{fresh}:{os.environ['PATH']}",
        "HEADGATE_URL": cli.url,
        "SERVICE_API_TOKEN": cli.token,
        "GITHUB_SHA": "0123abc",
    }

    def step(command: str) -> Done:
        here = command.replace(SOURCE, f"git+file://{package}@v{VERSION}")
        assert here == command or command.startswith("pip install")
        return run(["bash", "-eo", "pipefail", "-c", here], cli.folder, **variables)

    for job in ("check", "test", "publish"):
        for name, command in steps(job):
            # Every job installs the same.
            if command.startswith("pip") and job != "check":
                continue
            done = step(command)
            assert done.code == 0, (name, done)
    assert run([str(fresh / "headgate"), "--version"], cli.folder).out == f"headgate, version {VERSION}\n"
    assert run([str(fresh / "headgate"), "--help"], cli.folder).code == 0
    with cli.api() as api:
        (edge,) = api.get("/configurations").json()["items"]
        assert (edge["latest_version"], edge["published_version"]) == (2, 2)
        assert api.get(f"/configurations/{edge['id']}/versions/2").json()["description"] == "Commit 0123abc"

    # A second commit, and headgate.json as the first one left it in git.
    cli.write("configurations/edge.yaml", EDGE.replace("5s", "7s"))
    published = step(dict(steps("publish"))["Publish what changed"])
    assert published.out == "configurations/edge.yaml: edge v3, published\n"

    cli.write("configurations/edge.yaml", BROKEN)
    validated = step(dict(steps("check"))["Validate"])
    assert validated.code == 1
    assert validated.out.startswith("::error file=configurations/edge.yaml,title=invalid_value,line=6,col=14::")

    cli.write("configurations/edge.yaml", EDGE.replace("edge", "ledge"))
    tested = step(dict(steps("test"))["Test"])
    assert tested.code == 1
    assert tested.out.startswith("::error file=configurations/edge.tests/one.yaml,title=test_failed,line=3::one: team")


def test_a_draft_is_tested_before_it_is_published(cli: Cli) -> None:
    """As docs/ci.md has it, with headgate.json as it was before."""
    cli.write("configurations/edge.yaml", EDGE)
    cli.write("configurations/edge.tests/one.yaml", TEST)
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / "ci.md").read_text(), re.MULTILINE | re.DOTALL)
    (script,) = [one for one in blocks if "--pushed" in one]
    done = cli.shell(script, GITHUB_SHA="0123abc")

    assert done.code == 0, done
    assert done.out.splitlines()[0] == "configurations/edge.yaml: edge v1, 1 test saved"
    assert done.out.splitlines()[-1] == "configurations/edge.yaml: edge v1, unchanged, published"


def test_gitlab_gets_a_report(cli: Cli) -> None:
    cli.write("configurations/edge.yaml", EDGE)
    cli.write("configurations/edge.tests/one.yaml", TEST)
    job = documented("collectors:")["collectors"]
    assert isinstance(job, dict)
    for command in job["script"][1:]:
        assert cli.shell(command).code == 0, command

    report = ElementTree.fromstring((cli.folder / job["artifacts"]["reports"]["junit"]).read_bytes())
    assert (report.get("tests"), report.get("failures"), report.get("errors")) == ("1", "0", "0")


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["version"] == VERSION
    assert f"@v{VERSION}" in (ROOT / "docs" / "ci.md").read_text()


@pytest.mark.full
def test_the_hooks_keep_a_wrong_configuration_out_of_a_commit(cli: Cli, package: Path, tmp_path: Path) -> None:
    pre_commit = [sys.executable, "-m", "pre_commit"]
    manifest = run([*pre_commit, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")], cli.folder)
    assert manifest.code == 0, manifest

    used = documented("repos:")
    configured = yaml.safe_dump(used).replace(REPOSITORY, str(package))
    assert str(package) in configured
    cli.write(".pre-commit-config.yaml", configured)
    cli.write("configurations/edge.yaml", EDGE)
    cli.write("elsewhere.yaml", BROKEN)
    git(cli.folder, "init", "--quiet")
    git(cli.folder, "add", "--all")
    variables = {"PRE_COMMIT_HOME": str(tmp_path / "hooks"), "HEADGATE_URL": cli.url, "SERVICE_API_TOKEN": cli.token}

    right = run([*pre_commit, "run", "--all-files"], cli.folder, **variables)
    assert right.code == 0, right
    assert len(re.findall(r"\.Passed$", right.out, re.MULTILINE)) == 2

    cli.write("configurations/edge.yaml", BROKEN.replace("set(log", "sett(log"))
    git(cli.folder, "add", "--all")
    wrong = run([*pre_commit, "run", "--all-files"], cli.folder, **variables)
    assert wrong.code == 1
    assert len(re.findall(r"\.Failed$", wrong.out, re.MULTILINE)) == 2
    assert "configurations/edge.yaml:6:14: error:" in wrong.out
    assert "elsewhere.yaml" not in wrong.out
