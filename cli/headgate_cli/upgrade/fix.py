"""`upgrade fix`: the names that a collector version uses, in place of those of releases before and after it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, Entity
from headgate_cli.checks import findings
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.configurations import lookup
from headgate_cli.configurations.push import change_draft
from headgate_cli.connection import as_json
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import diff, print_json, print_result, print_text, say
from headgate_cli.safe_files import STDIN, name, read, rewrite, write
from headgate_cli.shapes import Rename, UpgradeReport, VersionDetail
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import report, targets
from headgate_cli.upgrade.targets import VersionOnServer

_CHECK: Final = "/validate/upgrade-check"
_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="FILE|FOLDER...|CONFIGURATION[@N]")
@click.option("--to", "to", required=True, type=CollectorVersion(), help="The collector version to move to.")
@click.option("--dry-run", is_flag=True, help="Show the differences and change nothing.")
@click.option("--output", default="", metavar="FILE", help="Write the text to another file; `-` is standard output.")
@click.option("--save", is_flag=True, help="Save a stored version's text as a new draft for the collector version.")
@variables.env
@as_json
@connected_or_local("Check")
def fix(
    api: Api,
    arguments: Sequence[str],
    to: str,
    dry_run: bool,
    output: str,
    save: bool,
    env: Sequence[tuple[str, str]],
    as_json: bool,
) -> None:
    """Write component names in files as the collector version itself does, a newer or an older one.

    Every other byte stays as it is, also around a configuration inside of a ConfigMap or Helm values. For a stored
    version (shop@3), the command shows the differences; --save saves them as a new draft with the collector version.
    Ends with 1 if the collector refuses the text also with the new names, or if its build lacks a component of it.

    \b
    Examples:
      headgate upgrade fix collector.yaml --to 0.158.0
      headgate upgrade fix collector.yaml gateway.yaml --to 0.158.0 --dry-run
      headgate upgrade fix edge@3 --to 0.158.0 --save
      headgate upgrade fix collector.yaml --to 0.158.0 --local
    """
    named_files, arguments = arguments, targets.files_of_folders(arguments)
    files = [argument for argument in arguments if targets.names_file(argument)]
    if save and (files or len(arguments) > 1 or dry_run or output):
        raise click.UsageError("--save takes one stored version, such as shop@3, without --dry-run and --output")
    if len(files) != len(arguments) and len(arguments) > 1:
        raise click.UsageError("fix one stored version at a time")
    if output and (len(arguments) > 1 or dry_run):
        raise click.UsageError("--output takes one file, and excludes --dry-run")
    if STDIN in files and not (output or dry_run):
        raise click.UsageError("with standard input, say where to write with --output")
    if as_json and output == STDIN:
        raise click.UsageError("--json excludes --output -: both write to standard output")
    request = {"from": to, "to": to} | variables.in_request(env)
    results: list[Entity] = []
    for argument in arguments:
        if argument in files:
            results.append(_fix_file(api, argument, request, dry_run=dry_run, output=output, quiet=as_json))
        else:
            version = targets.stored(api, argument)
            results.append(_fix_stored(api, version, request, save=save, output=output, quiet=as_json))
    if as_json:
        print_json(results)
    left = [result for result in results if True not in (result["valid"], result["valid_on_host"])]
    if any(result["valid"] is False for result in left):
        say(f"The collector {to} still refuses a text: `headgate upgrade check` shows why")
    if left:
        raise Ended(FAILED)
    if files and not (dry_run or output or as_json):
        named = " ".join(one_line(shlex.quote(file)) for file in named_files)
        unwrap = " --unwrap" if any(result["inside"] for result in results) else ""
        more = " and the same --env" if env else ""
        say(f"Next: headgate config push {named} --collector-version {to}{unwrap}{more}")


def _fix_file(api: Api, file: str, request: Entity, *, dry_run: bool, output: str, quiet: bool) -> Entity:
    before = read(file)
    answer = _checked(api, before, request)
    after = _renamed(before, answer, name(file))
    result = {"file": name(file), **_result(api, before, after, answer, request)}
    if output:
        _write(output, after)
    elif dry_run:
        if not quiet:
            diff(before, after, (one_line(name(file)), f"{one_line(name(file))} on {request['to']}"))
    elif after != before:
        rewrite(file, before, after)
    undone = "would be renamed: " if dry_run and answer["renames"] else ""
    say(f"{one_line(name(file))}: {undone}{_summary(answer)}")
    return result


def _fix_stored(api: Api, version: VersionOnServer, request: Entity, *, save: bool, output: str, quiet: bool) -> Entity:
    stored = lookup.version(api, version.configuration_id, version.n)
    before = stored["yaml"]
    answer = api.post(UpgradeReport, f"{version.path}/upgrade-check", request)
    to = answer["to"]
    after = _renamed(before, answer, version.label)
    result = {**version.named, **_result(api, before, after, answer, request)}
    if output:
        _write(output, after)
        say(f"{one_line(version.label)}: {_summary(answer)}")
        return result
    if not save:
        if not quiet:
            diff(before, after, (one_line(version.label), f"{one_line(version.label)} on {to}"))
        say(f"{one_line(version.label)}: {_summary(answer)}; nothing was saved, --save saves a draft")
        return result
    if after == before and stored["collector_version"] == to:
        say(f"{one_line(version.label)}: {_summary(answer)}, and its collector version is {to} already")
        return result
    n = _saved(api, version, after, to)
    say(f"{one_line(version.label)}: {_summary(answer)}")
    if not quiet:
        print_result(f"{one_line(version.name)} v{n} is saved as a draft for collector {to}")
    return {**result, "saved_version_number": n}


def _saved(api: Api, version: VersionOnServer, content: str, to: str) -> int:
    """The number of the new draft. Raises Failed."""
    path = f"/configurations/{version.configuration_id}/versions"
    request = {"yaml": content, "description": f"From version {version.n}, for collector {to}"}
    n = api.create(VersionDetail, path, request)["n"]
    change_draft(api, version.configuration_id, n, {"collector_version": to})
    return n


def _renamed(before: str, answer: UpgradeReport, label: str) -> str:
    """The proposed text. Raises Failed if it is not the text with the reported renames, each at its place."""
    proposed = answer["proposed_yaml"] or before
    if proposed != _with_names(before, answer["renames"]):
        if answer["incomplete"]:
            raise Failed(f"the renames of {one_line(label)} are too many for one answer: nothing was written")
        raise Failed(f"the server's proposal for {one_line(label)} changes more than names: nothing was written")
    return proposed


def _with_names(before: str, renames: Sequence[Rename]) -> str | None:
    """The text with the new types, or None if a rename is not one of a component type that stands at its place."""
    begins = [0, *(end.end() for end in findings.LINE_END.finditer(before))]
    after, done = [], 0
    for rename in sorted(renames, key=lambda rename: (rename["line"], rename["column"])):
        line, column, old, new = rename["line"], rename["column"], rename["from"], rename["to"]
        at = begins[line - 1] + column - 1 if 0 < line <= len(begins) else -1
        if at < done or not before.startswith(old, at) or not (_TYPE.fullmatch(old) and _TYPE.fullmatch(new)):
            return None
        after += [before[done:at], new]
        done = at + len(old)
    return "".join([*after, before[done:]])


def _write(file: str, content: str) -> None:
    if file == STDIN:
        print_text(content)
    else:
        write(file, content)


def _summary(answer: UpgradeReport) -> str:
    """`filelog → file_log (2 places)` for each name."""
    counts: dict[str, int] = {}
    for entry in answer["renames"]:
        rename = f"{one_line(entry['from'])} → {one_line(entry['to'])}"
        counts[rename] = counts.get(rename, 0) + 1
    named = [f"{rename} ({count} place{'' if count == 1 else 's'})" for rename, count in counts.items()]
    if stay := len(answer["not_renamed"]):
        named.append(f"{stay} deprecated name{' stays' if stay == 1 else 's stay'}: `headgate upgrade check` says why")
    summary = [", ".join(named) or "nothing to rename"]
    if lacks := report.lacking(answer):
        summary.append(f"not fully checked, as this build of {one_line(answer['to'])} lacks the {lacks}")
    if answer["incomplete"]:
        summary.append("the text is so large that not everything was checked or is listed")
    return "; ".join(summary)


def _checked(api: Api, content: str, request: Entity) -> UpgradeReport:
    return api.post(UpgradeReport, _CHECK, {"yaml": content, **request})


def _result(api: Api, before: str, after: str, answer: UpgradeReport, request: Entity) -> dict[str, object]:
    verdict = answer["verdict"]["to"]
    if verdict["valid"] is False and after != before:
        # An older release does not know the names of before, which a newer one takes as deprecated.
        verdict = _checked(api, after, request)["verdict"]["to"]
    return {
        "to": answer["to"],
        "inside": answer.get("inside"),
        "valid": verdict["valid"],
        "valid_on_host": verdict.get("valid_on_host"),
        "renames": answer["renames"],
        "not_renamed": answer["not_renamed"],
    }
