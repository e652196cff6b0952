"""The page that sets a value in several configurations: one difference with verdicts, then drafts, then publishing."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import Response

from configurations import changing
from configurations.changing import MOST, ChangeLimits, TextChange
from headgate.configurations import service as configurations
from headgate.configurations.model import Version
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.identity import checks
from headgate.identity.model import WriteAccessRequired
from headgate.version_tests import service as version_tests
from headgate_engine.setting import read_setting
from headgate_engine.validation.model import ValidationResult
from web.html import NOTHING, Html, html
from web.pages import Form, Here, MemberPage, page_router
from web.parts import Fields, counted, hidden, home, link, tag
from web.table import Cell, table

router = page_router()

_CHOICE: Final = re.compile(r"cfg_[0-9a-z]{26}")
_MOST_OF_VARIABLES: Final = 20_000
_PAGE: Final = """\
<p class="small"><a href="{path}">Configurations</a></p><h1>{title}</h1>
<p><code>{setting}</code></p>{difference}<div class="card">{table}{form}</div>"""
_DIFFERENCE: Final = """\
<div class="card"><h2>Difference</h2><pre tabindex="0" aria-label="What changes">{lines}</pre></div>"""
_SAVE: Final = """\
<form method="post" action="{path}/change">{csrf}{fields}{env}<div class="buttons"><button class="main" \
name="save" value="yes">Save as drafts</button><button class="plain">Check again</button></div></form>
<p class="soft small last">The stored tests of each version run once it is saved.</p>"""
_PUBLISH: Final = """\
<form method="post" action="{path}/change" id="publishing">{csrf}{fields}<p role="status"></p>
<button class="main" name="publish" value="yes">Publish {count}</button></form>"""
_NOT_ALL: Final = '<p class="soft small last">Not all were saved, so that nothing is published from here.</p>'
_OUTCOME: Final = '{tag} <span class="small">{why}</span>'
_NOT_RUN: Final = '<span data-tests="{id}" data-version="{n}">{tag}</span>'


@router.post("/organizations/{organization_id}/configurations/change")
def change_configurations(here: Here, form: Form) -> Response:
    """Show what a value changes in the chosen configurations; with `save`, save what was shown; with `publish`,
    publish what was saved.

    A chosen configuration is a field with its id; its value is the ETag of the version that was shown. What cannot be
    changed in one does not stop the others, and is shown; published are all or none.
    """
    if not here.caller.can_write:
        raise WriteAccessRequired
    chosen = {name: value for name, value in form.items() if _CHOICE.fullmatch(name)}
    if not chosen:
        raise errors.Invalid("Choose configurations in the list first, then the value to set")
    if len(chosen) > MOST:
        raise errors.Invalid(f"Choose at most {MOST} configurations at a time")
    if form.get("publish") == "yes":
        return _publish(here, form, chosen)
    return _change(here, form, chosen)


def _change(here: MemberPage, form: Mapping[str, str], chosen: Mapping[str, str]) -> Response:
    """The changes with their verdicts, or the saved drafts with the tests of each."""
    caller = here.caller
    setting = read_setting(form.get("setting", "").strip(), form.get("value", "").strip())
    env, saves, limits = changing.variables(form.get("env", "")), form.get("save") == "yes", ChangeLimits()
    rows: list[Sequence[Cell]] = []
    changes: list[TextChange] = []
    drafts: dict[str, str] = {}
    refused = False
    # Reading the texts takes as long as a check.
    with checks.under_way(caller):
        for configuration_id, etag in chosen.items():
            label: Html | str = configuration_id
            try:
                configuration, version = configurations.get(caller, configuration_id)
                label = _name(caller, configuration_id, configuration.name)
                change = changing.change(caller, configuration, version, setting, limits)
                if change is None:
                    rows.append((label, tag("has this value already"), ""))
                elif saves:
                    draft = changing.save(here.request, caller, change, etag)
                    drafts[configuration_id] = draft.etag
                    saved = _outcome("saved", "good", f"version {draft.n}, a draft")
                    rows.append((label, saved, _tests(configuration_id, draft)))
                else:
                    changes.append(change)
            except errors.HeadgateError as error:
                refused = True
                rows.append((label, _outcome("not changed", "bad", error.detail), ""))
    for change in changes:
        said = changing.verdict(caller, change.version, change.after, env, limits)
        rows.append((_name(caller, change.configuration.id, change.label), _verdict(said), ""))
    if saves:
        title, outcome = "What was saved", "Outcome"
        below = Html(_NOT_ALL) if refused and drafts else _publishing(caller, here.csrf, drafts, form)
    else:
        title, outcome = f"Change {counted(len(changes), 'configuration')}", "The collector says"
        below = _saving(caller, here.csrf, changes, form)
    content = html(
        _PAGE,
        path=_path(caller),
        title=title,
        setting=f"{setting.shown}={setting.written}",
        difference=html(_DIFFERENCE, lines=changing.difference(changes)) if changes else NOTHING,
        table=table(("Configuration", outcome, "Tests" if saves else ""), rows),
        form=below,
    )
    remains = _path(caller) if drafts else ""
    return here.page("configurations", title, content, script="change" if drafts else "", outcome=remains)


def _publish(here: MemberPage, form: Mapping[str, str], chosen: Mapping[str, str]) -> Response:
    """All drafts published, or none, with what stands against it."""
    caller = here.caller
    env, limits = changing.variables(form.get("env", "")), ChangeLimits()
    drafts: dict[str, tuple[Html, Version]] = {}
    reasons: dict[str, str] = {}
    for configuration_id, etag in chosen.items():
        configuration, version = changing.of_etag(caller, configuration_id, etag)
        drafts[configuration_id] = _name(caller, configuration_id, f"{configuration.name} v{version.n}"), version
        if etag != version.etag:
            reasons[configuration_id] = "Somebody changed it since: look at it, and publish it from its page"
        elif against := changing.against_publishing(caller, configuration_id, version, env, limits):
            reasons[configuration_id] = against
    rows: list[Sequence[Cell]] = []
    for configuration_id, (label, version) in drafts.items():
        outcome = _outcome("not published", "bad", reasons[configuration_id]) if configuration_id in reasons else None
        if not reasons:
            try:
                changing.publish(here.request, caller, configuration_id, version.n, version.etag)
                outcome = tag("published", "good")
            except errors.HeadgateError as error:
                outcome = _outcome("not published", "bad", error.detail)
        rows.append((label, outcome or tag("not published"), _tests(configuration_id, version)))
    title = "Nothing was published" if reasons else "What was published"
    content = html(
        _PAGE,
        path=_path(caller),
        title=title,
        setting=f"{form.get('setting', '')}={form.get('value', '')}",
        difference=NOTHING,
        table=table(("Configuration", "Outcome", "Tests"), rows),
        form=_publishing(caller, here.csrf, chosen, form) if reasons else NOTHING,
    )
    remains = "" if reasons else _path(caller)
    return here.page("configurations", title, content, script="change" if reasons else "", outcome=remains)


def _saving(caller: Caller, csrf: Html, changes: Sequence[TextChange], form: Mapping[str, str]) -> Html:
    """The form that saves what is shown, or checks it with variables."""
    if not changes:
        return NOTHING
    fields = [hidden(name, form.get(name, "")) for name in ("setting", "value")]
    fields += [hidden(change.configuration.id, change.version.etag) for change in changes]
    hint = "NAME=VALUE lines for ${env:NAME}: for the checks only, they are not stored"
    env = Fields(form).area("env", "Variables", most=_MOST_OF_VARIABLES, rows=2, required=False, hint=hint)
    return html(_SAVE, path=_path(caller), csrf=csrf, fields=fields, env=env)


def _publishing(caller: Caller, csrf: Html, drafts: Mapping[str, str], form: Mapping[str, str]) -> Html:
    """The form that publishes drafts, each by the state that was saved."""
    if not drafts:
        return NOTHING
    fields = [hidden(name, form.get(name, "")) for name in ("setting", "value", "env")]
    fields += [hidden(configuration_id, etag) for configuration_id, etag in drafts.items()]
    return html(_PUBLISH, path=_path(caller), csrf=csrf, fields=fields, count=counted(len(drafts), "configuration"))


def _tests(configuration_id: str, version: Version) -> Html:
    """The results of a draft's tests. The page's script runs those that have not run."""
    missing = configurations.tests_of(configuration_id, version).missing
    if not missing:
        return tag("passed", "good")
    match missing[0].code:
        case version_tests.NO_TESTS:
            return tag("no tests")
        case version_tests.NOT_PASSED:
            return _outcome("not passed", "bad", missing[0].message)
    return html(_NOT_RUN, id=configuration_id, n=version.n, tag=tag("not run"))


def _verdict(said: ValidationResult | str) -> Html:
    if isinstance(said, str):
        return _outcome("not checked", "", said)
    if said.valid:
        return tag("valid", "good")
    return _outcome(counted(len(said.errors), "error"), "bad", changing.problem(said))


def _outcome(label: str, kind: str, why: str) -> Html:
    return html(_OUTCOME, tag=tag(label, kind) if kind else tag(label), why=why)


def _name(caller: Caller, configuration_id: str, name: str) -> Html:
    return link(f"{_path(caller)}/{configuration_id}", name)


def _path(caller: Caller) -> str:
    return f"{home(caller)}/configurations"
