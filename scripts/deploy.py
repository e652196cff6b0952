"""Deploys the service to AWS: `make deploy`. It can be repeated: each step changes only what differs.

The first time it asks for the settings without a default. In a new account its steps are:

 1. build (SAM), 2. the stack, 3. the runner's image and the collectors of CollectorVersions, 4. the gallery of flows,
 5. the releases for installs, 6. the stack again, with the address that collectors report to, which is known only then.

For an existing stack the third step comes before the stack is updated, so that every new task finds its image, and each
request the version that it may name.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

from scripts import parameters as template_parameters
from scripts import protection, runner_image, stack, versions
from scripts.stack import ROOT, Account, Stack, Stage, Stop

_NO_ENGINE = """\
No container engine answers on this machine (docker, podman and finch were tried), so the test runner's image cannot be
built. Configurations, validation, linting, flows and fleets will work. Each test run will end in Error, because the
test runner is missing, until you run `make deploy` on a machine with a container engine."""
# In these states CloudFormation accepts no update.
_DEAD = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
_STUCK = """\
The stack {name} is UPDATE_ROLLBACK_FAILED: a deployment failed, and rolling it back failed too. Fix what the
stack's events in the console report, run `aws cloudformation continue-update-rollback --stack-name {name}`, and deploy
again."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Deploy the service to AWS.")
    parser.add_argument("--parameters", default="", help="parameters of template.yaml: 'Name=value Name=value'")
    parser.add_argument(
        "--yes", action="store_true", help="ask no questions; a setting that is not given has its default"
    )
    parser.add_argument(
        "--no-releases", dest="releases", action="store_false", help="do not publish releases for installs"
    )
    parser.add_argument("--sam", default=str(ROOT / ".venv-sam" / "bin" / "sam"), help="the SAM command")
    parser.add_argument("--build-dir", type=Path, default=ROOT / ".aws-sam" / "build", help="folder that SAM builds to")
    return stack.command(parser, _deploy, "Stopped. Run `make deploy` again to continue.")


def _deploy(options: argparse.Namespace) -> None:
    stage = stack.stage(options.stage)
    account = stack.account()
    before = stack.find(stage.stack_name)
    if before and before.status in _DEAD:
        raise Stop(
            f"The stack {stage.stack_name} is {before.status} and cannot be updated: "
            f"remove it with `make destroy STAGE={stage.name}`, then deploy again"
        )
    if before and before.status == "UPDATE_ROLLBACK_FAILED":
        raise Stop(_STUCK.format(name=stage.stack_name))
    if before and before.status.endswith("_IN_PROGRESS"):
        raise Stop(
            f"The stack {stage.stack_name} is {before.status}: wait until this update has ended, then deploy again"
        )
    ask = sys.stdin.isatty() and not options.yes
    print(f"Stack {stage.stack_name}, account {account.id}, region {account.region}.", flush=True)
    engine = runner_image.engine()
    if engine is None:
        print(_NO_ENGINE)
        if ask and not _agreed("Deploy without it?"):
            raise Stop("Nothing was deployed.")
    parameters = {**stage.parameters, **stack.pairs(shlex.split(options.parameters))}
    if before is None:
        parameters = _first(stage, account, parameters, ask=ask)

    template_parameters.check(parameters)
    # Not the stack's version: the layer has only the collector of this release.
    parameters.setdefault("CollectorVersion", _value("CollectorVersion", {}, None))
    protected = {"DeletionProtection": parameters.pop("DeletionProtection", "yes")}
    parameters |= protected if before else {"DeletionProtection": "no"}

    built = {name: _value(name, parameters, before) for name in ("PythonRuntime", "Architecture")}
    # The layers' makefiles do not see parameters.
    variables = {"RUNTIME": built["PythonRuntime"], "ARCHITECTURE": built["Architecture"]}
    _sam(options.sam, "build", "--build-in-source", f"--build-dir={options.build_dir}", *_overrides(built), **variables)
    _check_collector(options.build_dir, parameters["CollectorVersion"])
    if before and engine:
        _push(options.build_dir, engine, before, parameters)
    if before:
        _publish_collectors(before, parameters)
        protection.protect(stage.stack_name)
    undone = before.updated if before and before.status == "UPDATE_ROLLBACK_COMPLETE" else ""
    deployed = _apply(options, stage, parameters, before, undone, ask=ask)
    if not before:
        protection.protect(stage.stack_name)
        if engine:
            _push(options.build_dir, engine, deployed, parameters)
        _publish_collectors(deployed, parameters)
    bucket = deployed.outputs["BucketName"]
    _python("scripts.build_flows", "--bucket", bucket)
    if options.releases:
        further = [option for version in _further(deployed, parameters) for option in ("--collector", version)]
        _python("scripts.publish_release", "--bucket", bucket, *further)
    later = {} if before else protected
    if not deployed.parameters.get("FleetEndpoint") and not deployed.parameters.get("DomainName"):
        # The stack's own address is known only now.
        later["FleetEndpoint"] = deployed.outputs["BaseUrl"]
    if later:
        deployed = _apply(options, stage, {**parameters, **later}, deployed, undone, ask=False)
    _conclude(deployed, first=before is None, with_runner=engine is not None)


def _first(stage: Stage, account: Account, parameters: dict[str, str], *, ask: bool) -> dict[str, str]:
    """The parameters with a person's answers. Raises Stop if they decline."""
    if not ask:
        if "FirstAdminEmail" not in parameters:
            print("FirstAdminEmail is not set, so nobody can sign in. Set it in this or a later deployment.")
        return parameters
    print(f"\nThe stack {stage.stack_name} does not exist yet. Press Enter to take the value in brackets.\n")
    questions = (
        ("FirstOrganization", "Name of your organization", "Headgate"),
        ("FirstAdminEmail", "Mail address of your organization's first Admin, who gets an invitation", ""),
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
    """Deploy what was built. `undone` identifies the previous deployment if it was rolled back.

    Raises Stop if it fails, or if the update of a stack would lose data.
    """
    built = options.build_dir / "template.yaml"
    versions.stamp(built, {**(there.parameters if there else {}), **parameters}, undone)
    quietly = [] if ask else ["--no-confirm-changeset"]
    where = [f"--template-file={built}", f"--config-file={ROOT / 'samconfig.toml'}", "--config-env", stage.name]
    if there:
        _sam(options.sam, "deploy", *where, "--no-execute-changeset", "--no-confirm-changeset", *_overrides(parameters))
        protection.refuse_losses(stage.stack_name)
    _sam(options.sam, "deploy", *where, *quietly, *_overrides(parameters))
    result = stack.find(stage.stack_name)
    if result is None or "BucketName" not in result.outputs:
        raise Stop("The stack was not deployed: its change set was declined or failed.")
    return result


def _check_collector(build_dir: Path, version: str) -> None:
    """Raises Stop if the layer does not have the collector that the functions would ask for."""
    held = runner_image.versions(build_dir)
    if version not in held:
        raise Stop(
            f"CollectorVersion is {version}, but the layer has {', '.join(held) or 'no collector'}, the version in "
            "layers/collector/versions/DEFAULT. Every validation would answer 503, so nothing was deployed."
        )


def _push(build_dir: Path, engine: str, there: Stack, parameters: dict[str, str]) -> None:
    architecture = _value("Architecture", parameters, there)
    repository = there.outputs["RunnerRepositoryUri"]
    runner_image.push(engine, repository, parameters["CollectorVersion"], architecture, build_dir)


def _publish_collectors(there: Stack, parameters: dict[str, str]) -> None:
    """Publish the versions beside the layer's that the stack is to have. Versions that it had stay in the bucket."""
    versions = _further(there, parameters)
    if versions:
        where = ("--bucket", there.outputs["BucketName"], "--architecture", _value("Architecture", parameters, there))
        _python("scripts.publish_collectors", *where, *versions)


def _further(there: Stack, parameters: dict[str, str]) -> list[str]:
    """The collector versions that the stack is to have beside the default one."""
    named = parameters.get("CollectorVersions", there.parameters.get("CollectorVersions", ""))
    return [version for version in named.split(",") if version not in ("", parameters["CollectorVersion"])]


def _value(name: str, parameters: dict[str, str], there: Stack | None) -> str:
    """A parameter's new value: the given one, else the stack's, else the template's default."""
    from headgate_local import template

    provided = parameters.get(name) or (there.parameters.get(name) if there else None)
    return provided or str(template.read().resolve({"Ref": name}))


def _overrides(parameters: dict[str, str]) -> list[str]:
    quoted = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in parameters.items())
    return ["--parameter-overrides", *quoted] if parameters else []


def _sam(sam: str, *arguments: str, **variables: str) -> None:
    stack.run(
        [sam, *arguments],
        f"`sam {arguments[0]}` failed; its error is above. The later steps were not done.",
        **variables,
    )


def _python(module: str, *arguments: str) -> None:
    failed = f"{module} failed; its error is above. Run `make deploy` again to repeat it."
    stack.run([sys.executable, "-m", module, *arguments], failed)


def _agreed(question: str) -> bool:
    return input(f"{question} [y/N]: ").strip().lower() in ("y", "yes")


def _conclude(deployed: Stack, *, first: bool, with_runner: bool) -> None:
    if walls := deployed.outputs.get("CheckerWalls"):
        print(f"\nThe collector gave a verdict, checked OTTL and refused a wrong text. Walls around it: {walls}.")
    print(f"\nHeadgate answers at {deployed.outputs['BaseUrl']}")
    if first and deployed.parameters.get("FirstAdminEmail"):
        print(f"{deployed.parameters['FirstAdminEmail']} gets a mail with the password to sign in with.")
    if first and deployed.parameters.get("AlarmEmail"):
        print(f"{deployed.parameters['AlarmEmail']} gets a mail that asks to confirm the subscription to alarms.")
    if not with_runner:
        print("Test runs end in Error until the test runner's image is pushed; see docs/operating.md.")


if __name__ == "__main__":
    sys.exit(main())
