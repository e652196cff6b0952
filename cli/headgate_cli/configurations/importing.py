"""`config import`: drafts of somebody's files, with what is in the way of them in a line for each kind."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from headgate_cli import shapes, variables
from headgate_cli.api import Api
from headgate_cli.checks import fixing
from headgate_cli.checks.commands import gates_in_request
from headgate_cli.checks.findings import problem_of
from headgate_cli.collector_version import CollectorVersion, feature_gates
from headgate_cli.configurations import lookup
from headgate_cli.configurations.folder import files_in, of_configurations, require_some
from headgate_cli.configurations.push import change_draft
from headgate_cli.configurations.unwrapping import unwrapped
from headgate_cli.connection import connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import counted, print_json, print_result, say, table
from headgate_cli.safe_files import STDIN, STDIN_NAME, read
from headgate_cli.safe_files import name as name_of
from headgate_cli.shaped import PlainAnswer, listed, shaped
from headgate_cli.untrusted import one_line, quoted

_MOST_FILES: Final = 50
_MOST_BYTES: Final = 1_000_000
_MOST_QUESTIONS: Final = 20
_MOST_VERSIONS: Final = 5
_SEVERITIES: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_RANK: Final = {severity: rank for rank, severity in enumerate(_SEVERITIES)}
_LONGEST_NAME: Final = 200
_MOST_NAMED: Final = 2


@dataclass(frozen=True, slots=True)
class _Text:
    """A text to import. `problem` is why it becomes no draft; `fixed` counts the edits of the fixes.

    `draft` is the draft of that name, if it may be that of an earlier import. `inside` is set if it is a part of the
    file, and `fixable` if fixes of it are known.
    """

    file: str
    name: str
    yaml: str
    problem: str = ""
    fixed: int = 0
    draft: lookup.Latest | None = None
    inside: bool = False
    fixable: bool = False


@dataclass(frozen=True, slots=True)
class _Checked:
    """The server's verdicts: an answer for each text, and groups of findings."""

    texts: Sequence[_Text]
    answers: Sequence[shapes.NamedResult]
    groups: Sequence[shapes.FindingGroup]

    @property
    def errors(self) -> int:
        return sum(group["count"] for group in self.groups if group["severity"] == "error")

    @property
    def unchecked(self) -> int:
        """Count the texts without a verdict, although they could be read."""
        pairs = zip(self.texts, self.answers, strict=True)
        return sum(answer.get("valid") is None for source, answer in pairs if not source.problem)

    @property
    def fixable(self) -> int:
        return sum(group["fixable"] for group in self.groups if group["severity"] == "error")


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|FOLDER|-...")
@click.option("--name", "label", default="", help="The configuration's name; for a single text.")
@click.option(
    "--collector-version",
    type=CollectorVersion(),
    help="The collector version that the files are for; the server's default one without it.",
)
@click.option(
    "--match-version", is_flag=True, help="Take the installed collector version that leaves the fewest errors."
)
@feature_gates
@variables.env
@variables.files
@click.option("--fix", is_flag=True, help="Apply the fixes that are known, without asking. The files are not changed.")
@click.option("--dry-run", is_flag=True, help="Show what is in the way and create nothing.")
@connected
def import_(
    api: Api,
    paths: Sequence[str],
    label: str,
    collector_version: str | None,
    match_version: bool,
    feature_gates: Sequence[str],
    env: Sequence[tuple[str, str]],
    files_of_texts: Sequence[tuple[str, str]],
    fix: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Create a draft of each file, and tell what is in the way, in a line for each kind over all files.

    Takes a configuration out of a Kubernetes resource, a ConfigMap or Helm values by itself. On a terminal it asks for
    what is missing: whether the files are for another installed collector, if their names show it; whether to apply
    fixes; the feature gates and the values of variables that errors come from. Values are for the check only and are
    not stored. A draft that has just the text of its file, or that text with its fixes, is changed in place; any other
    configuration of that name is left alone. Ends with 1 if a file became no draft, or one that is not valid.

    \b
    Examples:
      headgate config import collector.yaml gateway.yaml
      headgate config import ./configurations --fix --env-file production.env
      headgate config import ./configurations --match-version --dry-run
      kubectl get configmap otel -o yaml | headgate config import - --name otel
      otelcol-contrib print-config --config collector.yaml | headgate config import - --name edge
    """
    texts = _read(paths, label)
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    request: dict[str, object] = {"version": collector_version} if collector_version else {}
    request |= gates_in_request(feature_gates) | variables.in_request(env) | variables.files_in_request(files_of_texts)
    checked = _check(api, _with_namesakes(api, texts), request)
    # Known only now: the text that is compared may be a part of the file.
    imports = _unless_changed(api, checked, request, match_version=match_version)
    before = checked = checked if imports == checked.texts else _check(api, imports, request)
    if not as_json:
        _show(checked)
    if not collector_version and (match := _matching(api, checked, request)):
        version, there = match
        leaves = f"collector {one_line(version)} leaves {counted(there.errors, 'error')} instead of {checked.errors}"
        if match_version or (asks and click.confirm(f"The {leaves}: import for it?", default=True, err=True)):
            checked, request = there, request | {"version": version}
        else:
            say(f"--match-version: {leaves}")
    if checked.fixable and (fix or (asks and _wants_fixes(checked.fixable))):
        checked = _mended(api, checked, request)
        say(f"Fixed {counted(sum(source.fixed for source in checked.texts), 'place')}")
    if asks:
        checked, request = _ask(api, checked, request)
    if checked is not before and not as_json:
        _show(checked)
    outcomes = [_outcome(source, answer) for source, answer in zip(checked.texts, checked.answers, strict=True)]
    if not dry_run:
        outcomes = [_created(api, outcome, checked.texts[at], request) for at, outcome in enumerate(outcomes)]
    if as_json:
        print_json({"files": outcomes, "groups_before": before.groups, "groups": checked.groups})
    else:
        _summarize(outcomes, checked, fix=fix, dry_run=dry_run)
    if not all(outcome["valid"] is True or outcome["valid_on_host"] is True for outcome in outcomes):
        raise Ended(FAILED)


def _read(paths: Sequence[str], label: str) -> list[_Text]:
    """The texts; one that cannot be read has a problem."""
    files: dict[str, None] = {}
    for path in paths:
        if path != STDIN and Path(path).is_dir():
            folder = of_configurations(Path(path))
            names = files_in(folder, "name the files")
            require_some(names, path)
            files.update(dict.fromkeys(str(folder / name) for name in names))
        else:
            files[path] = None
    if label and len(files) > 1:
        raise click.UsageError("--name is for a single text: the others are named like their files")
    if STDIN in files and not label:
        raise click.UsageError("name the configuration with --name")
    if len(files) > _MOST_FILES:
        raise Failed(f"these are {len(files)} files: import at most {_MOST_FILES} at once")
    texts = [_text(file, label or Path(file).stem) for file in files]
    if sum(len(source.yaml.encode()) for source in texts) > _MOST_BYTES:
        raise Failed("the files have over 1 MB together: import them in parts")
    return texts


def _text(file: str, label: str) -> _Text:
    label = label.strip()[:_LONGEST_NAME]
    try:
        content = read(file)
    except Failed as error:
        return _Text(name_of(file), label, "", error.message)
    return _Text(name_of(file), label, content, "" if content.strip() else "it is empty")


def _with_namesakes(api: Api, texts: Sequence[_Text]) -> list[_Text]:
    """The texts with drafts of their names; one whose name something else has gets a problem."""
    names: set[str] = set()
    stored = _namesakes(api, texts)
    result = []
    for source in texts:
        problem, draft, namesake = source.problem, None, stored.get(source.name)
        if not problem and source.name in names:
            problem = f"another file is named {source.name!r} as well: import it with --name"
        elif not problem and namesake:
            is_draft = namesake["latest_version"] == 1 and not namesake["published_version"]
            draft = lookup.latest(api, namesake["id"]) if is_draft else None
            problem = "" if draft else _exists(source)
        names.add(source.name)
        result.append(replace(source, problem=problem, draft=draft))
    return result


def _exists(source: _Text) -> str:
    file = "FILE" if source.file == STDIN_NAME else shlex.quote(source.file)
    push = f"headgate config push {file} --to {shlex.quote(source.name)}{' --unwrap' if source.inside else ''}"
    ways = [
        *(["save the text to a file"] if source.file == STDIN_NAME else ()),
        *([f"`headgate validate --fix {file}` writes the known fixes into the file"] if source.fixable else ()),
        f"`{push}` adds a version",
    ]
    return f"a configuration {source.name!r} exists already: {', and then '.join(ways)}"


def _unless_changed(
    api: Api, checked: _Checked, request: Mapping[str, object], *, match_version: bool
) -> Sequence[_Text]:
    """The texts; one whose name a draft has that is not what an import of the file creates gets a problem.

    A draft that has the text with its fixes is as an import with --fix has created it, so that it stays so.
    """
    texts = []
    for source, answer in zip(checked.texts, checked.answers, strict=True):
        draft = source.draft
        asked = {**request, "version": draft.collector_version} if draft and match_version else request
        if draft and draft.yaml != source.yaml and fixing.of_errors(source.yaml, answer):
            (fixed,) = _mended(api, _check(api, [source], asked), asked).texts
            source = replace(source, yaml=fixed.yaml if fixed.yaml == draft.yaml else source.yaml, fixable=True)
        same = draft is None or (match_version or draft.collector_version == answer.get("version"))
        if draft and not (same and draft.yaml == source.yaml):
            source = replace(source, problem=_exists(source), draft=None)
        texts.append(source)
    return texts


def _namesakes(api: Api, texts: Sequence[_Text]) -> dict[str, shapes.ConfigurationSummary]:
    """The configurations that may have these names, by few requests."""
    names = {source.name for source in texts}
    configurations = api.items(
        shapes.ConfigurationSummary, "/configurations", name=texts[0].name if len(texts) == 1 else ""
    )
    return {there["name"]: there for there in configurations if there["name"] in names and not there["archived_at"]}


def _check(api: Api, texts: Sequence[_Text], request: Mapping[str, object]) -> _Checked:
    """The verdicts; a configuration inside of another text takes its place."""
    answers, groups = _asked(api, texts, request)
    inside = [_unwrapped(source, answer) for source, answer in zip(texts, answers, strict=True)]
    if inside != list(texts):
        answers, groups = _asked(api, inside, request)
    return _Checked(inside, answers, groups)


def _asked(
    api: Api, texts: Sequence[_Text], request: Mapping[str, object]
) -> tuple[list[shapes.NamedResult], Sequence[shapes.FindingGroup]]:
    """An answer for each text, and the groups, whose `texts` are numbers of these texts."""
    answers = [shaped(shapes.NamedResult, {}) for _ in texts]
    groups: list[shapes.FindingGroup] = []
    left = [at for at, source in enumerate(texts) if not source.problem]
    while left:
        items = [{"yaml": texts[at].yaml, **request} for at in left]
        answer = api.post(PlainAnswer, "/validate/batch?groups=true", {"items": items})
        for at, verdict in zip(left, listed(shapes.NamedResult, answer), strict=False):
            answers[at] = verdict
        there = [
            shaped(shapes.FindingGroup, {**group, "texts": [left[at] for at in group["texts"] if at < len(left)]})
            for group in listed(shapes.FindingGroup, answer, "groups")
        ]
        groups = _together(groups, there) if groups else there
        # The server had no time for them after the others.
        late = [at for at in left if answers[at].get("valid") is None]
        left = late if len(late) < len(left) else []
    return answers, groups


def _together(groups: Sequence[shapes.FindingGroup], later: Sequence[shapes.FindingGroup]) -> list[shapes.FindingGroup]:
    """The groups of two answers, errors first; those that say the same are one."""
    merged: dict[tuple[str, str, str], shapes.FindingGroup] = {}
    for group in (*groups, *later):
        key = group["severity"], group["kind"], group["message"]
        before = merged.get(key)
        if before is None:
            merged[key] = group
            continue
        counts = {"count": before["count"] + group["count"], "fixable": before["fixable"] + group["fixable"]}
        merged[key] = shaped(shapes.FindingGroup, {**group, **counts, "texts": [*before["texts"], *group["texts"]]})
    return sorted(merged.values(), key=lambda group: (_RANK.get(group["severity"], 0), -group["count"]))


def _unwrapped(source: _Text, answer: shapes.NamedResult) -> _Text:
    inner = unwrapped(source.file, answer)
    return source if inner is None else replace(source, yaml=inner, inside=True)


def _matching(api: Api, checked: _Checked, request: Mapping[str, object]) -> tuple[str, _Checked] | None:
    """The installed collector that leaves the fewest errors, if names show that the texts are of another release."""
    causes = {group["kind"] for group in checked.groups if group["severity"] == "error"}
    if not causes & {"newer_release", "older_release"}:
        return None
    known = {answer.get("version") for answer in checked.answers}
    installed = api.items(shapes.InstalledVersionOut, "/collector-versions")
    versions = [collector["version"] for collector in installed][:_MOST_VERSIONS]
    tried = [
        (version, _check(api, checked.texts, {**request, "version": version}))
        for version in versions
        if version not in known
    ]
    # What a version could not check may be wrong there, too.
    whole = [pair for pair in tried if pair[1].unchecked <= checked.unchecked]
    best = min(whole, key=lambda pair: pair[1].errors, default=None)
    return best if best and best[1].errors < checked.errors else None


def _mended(api: Api, checked: _Checked, request: Mapping[str, object]) -> _Checked:
    for _ in range(fixing.MOST_ROUNDS):
        texts = [_fixed(source, answer) for source, answer in zip(checked.texts, checked.answers, strict=True)]
        if texts == list(checked.texts):
            break
        checked = _check(api, texts, request)
    return checked


def _fixed(source: _Text, answer: shapes.NamedResult) -> _Text:
    edits = fixing.of_errors(source.yaml, answer)
    return (
        replace(source, yaml=fixing.applied(source.yaml, edits), fixed=source.fixed + len(edits)) if edits else source
    )


def _wants_fixes(count: int) -> bool:
    return click.confirm(f"Apply {counted(count, 'fix', 'fixes')} to what is imported?", default=True, err=True)


def _ask(api: Api, checked: _Checked, request: dict[str, object]) -> tuple[_Checked, dict[str, object]]:
    """Ask for the gates and values that errors come from. Returns the new answers and the new request."""
    gates, values = [], {}
    for name in _named(checked, "feature_gate"):
        if click.confirm(f"Enable the feature gate {one_line(name)} for these versions?", err=True):
            gates.append(f"+{name}")
    for name in [*_named(checked, "variable")][:_MOST_QUESTIONS]:
        value = click.prompt(
            f"Value of {one_line(name)} for the check (empty: none)",
            default="",
            show_default=False,
            hide_input=True,
            err=True,
        )
        if value:
            values[name] = value
    if not gates and not values:
        return checked, request
    before, known = request.get("feature_gates"), request.get("env")
    request = {
        **request,
        "feature_gates": [*(before if isinstance(before, list) else []), *gates],
        "env": {**(known if isinstance(known, dict) else {}), **values},
    }
    return _check(api, checked.texts, request), request


def _named(checked: _Checked, kind: str) -> Iterator[str]:
    for group in checked.groups:
        if group["kind"] == kind and group["severity"] == "error":
            yield from group["names"]


def _show(checked: _Checked) -> None:
    for group in checked.groups:
        files = [one_line(checked.texts[at].file) for at in group["texts"]]
        severity, fixable = group["severity"], group["fixable"]
        label = click.style(f"{severity:<7}", fg=_SEVERITIES.get(severity), bold=True)
        where = ", ".join(files) if len(files) <= _MOST_NAMED else counted(len(files), "file")
        known = f" ({counted(fixable, 'fix', 'fixes')} known)" if fixable else ""
        print_result(f"{label} {group['count']:>3}  {quoted(group['message'])}{known}  in {where}")
        if group["way_out"]:
            print_result(f"             = {quoted(group['way_out'])}")


def _outcome(source: _Text, answer: shapes.NamedResult) -> dict[str, object]:
    problem = problem_of(answer)
    reason = source.problem or (problem["detail"] if problem else "")
    return {
        "file": source.file,
        "name": source.name,
        "configuration_id": None,
        "valid": answer.get("valid") if not reason else None,
        "valid_on_host": answer.get("valid_on_host") if not reason else None,
        "errors": sum(finding["severity"] == "error" for finding in answer["findings"]),
        "fixed": source.fixed,
        "problem": reason,
    }


def _created(api: Api, outcome: dict[str, object], source: _Text, request: Mapping[str, object]) -> dict[str, object]:
    if source.problem:
        return outcome
    try:
        draft, changes = source.draft, dict[str, object]()
        if draft is None:
            request_body = {"name": source.name, "yaml": source.yaml}
            key = api.create(shapes.ConfigurationDetail, "/configurations", request_body)["id"]
        else:
            key, changes = draft.id, {"yaml": source.yaml} if source.yaml != draft.yaml else {}
        outcome = {**outcome, "configuration_id": key}
        if request.get("version") not in (None, draft and draft.collector_version):
            changes["collector_version"] = request["version"]
        if request.get("feature_gates") not in (None, draft and list(draft.feature_gates)):
            changes["feature_gates"] = request["feature_gates"]
        if changes:
            change_draft(api, key, 1, changes, draft.etag if draft else "")
    except Failed as error:
        return {**outcome, "problem": error.message}
    return outcome


def _summarize(outcomes: Sequence[Mapping[str, object]], checked: _Checked, *, fix: bool, dry_run: bool) -> None:
    rows = [(outcome["file"], outcome["name"], _state(outcome), outcome["fixed"] or "") for outcome in outcomes]
    table(("FILE", "NAME", "STATE", "FIXED"), rows, nothing="")
    created = sum(outcome["configuration_id"] is not None for outcome in outcomes)
    valid = sum(outcome["valid"] is True for outcome in outcomes)
    on_host = sum(outcome["valid_on_host"] is True and outcome["valid"] is not True for outcome in outcomes)
    also = f", {on_host} on a host that has what is named above" if on_host else ""
    say(
        f"{counted(created, 'draft')} of {counted(len(outcomes), 'file')}, {valid} valid{also}"
        if not dry_run
        else f"{valid} of {counted(len(outcomes), 'file')} valid{also}; nothing was created"
    )
    if checked.fixable and not fix:
        say(f"--fix applies {counted(checked.fixable, 'known fix', 'known fixes')}")
    for name in _named(checked, "feature_gate"):
        say(f"--feature-gate +{one_line(name)} enables that gate for the versions")
    if any(_named(checked, "variable")):
        say("--env NAME=VALUE and --env-file FILE give values for the check")
    if created:
        done = valid == len(outcomes)
        first = "`headgate config publish NAME`" if done else "`headgate config edit NAME` for what is left"
        say(f"Next: {first}; for `headgate apply -f FOLDER`, get the files with")
        say("      `headgate config pull --all --to FOLDER/configurations`")


def _state(outcome: Mapping[str, object]) -> str:
    if outcome["problem"]:
        return quoted(str(outcome["problem"]))
    if outcome["valid"] is True:
        return "valid"
    if outcome["valid_on_host"] is True:
        return "valid on a host"
    return counted(int(str(outcome["errors"])), "error")
