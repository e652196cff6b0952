"""`config edit --set`: the same values in many configurations, or in the files of folders."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Final

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.checks.checked import TextToCheck
from headgate_cli.checks.gate import require_valid_texts
from headgate_cli.configurations import lookup
from headgate_cli.configurations.lookup import Latest
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import confirm, counted, diff, print_json, print_result, say
from headgate_cli.safe_files import read, rewrite
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import ConfigurationSummary, ValidationResult, VersionDetail, VersionTestsOut
from headgate_cli.suites import report
from headgate_cli.suites.run import SuiteRun
from headgate_cli.suites.run import run as run_suites
from headgate_cli.suites.select import NoTestsHere, Suite, suites
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade import targets
from headgate_cli.yaml_files import parse
from headgate_engine.errors import Invalid
from headgate_engine.setting import Absent, NotSettable, Setting, edited, read_setting

_NOT_SAVED: Final = "Nothing was saved"
_IMPORT: Final = "headgate config import"
_WAY_OUT: Final = "--no-validate goes on anyway"


class SettingType(click.ParamType[Setting]):
    """`exporters.otlphttp.endpoint=https://example.com`, with `::` between the keys if one contains a dot."""

    name = "PATH=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Setting:
        path, separator, written = str(value).partition("=")
        if not separator:
            self.fail(f"{value!r} has no =: write PATH=VALUE, for example exporters.debug.verbosity=basic", param, ctx)
        try:
            return read_setting(path, written)
        except Invalid as error:
            self.fail(error.detail, param, ctx)


@dataclass(frozen=True, slots=True)
class _Change:
    """A text before and after. `stored` is None for a file; `etag` is that of the version that was read."""

    label: str
    before: str
    after: str
    stored: Latest | None = None
    is_draft: bool = False
    etag: str = ""

    @property
    def checked(self) -> TextToCheck:
        return TextToCheck(
            self.after, *((self.stored.collector_version, self.stored.feature_gates) if self.stored else ())
        )


@dataclass(frozen=True, slots=True)
class How:
    """Choices for saving the texts."""

    description: str
    publish: bool
    dry_run: bool
    yes: bool
    no_validate: bool
    env: Sequence[tuple[str, str]]
    as_json: bool


def edit_many(api: Api, names: Sequence[str], everything: bool, settings: Sequence[Setting], how: How) -> None:
    """Show what changes, validate it, save it, and run the tests. Publishes only if all tests pass."""
    files = [file for file in targets.files_of_folders(names) if targets.names_file(file)]
    if files and (everything or len(files) != len(targets.files_of_folders(names))):
        raise click.UsageError("name either files and folders or stored configurations")
    if files and how.publish:
        raise click.UsageError("--publish is for stored configurations: push the files, or apply their folder")
    changes = _changes(api, _of_files(files) if files else _stored(api, names, everything), settings)
    if not changes:
        say("No configuration changes")
        if how.as_json:
            print_json([])
        return
    if not how.as_json:
        for change in changes:
            diff(change.before, change.after, (change.label, f"{change.label} (edited)"))
    if not how.no_validate:
        texts = {change.label: change.checked for change in changes}
        require_valid_texts(api, texts, undone=_NOT_SAVED, way_out=_WAY_OUT, env=how.env)
    question = f"{'Save and publish' if how.publish else 'Save'} {counted(len(changes), 'configuration')}?"
    if how.dry_run:
        say(f"{len(changes)} would change; {_NOT_SAVED.lower()}")
    elif not how.yes and (how.publish or sys.stdin.isatty()):
        confirm(question, "this publishes: without a terminal to ask on, confirm with --yes", _NOT_SAVED)
    if how.dry_run:
        if how.as_json:
            print_json([{"name": change.label, "saved": False} for change in changes])
        return
    if files:
        for change in changes:
            rewrite(change.label, change.before, change.after, "run the command again for the rest")
            say(f"{one_line(change.label)}: changed")
        _test_files(api, files, how)
        return
    _save_all(api, changes, how)


def _stored(api: Api, names: Sequence[str], everything: bool) -> list[_Change]:
    if everything:
        keys = [configuration["id"] for configuration in api.items(ConfigurationSummary, "/configurations")]
    else:
        keys = [*dict.fromkeys(lookup.find(api, name) for name in names)]
    return [_read(api, lookup.latest(api, key)) for key in keys]


def _read(api: Api, latest: Latest) -> _Change:
    version, etag = api.get_with_etag(VersionDetail, f"/configurations/{latest.id}/versions/{latest.version}")
    content = version["yaml"]
    label = f"{one_line(latest.name)} v{latest.version}"
    is_draft = version["status"] == "draft"
    return _Change(label, content, content, latest, is_draft, etag)


def _of_files(files: Sequence[str]) -> list[_Change]:
    return [_Change(file, content, content) for file in files for content in [read(file)]]


def _changes(api: Api, texts: Sequence[_Change], settings: Sequence[Setting]) -> list[_Change]:
    """Those that change. Raises Failed if a value cannot be set in one of them."""
    changes = []
    for change in texts:
        try:
            sections = parse(change.before, change.label)
            after = edited(change.before, settings)
        except Absent as error:
            # A text that is not a configuration may have one inside.
            around = change.stored is None and isinstance(sections, Mapping) and "receivers" not in sections
            part = _inside(api, change.before) if around else ""
            why = f"has no {error.missing}: it stays as it is"
            if part:
                why = f"has its configuration under {part}, and stays as it is: take that out with `{_IMPORT}`"
            say(f"{change.label} {why}")
            continue
        except NotSettable as error:
            where = f"{change.label}:{error.line}" if error.line else change.label
            raise Failed(f"{where}: {error.detail}: change it with `headgate config edit`") from error
        if after == change.before:
            say(f"{change.label} has these values already")
        else:
            changes.append(with_changes(change, after=after))
    return changes


def _inside(api: Api, content: str) -> str:
    """The path of the configuration inside of another text, such as a ConfigMap; empty if none is known."""
    try:
        part = api.post(ValidationResult, "/validate", {"yaml": content}).get("wrapped")
    except Failed:
        # The path is a hint: the text stays as it is in any case.
        return ""
    return one_line(part["path"]) if part else ""


def _test_files(api: Api, files: Sequence[str], how: How) -> None:
    chosen = []
    for file in files:
        try:
            chosen += suites(api, [file], env=how.env)
        except NoTestsHere:
            continue
    runs = run_suites(api, chosen, {}, lambda run: _tell(run, how))
    if how.as_json:
        print_json([{"name": file, "saved": True} for file in files])
    if not all(run.passed for run in runs):
        raise Ended(FAILED)
    say("Next: `headgate apply -f FOLDER`, or `headgate config push FILE`")


def _save_all(api: Api, changes: Sequence[_Change], how: How) -> None:
    saved: list[dict[str, object]] = []
    etags: list[str] = []
    for change in changes:
        try:
            draft, etag = _save(api, change, how.description)
            saved.append(draft)
            etags.append(etag)
        except Failed as error:
            meanwhile = isinstance(error, ServerError) and error.is_stale
            reason = "somebody else changed it meanwhile" if meanwhile else error.message
            say(f"headgate: {change.label} was not saved: {reason}")
            saved.append({"name": change.label, "saved": False, "problem": reason})
            continue
        if not how.as_json:
            print_result(f"{one_line(str(saved[-1]['name']))} v{saved[-1]['version_number']} is saved as a draft")
    drafts = [draft for draft in saved if draft["saved"]]
    runs = run_suites(
        api, [suite for draft in drafts if (suite := _suite(api, draft))], {}, lambda run: _tell(run, how)
    )
    passed = len(drafts) == len(changes) and all(run.passed for run in runs)
    if how.publish and passed:
        for draft, etag in zip(drafts, etags, strict=True):
            path = f"/configurations/{draft['configuration_id']}/versions/{draft['version_number']}/publish"
            api.post(PlainAnswer, f"{path}?if_tests_pass=true", if_match=etag)
            draft["published"] = True
            if not how.as_json:
                print_result(f"{one_line(str(draft['name']))} v{draft['version_number']} is published")
    elif how.publish:
        say("Nothing was published: not all were saved, or a test did not pass; the drafts stay")
    if how.as_json:
        print_json(saved)
    if not passed:
        raise Ended(FAILED)


def _save(api: Api, change: _Change, description: str) -> tuple[dict[str, object], str]:
    """The draft, and its ETag."""
    latest = change.stored
    assert latest is not None
    path = f"/configurations/{latest.id}/versions"
    if change.is_draft:
        edit = {"yaml": change.after}
        version, etag = api.patch_with_etag(VersionDetail, f"{path}/{latest.version}", edit, if_match=change.etag)
    else:
        described = {"description": description} if description else {}
        version, etag = api.create_with_etag(
            VersionDetail, path, {"yaml": change.after} | described, if_match=change.etag
        )
    draft: dict[str, object] = {
        "name": latest.name,
        "configuration_id": latest.id,
        "version_number": version["n"],
        "saved": True,
        "published": False,
    }
    return draft, etag


def _suite(api: Api, draft: Mapping[str, object]) -> Suite | None:
    """The stored tests of a draft; None if it has none."""
    named = {name: draft[name] for name in ("configuration_id", "version_number")}
    path = f"/configurations/{draft['configuration_id']}/versions/{draft['version_number']}/tests"
    if not api.get(VersionTestsOut, path)["items"]:
        return None
    return Suite(f"{draft['name']} v{draft['version_number']}", named, named)


def _tell(run: SuiteRun, how: How) -> None:
    if not how.as_json:
        print_result("\n".join(report.as_text(run)))
