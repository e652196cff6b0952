"""`policy list`, `show`, `get` and `set`."""

from __future__ import annotations

import difflib
import re
import sys
from typing import Final

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.command_group import CommandGroup
from headgate_cli.connection import connected
from headgate_cli.errors import Failed
from headgate_cli.output import print_json, print_outcome, print_result, print_text, table
from headgate_cli.policies import files
from headgate_cli.safe_files import name
from headgate_cli.shapes import PoliciesOut, PolicyOut, PolicySettingsOut, RuleOut
from headgate_cli.untrusted import one_line, quoted
from headgate_cli.yaml_files import dump_yaml

_WORD: Final = re.compile("[a-z0-9]+")


@click.group(cls=CommandGroup)
def policy() -> None:
    """See which policies count in the organization, and change that as an Admin.

    `headgate validate --policies FILE` checks files.

    \b
    Examples:
      headgate policy list
      headgate policy get > policies.yaml
      headgate policy set policies.yaml
    """


@policy.command("list")
@connected
def list_(api: Api, as_json: bool) -> None:
    """List the built-in policies and the organization's own rules, with how each counts.

    A finding of an `error` makes `headgate validate --policies` end with 1, and keeps a version from being published if
    the organization requires policies.

    \b
    Examples:
      headgate policy list
    """
    answer = api.get(PoliciesOut, "/policies")
    if as_json:
        print_json(answer)
        return
    rows = [
        *((policy["code"], policy["severity"], _by_comment(policy), policy["title"]) for policy in answer["policies"]),
        *((rule["name"], rule["severity"], _by_comment(rule), rule["message"]) for rule in answer["settings"]["rules"]),
    ]
    table(("CODE", "SEVERITY", "SUPPRESSIBLE", "TITLE"), rows, nothing="There are no policies")


@policy.command()
@click.argument("code", metavar="CODE")
@connected
def show(api: Api, code: str, as_json: bool) -> None:
    """Show why there is a policy, the way out, and an example of each kind; or a rule of the organization.

    \b
    Examples:
      headgate policy show insecure_tls
    """
    answer = api.get(PoliciesOut, "/policies")
    shown = next((policy for policy in answer["policies"] if policy["code"] == code), None)
    rule = next((rule for rule in answer["settings"]["rules"] if rule["name"] == code), None)
    if shown is None and rule is None:
        raise Failed(
            f"there is no policy or rule {one_line(code)}{_meant(answer, code)}: `headgate policy list` shows all"
        )
    if as_json:
        print_json(shown or rule)
    elif shown is not None:
        print_result(f"{one_line(code)} ({one_line(shown['severity'])}): {one_line(shown['title'])}\n")
        print_result(f"Why: {quoted(shown['why'])}\nWay out: {quoted(shown['way_out'])}\n")
        print_result(f"Found in:\n{_indented(shown['failing'])}\n\nNot in:\n{_indented(shown['passing'])}")
    elif rule is not None:
        print_result(f"{one_line(code)} ({one_line(rule['severity'])}), a rule of the organization\n")
        print_result(f"Message: {quoted(rule['message'])}\nExpression:\n{_indented(rule['expression'])}")


@policy.command()
@connected
def get(api: Api, as_json: bool) -> None:
    """Print the organization's settings as a YAML file for `policy set`.

    \b
    Examples:
      headgate policy get > policies.yaml
    """
    settings, etag = _settings(api)
    print_outcome(settings, as_json, lambda: print_text(dump_yaml(files.of_answer(settings, etag))))


@policy.command("set")
@click.argument("file", metavar="FILE")
@click.option("--force", is_flag=True, help="Replace the settings without asking, even if somebody changed them.")
@connected
def set_(api: Api, file: str, force: bool, as_json: bool) -> None:
    """Replace the organization's settings by a file's; for Admins, signed in with `headgate login`.

    The file is YAML, as `policy get` prints it; what it leaves out becomes the default:

    \b
      severities: {insecure_tls: error, detailed_debug: "off"}
      not_suppressible: [insecure_tls]
      publish_requires: [policies]
      rules:
        - name: no_debug
          expression: "'debug' in config.?exporters.orValue({})"
          message: Send telemetry somewhere
          severity: error
          suppressible: false
          examples:
            - {yaml: "exporters: {debug: {}}", violated: true}
            - {yaml: "processors: {batch: {}}", violated: false}

    A rule's expression is CEL, true where a configuration breaks it. Each rule has at least one example; examples are
    tried before anything is saved.

    A file of `policy get` names the state that it replaces in `etag`. If a file does not, and there are settings to
    replace, the command asks first; where it cannot ask, it needs --force.

    \b
    Examples:
      headgate policy set policies.yaml
    """
    body, etag = files.settings(file)
    if not etag and not force:
        etag = _agreed(api, file)
    try:
        answer = api.put(PoliciesOut, "/policies", body, if_match="" if force else etag)
    except ServerError as error:
        if error.code == "policies_changed":
            raise Failed(
                f"somebody changed the policies since {one_line(file)} was printed: print them again with `headgate "
                "policy get`, or replace them with --force"
            ) from error
        raise files.refusal(error, file, body) from error
    rules = answer["settings"]["rules"]
    severities = [*(policy["severity"] for policy in answer["policies"]), *(rule["severity"] for rule in rules)]
    errors = severities.count("error")
    counts = f"{len(severities)} policies, {len(rules)} of them rules of the organization"
    errors_in_words = f"{errors} count{'s' if errors == 1 else ''} as errors"
    print_outcome(answer["settings"], as_json, f"{counts}; {errors_in_words}")


def _settings(api: Api) -> tuple[PolicySettingsOut, str]:
    """The settings, and the ETag of their state."""
    answer, etag = api.get_with_etag(PoliciesOut, "/policies")
    return answer["settings"], etag


def _agreed(api: Api, file: str) -> str:
    """The ETag of the settings that a file without one may replace. Raises Failed if nobody agrees."""
    settings, etag = _settings(api)
    lost = files.in_words(settings)
    if not lost:
        return etag
    replaced = f"{one_line(name(file))} names no state in `etag`: it replaces {lost}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failed(f"{replaced}; begin with a file of `headgate policy get`, or replace them with --force")
    if not click.confirm(f"{replaced}. Replace all of it?", err=True):
        raise Failed("nothing was changed")
    return etag


def _meant(answer: PoliciesOut, code: str) -> str:
    """Suggest codes of nearly the same letters, or of the same words in another order."""
    codes = [policy["code"] for policy in answer["policies"]] + [rule["name"] for rule in answer["settings"]["rules"]]
    words = set(_WORD.findall(code.lower()))
    similar = difflib.get_close_matches(code.lower(), codes, n=2)
    similar += [known for known in codes if words and words <= set(_WORD.findall(known)) and known not in similar]
    return f", did you mean {' or '.join(map(one_line, similar[:3]))}?" if similar else ""


def _by_comment(entry: PolicyOut | RuleOut) -> str:
    return "yes" if entry["suppressible"] else "no"


def _indented(content: str) -> str:
    return "\n".join(f"    {one_line(line)}" for line in content.rstrip("\n").split("\n"))
