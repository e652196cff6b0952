"""`headgate apply`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.apply import carry_configurations, carry_fleets, first_versions, found, plan, show, wanted
from headgate_cli.apply.carry_out import Carrier
from headgate_cli.apply.plan_fleets import SECRETS
from headgate_cli.apply.state import AppliedState, Recorder
from headgate_cli.apply.steps import ApplyPlan
from headgate_cli.checks.gate import require_valid_texts
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended, NotAuthenticated
from headgate_cli.fleets.assignable import STAND_IN, env_of
from headgate_cli.output import confirm, counted, print_json, say
from headgate_cli.untrusted import one_line

_DIFFERENCES: Final = 4
_NOTHING: Final = "Nothing was changed"
_WAY_OUT: Final = "--no-validate goes on anyway"
_TESTS_STAY: Final = (
    "the folder has no tests for it, and .headgate says that it had some, without this credential's seal: the tests on "
    "the server stay. An apply with the credential that applied them deletes them"
)


@click.command()
@click.option("-f", "--folder", required=True, metavar="FOLDER", help="The folder to apply.")
@click.option("--prune", is_flag=True, help="Also remove what was applied before and is not in the folder any longer.")
@click.option("--adopt", is_flag=True, help="Take over what another folder applies; it is refused otherwise.")
@click.option("--dry-run", is_flag=True, help="Print the plan; change nothing, here or on the server.")
@click.option("--exit-code", is_flag=True, help=f"With --dry-run: end with {_DIFFERENCES} if something would change.")
@click.option("--refresh", is_flag=True, help="Read every configuration, also what did not change since an apply.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--no-validate", is_flag=True, help="Do not validate the texts first.")
@variables.env
@click.option("-m", "--message", default="", help="Why; new versions, assignments and rollouts show it.")
@connected
def apply(
    api: Api,
    folder: str,
    prune: bool,
    adopt: bool,
    dry_run: bool,
    exit_code: bool,
    refresh: bool,
    yes: bool,
    no_validate: bool,
    env: Sequence[tuple[str, str]],
    message: str,
    as_json: bool,
) -> None:
    """Make the organization equal to a folder: configurations with their tests, policies, fleets and what they run.

    Prints a plan first, and asks before anything is changed; without a terminal, --yes is required. What the folder
    does not name stays as it is. docs/gitops.md describes the folder.

    What was applied is recorded in the folder's .headgate, which belongs into git: --prune removes only what an apply
    created, as the server says too. A configuration that was published is archived, any other deleted. What another
    folder applies is refused, unless --adopt takes it over: that folder's next apply is refused then.

    Texts are validated with the variables that the folder's groups have, a stand-in for each secret; --env and
    --env-file add values for the check.

    With a token, what only an Admin's session may change is left out, and listed.

    \b
    Exit status:
      0  done, or nothing to do
      1  something was refused, and nothing is changed; or it failed, the rest is done, and applying again goes on
      4  with --dry-run --exit-code: something would change

    \b
    Examples:
      headgate apply -f organization --dry-run
      headgate apply -f organization --prune --yes
    """
    if exit_code and not dry_run:
        raise click.UsageError("--exit-code is for --dry-run")
    place = Path(folder)
    wants = wanted.read(place)
    caller = found.caller(api)
    if caller.access == "read" and not dry_run:
        raise NotAuthenticated("this token may only read: use one with write access, or see the plan with --dry-run")
    # Only what is given for this: the folder may be a stranger's, and the environment holds other secrets too.
    secrets = {name[len(SECRETS) :]: value for name, value in os.environ.items() if name.startswith(SECRETS)}
    recorder = Recorder(place, caller.organization_id, api.seal, refreshes=refresh)
    caller = replace(caller, folder=recorder.folder)
    wants = recorder.state.managing(wants)
    for name in recorder.unproven:
        if name in wants.configurations and wants.configurations[name].tests is None:
            say(f"configuration {one_line(name)}: {_TESTS_STAY}")
    there = found.read(api, caller, wants, recorder.state)
    planned = plan.plan(wants, there, recorder.state, prune=prune, secrets=secrets, adopt=adopt)
    planned = first_versions.compared(api, planned, there)
    if not as_json:
        show.show(planned)
    if prune and recorder.state == AppliedState():
        say(f"Nothing was applied with this folder before ({one_line(str(recorder.path))}): nothing is removed")
    if planned.texts_to_check and not no_validate:
        values = [*_env_of(api, wants, there).items(), *env]
        require_valid_texts(api, planned.texts_to_check, undone=_NOTHING, way_out=_WAY_OUT, env=values)
    carrier = Carrier(api, recorder, there, secrets=secrets, message=message)
    if not dry_run and planned.refused:
        say(f"{_NOTHING}: correct what is refused")
    elif not dry_run:
        if planned.acts and not yes:
            question = f"Apply {counted(len(planned.acts), 'change')} to {one_line(caller.organization_name)}?"
            confirm(question, "without a terminal to ask on, confirm with --yes")
        carry_configurations.remember(recorder, wants, there, planned)
        carry_fleets.remember(recorder, wants, there)
        _carry_out(carrier, planned, api, as_json=as_json)
    if as_json:
        print_json(show.as_json(caller, planned, carrier.outcomes, api))
    if planned.refused or any(outcome.result in ("failed", "skipped") for outcome in carrier.outcomes):
        raise Ended(FAILED)
    if exit_code and planned.acts:
        raise Ended(_DIFFERENCES)


def _env_of(api: Api, wants: wanted.FolderContent, there: found.ServerContent) -> Mapping[str, str]:
    """The variables of all groups of the folder: those that are stored with them, and those that it sets."""
    values: dict[str, str] = {}
    for label, fleet in wants.fleets.items():
        known = there.fleets.get(label)
        for name, group in fleet.groups.items():
            if known and name in known.groups:
                values |= env_of(api, f"/fleets/{known.id}/deployments/{known.groups[name].id}")
            values |= {**dict.fromkeys(group.secrets, STAND_IN), **(group.variables or {})}
    return values


def _carry_out(carrier: Carrier, planned: ApplyPlan, api: Api, *, as_json: bool) -> None:
    if not planned.acts:
        return
    try:
        carrier.carry_out(planned, (lambda _: None) if as_json else show.tell)
    except BaseException:
        # Also Ctrl-C: whoever reads it has to know how far it came.
        for outcome in () if as_json else show.not_begun(planned, carrier.outcomes):
            show.tell(outcome)
        show.summarize(planned, carrier.outcomes, api)
        raise
    if not as_json:
        show.summarize(planned, carrier.outcomes, api)
