"""`validate` and `lint`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import click

from headgate_cli import variables
from headgate_cli.api import Api
from headgate_cli.checks import findings, fixing, many
from headgate_cli.checks.findings import Finding, Linted
from headgate_cli.collector_version import CollectorVersion, feature_gates
from headgate_cli.errors import FAILED, Ended, Failed, Unreachable, show_as_json
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_commands, print_json, print_json_text, print_result, say
from headgate_cli.safe_files import name, read
from headgate_cli.shapes import ValidationResult
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade.targets import files_of_folders

# The formats that also print a summary for people on standard error.
_SUMMARIZED: Final = ("text", "github")

F = TypeVar("F", bound=Callable[..., None])
A = TypeVar("A", ValidationResult, Linted)


def output_format(command: F) -> F:
    command = click.option("--json", "output", flag_value="json", help="The same as --format json.")(command)
    return click.option(
        "--format",
        "output",
        type=click.Choice(["text", "json", "sarif", "github"]),
        default="text",
        help="text for people, json for programs, sarif for code scanning, github for annotations in a workflow.",
    )(command)


_version = click.option(
    "--version",
    "--collector-version",
    "version",
    type=CollectorVersion(),
    help="The collector version, for example 0.139.0; the server's by default.",
)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER...")
@_version
@feature_gates
@variables.env
@variables.files
@click.option("--on-host", is_flag=True, help="End with 0 also if only the checking machine lacks what a host has.")
@click.option(
    "--policies", is_flag=True, help="Also check the organization's policies; with --local the built-in ones."
)
@click.option(
    "--no-start", is_flag=True, help="Give the verdict only; do not start the processors and connectors in a sandbox."
)
@fixing.option
@output_format
@connected_or_local("Check")
def validate(
    api: Api,
    files: Sequence[str],
    version: str | None,
    feature_gates: Sequence[str],
    env: Sequence[tuple[str, str]],
    files_of_texts: Sequence[tuple[str, str]],
    on_host: bool,
    policies: bool,
    no_start: bool,
    fix: bool,
    output: str,
) -> None:
    """Validate files, and the files of folders, on the real collector; `-` is standard input.

    Ends with 0 if every file is valid, with 1 if a file is invalid or could not be validated. With --on-host, what only
    the host decides, such as a region or a service account, does not count as invalid; what stands in a ${file:} is
    given with --file. The processors and connectors are also started in a sandbox, and it ends with 1 if one would end
    the collector when it starts. With --policies also with 1 if a finding counts as an error in the organization, or if
    policies could not be checked.

    \b
    Examples:
      headgate validate collector.yaml
      headgate validate --policies collector.yaml
      headgate validate --fix collector.yaml
      headgate validate --format sarif collector.yaml gateway.yaml > headgate.sarif
      headgate validate --env ENDPOINT=otel:4317 --version 0.139.0 - < collector.yaml
      headgate validate --env AWS_REGION=eu-west-1 --file /run/secrets/token=./token --on-host collector.yaml
      headgate validate --local --collector ./otelcol-contrib collector.yaml
    """
    request: dict[str, object] = {"version": version} if version else {}
    request |= variables.in_request(env) | variables.files_in_request(files_of_texts)
    request |= gates_in_request(feature_gates)
    texts, unread = _read(api, files_of_folders(files), request, output, fix=fix)
    requests = [{"yaml": content, **request} for content in texts.values()]
    parts = {"policies": policies, "start": not no_start}
    query = "&".join(f"{name}=true" for name, is_asked in parts.items() if is_asked)
    asked = many.verdicts(api, requests, f"?{query}" if query else "")
    answers = dict(_ask(texts, asked, "could not validate", output))
    failed = unread or len(answers) < len(texts)
    if policies and _not_checked(answers):
        failed = True
    reported = []
    for file, answer in answers.items():
        reported += findings.of_check(file, answer)
        findings.say_not_started(file, answer)
    _show(answers, texts, reported, output, complete=not failed)
    if output in _SUMMARIZED:
        for file, answer in answers.items():
            say(f"{one_line(file)}: {_verdict(answer)}")
            _say_of_policies(file, answer)
    ends = any(finding.source == "start" and finding.severity == "error" for finding in reported)
    if failed or ends or not all(_is_right(answer, on_host=on_host) for answer in answers.values()):
        raise Ended(FAILED)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER...")
@_version
@feature_gates
@click.option("--notes", is_flag=True, help="Also show other notes on correct expressions, such as inferred contexts.")
@fixing.option
@output_format
@connected_or_local("Check")
def lint(
    api: Api,
    files: Sequence[str],
    version: str | None,
    feature_gates: Sequence[str],
    notes: bool,
    fix: bool,
    output: str,
) -> None:
    """Check every OTTL expression in files and folders with the collector's own grammar; `-` is standard input.

    Ends with 0 if every expression is correct, with 1 if one is not or could not be checked.

    \b
    Examples:
      headgate lint collector.yaml
      headgate lint --notes --version 0.139.0 collector.yaml
      headgate lint --local --fix collector.yaml
      headgate lint --format github collector.yaml gateway.yaml
    """
    request: dict[str, object] = {"version": version} if version else {}
    request |= gates_in_request(feature_gates)
    texts, unread = _read(api, files_of_folders(files), request, output, fix=fix)
    asked = (many.linted(api, {"yaml": content, **request}) for content in texts.values())
    linted = dict(_ask(texts, asked, "could not lint", output))
    failed = unread or len(linted) < len(texts)
    reported = [finding for file, lint in linted.items() for finding in findings.of_lint(file, lint, notes=notes)]
    _show({file: lint.whole for file, lint in linted.items()}, texts, reported, output, complete=not failed)
    if output in _SUMMARIZED:
        for file, lint in linted.items():
            checked, skipped = lint.result["checked"], len(lint.result["skipped"])
            not_checked = f", {skipped} skipped: the linter cannot check them" if skipped else ""
            say(f"{one_line(file)}: {checked} expression{'' if checked == 1 else 's'} checked{not_checked}")
    if failed or not all(lint.result["valid"] for lint in linted.values()):
        raise Ended(FAILED)


def gates_in_request(feature_gates: Sequence[str]) -> dict[str, object]:
    return {"feature_gates": list(feature_gates)} if feature_gates else {}


def _not_checked(answers: Mapping[str, ValidationResult]) -> bool:
    """True, after a message, if the policies of a valid file could not be checked."""
    failed = False
    for file, answer in answers.items():
        # An invalid text need not be one that policies can judge; its errors are printed.
        if findings.policies_of(answer) is None and answer["valid"]:
            failed = True
            problem = findings.problem_of(answer.get("policies"))
            reason = one_line(problem["detail"]) if problem else "the server does not check policies"
            say(f"headgate: could not check the policies of {one_line(file)}: {reason}")
    return failed


def _say_of_policies(file: str, answer: ValidationResult) -> None:
    policies = findings.policies_of(answer)
    if policies is None:
        return
    suppressed = sum(finding["suppressed"] is not None for finding in policies["findings"])
    shown = len(policies["findings"]) - suppressed
    counted = "no policy errors" if policies["passed"] else "policy errors"
    more = f", {suppressed} suppressed" if suppressed else ""
    say(f"{one_line(file)}: {counted}; {shown} finding{'' if shown == 1 else 's'} of policies{more}")


def _ask(texts: Mapping[str, str], asked: Iterable[A | Failed], outage: str, output: str) -> Iterator[tuple[str, A]]:
    """The answers by the files' names; prints a message for each file that could not be checked."""
    for (file, content), answer in zip(texts.items(), asked, strict=False):
        if not isinstance(answer, Failed):
            yield file, answer
            continue
        _tell(answer, f"{outage} {one_line(file)}: {answer.message if content else 'it is empty'}", output)
        # An error may be about this file alone: only an unreachable server ends the loop.
        if isinstance(answer, Unreachable):
            break


def _read(
    api: Api, files: Sequence[str], request: Mapping[str, object], output: str, *, fix: bool
) -> tuple[Mapping[str, str], bool]:
    """The texts by the files' names, and whether a file could not be read, for which a message is printed."""
    if fix:
        fixing.mend(api, files, request)
    texts: dict[str, str] = {}
    for file in files:
        try:
            texts[name(file)] = read(file)
        except Failed as error:
            _tell(error, error.message, output)
    return texts, len(texts) < len({*map(name, files)})


def _tell(error: Failed, message: str, output: str) -> None:
    """Print why a file has no answer, as errors that end a command are printed."""
    if output == "json":
        show_as_json(error, message)
    else:
        say(f"headgate: {message}")


def _show(
    answers: Mapping[str, Mapping[str, object]],
    texts: Mapping[str, str],
    reported: Sequence[Finding],
    output: str,
    *,
    complete: bool,
) -> None:
    match output:
        case "json":
            print_json([{"file": file, **answer} for file, answer in answers.items()])
        case "sarif":
            print_json_text(findings.as_sarif(reported, complete=complete))
        case "github" if shown := findings.shown(reported):
            print_commands(findings.as_github(shown))
        case "text" if shown := findings.shown(reported):
            print_result(findings.as_text(shown, texts))


def _verdict(answer: ValidationResult) -> str:
    on = one_line(f"{answer['distribution']} {answer['version']}")
    if answer["valid"]:
        build = ", a reduced build that has all its components" if answer.get("reduced") is True else ""
        return f"valid on {on}{build}"
    match answer.get("valid_on_host"):
        case True:
            return f"invalid here, valid on a host that has what is named above ({on}); --on-host accepts it"
        case None if "valid_on_host" in answer:
            way_out = variables.to_give(answer) or findings.GIVE_FILES
            return f"invalid here, and not known for a host ({on}): {way_out}"
    return f"invalid on {on}"


def _is_right(answer: ValidationResult, *, on_host: bool) -> bool:
    policies = findings.policies_of(answer)
    valid = answer.get("valid_on_host") is True if on_host else answer["valid"]
    return valid and (policies is None or policies["passed"])
