"""Deploys the service to AWS: `make deploy`. Run it as often as you like; each step leaves what is right as it is.

The first time it asks for what only you can know. On a new account everything comes up in one go:

 1. build (SAM), 2. the stack, 3. the runner's image, 4. the gallery of flows, 5. the releases for installs,
 6. the stack again, now that it is known where collectors report to.

On a stack that is there the image comes before the stack, so that no new task lacks it.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from scripts import parameters as taken
from scripts import runner_image, stack, versions
from scripts.stack import ROOT, Account, Stack, Stage, Stop

_NO_ENGINE = """\
No container engine answers here (docker, podman and finch were tried), so the test runner's image cannot be made.
All else will work: configurations, validation, linting, flows, fleets. Each test run will end in Error, saying that the
test runner failed, until somebody runs `make deploy` where there is one."""
# From which CloudFormation takes no update.
_DEAD = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
_STUCK = """\
The stack {name} is UPDATE_ROLLBACK_FAILED: a deployment failed, and so did its undoing. Mend what the stack's events in
the console complain of, then `aws cloudformation continue-update-rollback --stack-name {name}`, then deploy again."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Deploy the service to AWS.")
    parser.add_argument("--stage", default="prod", help="a stage of samconfig.toml")
    parser.add_argument("--parameters", default="", help="parameters of template.yaml: 'Name=value Name=value'")
    parser.add_argument("--yes", action="store_true", help="ask nothing; what is not given keeps its default")
    parser.add_argument("--no-releases", dest="releases", action="store_false", help="leave installs as they are")
    parser.add_argument("--sam", default=str(ROOT / ".venv-sam" / "bin" / "sam"), help="the SAM command")
    parser.add_argument("--build-dir", type=Path, default=ROOT / ".aws-sam" / "build", help="where SAM builds")
    options = parser.parse_args()
    try:
        _deploy(options)
    except Stop as reason:
        print(f"\n{reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. `make deploy` goes on from here.", file=sys.stderr)
        return 130
    return 0


def _deploy(options: argparse.Namespace) -> None:
    stage = stack.stage(options.stage)
    account = stack.account()
    before = stack.find(stage.stack_name)
    if before and before.status in _DEAD:
        raise Stop(f"The stack {stage.stack_name} is {before.status}: remove it with `make destroy STAGE={stage.name}`")
    if before and before.status == "UPDATE_ROLLBACK_FAILED":
        raise Stop(_STUCK.format(name=stage.stack_name))
    if before and before.status.endswith("_IN_PROGRESS"):
        raise Stop(f"The stack {stage.stack_name} is {before.status}: somebody else is at it, or wait")
    ask = sys.stdin.isatty() and not options.yes
    print(f"Stack {stage.stack_name}, account {account.id}, region {account.region}.", flush=True)
    engine = runner_image.engine()
    if engine is None:
        print(_NO_ENGINE)
        if ask and not _agreed("Go on without it?"):
            raise Stop("Nothing was deployed.")
    parameters = {**stage.parameters, **stack.pairs(shlex.split(options.parameters))}
    if before is None:
        parameters = _first(stage, account, parameters, ask=ask)

    taken.check(parameters)
    # Not what the stack has, which a new release leaves behind: the layer holds the collector of this one alone.
    parameters.setdefault("CollectorVersion", _value("CollectorVersion", {}, None))

    built = {name: _value(name, parameters, before) for name in ("PythonRuntime", "Architecture")}
    # The layers' makefiles know nothing of parameters.
    variables = {"RUNTIME": built["PythonRuntime"], "ARCHITECTURE": built["Architecture"]}
    _sam(options.sam, "build", "--build-in-source", f"--build-dir={options.build_dir}", *_overrides(built), **variables)
    _check_collector(options.build_dir, parameters["CollectorVersion"])
    if before and engine:
        _push(options.build_dir, engine, before, parameters)
    undone = before.updated if before and before.status == "UPDATE_ROLLBACK_COMPLETE" else ""
    deployed = _apply(options, stage, parameters, before, undone, ask=ask)
    if not before and engine:
        _push(options.build_dir, engine, deployed, parameters)
    bucket = deployed.outputs["BucketName"]
    _python("scripts.build_flows", "--bucket", bucket)
    if options.releases:
        _python("scripts.publish_release", "--bucket", bucket)
    if not deployed.parameters.get("FleetEndpoint") and not deployed.parameters.get("DomainName"):
        # Its own address is known to the stack only now that it is there.
        endpoint = {"FleetEndpoint": deployed.outputs["BaseUrl"]}
        deployed = _apply(options, stage, {**parameters, **endpoint}, deployed, undone, ask=False)
    _conclude(deployed, first=before is None, with_runner=engine is not None)


def _first(stage: Stage, account: Account, parameters: dict[str, str], *, ask: bool) -> dict[str, str]:
    """The parameters with what only a person can know. Raises Stop where they decide otherwise."""
    if not ask:
        if "FirstAdminEmail" not in parameters:
            print("No FirstAdminEmail is given, so nobody can sign in until a deployment names one.")
        return parameters
    print(f"\nThere is no stack {stage.stack_name} yet. Enter takes what is in brackets.\n")
    questions = (
        ("FirstOrganization", "Name of your organization", "Headgate"),
        ("FirstAdminEmail", "Mail address of its first Admin, who gets an invitation", ""),
        ("AlarmEmail", "Mail address for alarms", ""),
    )
    answers = {}
    for name, question, default in questions:
        if name not in parameters:
            answers[name] = input(f"{question} [{default or 'none'}]: ").strip() or default
    if not _agreed(f"Deploy to account {account.id}, region {account.region}?"):
        raise Stop("Nothing was deployed.")
    return {**parameters, **{name: value for name, value in answers.items() if value}}


def _apply(
    options: argparse.Namespace,
    stage: Stage,
    parameters: dict[str, str],
    there: Stack | None,
    undone: str,
    *,
    ask: bool,
) -> Stack:
    """Bring the stack to what was built. `undone` tells the deployment before, where that failed. Raises Stop."""
    built = options.build_dir / "template.yaml"
    versions.stamp(built, {**(there.parameters if there else {}), **parameters}, undone)
    quietly = [] if ask else ["--no-confirm-changeset"]
    where = [f"--template-file={built}", f"--config-file={ROOT / 'samconfig.toml'}", "--config-env", stage.name]
    _sam(options.sam, "deploy", *where, *quietly, *_overrides(parameters))
    found = stack.find(stage.stack_name)
    if found is None or "BucketName" not in found.outputs:
        raise Stop("The stack was not deployed.")
    return found


def _check_collector(build_dir: Path, version: str) -> None:
    """Raises Stop if the functions would ask for a collector that their layer does not hold."""
    held = runner_image.versions(build_dir)
    if version not in held:
        raise Stop(
            f"CollectorVersion is {version}, and the layer holds {', '.join(held) or 'none'}, that of "
            "layers/collector/manifest.yaml: every validation would answer 503. Nothing was deployed."
        )


def _push(build_dir: Path, engine: str, there: Stack, parameters: dict[str, str]) -> None:
    architecture = _value("Architecture", parameters, there)
    repository = there.outputs["RunnerRepositoryUri"]
    runner_image.push(engine, repository, parameters["CollectorVersion"], architecture, build_dir)


def _value(name: str, parameters: dict[str, str], there: Stack | None) -> str:
    """What a parameter will be: as given now, else as the stack has it, else the template's default."""
    from headgate_local import template

    given = parameters.get(name) or (there.parameters.get(name) if there else None)
    return given or str(template.read().resolve({"Ref": name}))


def _overrides(parameters: dict[str, str]) -> list[str]:
    quoted = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in parameters.items())
    return ["--parameter-overrides", *quoted] if parameters else []


def _sam(sam: str, *arguments: str, **variables: str) -> None:
    if subprocess.run([sam, *arguments], cwd=ROOT, env={**os.environ, **variables}, check=False).returncode != 0:
        raise Stop(f"`sam {arguments[0]}` failed; what it said is above. Nothing after it was done.")


def _python(module: str, *arguments: str) -> None:
    if subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=False).returncode != 0:
        raise Stop(f"{module} failed; what it said is above. `make deploy` does it again.")


def _agreed(question: str) -> bool:
    return input(f"{question} [y/N]: ").strip().lower() in ("y", "yes")


def _conclude(deployed: Stack, *, first: bool, with_runner: bool) -> None:
    print(f"\nHeadgate answers at {deployed.outputs['BaseUrl']}")
    if first and deployed.parameters.get("FirstAdminEmail"):
        print(f"A mail to {deployed.parameters['FirstAdminEmail']} has the password to sign in with.")
    if first and deployed.parameters.get("AlarmEmail"):
        print(f"A mail to {deployed.parameters['AlarmEmail']} asks to confirm that alarms may come.")
    if not with_runner:
        print("Test runs end in Error until the test runner's image is there; see docs/operating.md.")


if __name__ == "__main__":
    sys.exit(main())
