"""Validation before texts are saved, published or assigned: an error stops the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, ServerError
from headgate_cli.checks import findings, many
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import say
from headgate_cli.shapes import ValidationResult
from headgate_cli.untrusted import one_line

force = click.option("--force", is_flag=True, help="Go on even if the version is invalid or cannot be validated.")
_GO_ON: Final = "--force goes on anyway"

# This server cannot ask that collector version, or not about these components: hosts may have it, and trying again is
# useless.
_CANNOT_ASK: Final = ("collector_version_not_installed", "component_not_in_build")


def require_valid_version(
    api: Api,
    label: str,
    checked: TextToCheck,
    *,
    undone: str,
    forced: bool,
    env: Sequence[tuple[str, str]] = (),
) -> None:
    """Require as `require_valid_texts` does, for a stored version that is to be published or assigned.

    A collector version that the server does not have, or not with these components, is only a warning.
    """
    require_valid_texts(
        api, {label: checked}, undone=undone, way_out=_GO_ON, forced=forced, unchecked=_CANNOT_ASK, env=env
    )


def require_valid_texts(
    api: Api,
    texts: Mapping[str, TextToCheck],
    *,
    undone: str,
    way_out: str = "",
    forced: bool = False,
    unchecked: Sequence[str] = (),
    env: Sequence[tuple[str, str]] = (),
    advice: str = "",
    unwrap: str = "",
) -> None:
    """Validate each text and start its components, and print the findings.

    `texts` holds what is checked by the name to print. Raises Ended, unless `forced`, if a text is invalid, could not
    be validated, or ends the collector when it starts; the message is `undone` and `way_out`. An error with a code
    among `unchecked` is only a warning, and so is that the components could not be started, or that only the checking
    machine lacks what a host has. `env` has the values of `${env:NAME}`. `advice` stands beside the collector that
    refuses a text, and `unwrap` is the option that takes a configuration out of another text.
    """
    reported: list[findings.Finding] = []
    refused: dict[str, str] = {}
    ends: list[str] = []
    on_host: list[str] = []
    stops = holds = False
    invalid: list[ValidationResult] = []
    shared = variables.in_request(env)
    requests = [checked.request() | shared for checked in texts.values()]
    for (label, checked), answer in zip(texts.items(), many.verdicts(api, requests, "?start=true"), strict=True):
        if isinstance(answer, ServerError) and answer.code in unchecked:
            warning = click.style("warning:", fg="yellow", bold=True)
            say(f"{warning} {one_line(label)} was not validated: {answer.message}")
        elif isinstance(answer, Failed):
            stops = True
            say(f"headgate: could not validate {one_line(label)}: {answer.message}")
            if not forced:
                break
        else:
            start = findings.of_start(label, answer)
            if not answer["valid"] and answer.get("valid_on_host") is True:
                on_host.append(label)
            elif not answer["valid"]:
                stops = True
                refused[label] = answer["version"] or checked.collector_version
                invalid.append(answer)
                holds |= bool(answer.get("wrapped"))
            if label not in refused and any(finding.severity == "error" for finding in start):
                stops = True
                ends.append(label)
            reported += [*findings.of_validation(label, answer), *start]
            findings.say_not_started(label, answer)
    if reported:
        say(findings.as_text(reported, {label: checked.text for label, checked in texts.items()}))
    for label in on_host:
        say(f"{one_line(label)}: valid on a host that has what is named above, which is not here")
    for label, version in refused.items():
        collector = f"collector {one_line(version)}" if version else "the collector"
        say(f"{one_line(label)}: {collector} refuses it{f'; {advice}' if advice else ''}")
    if way_to_give := variables.to_give(*invalid):
        say(f"These errors go away with values: {way_to_give}")
    for label in ends:
        say(f"{one_line(label)}: the collector ends when it starts with it")
    if holds and unwrap:
        say(f"To save the configuration inside, without what is around it: {unwrap}")
    if stops and not forced:
        why = f"{undone}; {way_out}" if way_out else undone
        say(why)
        raise Ended(FAILED, why)
