"""The page that sets a value in several configurations: one difference with verdicts first, then drafts."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

from fastapi import Request, Response

from configurations import api
from headgate.checker import Asker, verdicts
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, NotTheOwner, Version, VersionChanged
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.identity import checks
from headgate.identity.model import WriteAccessRequired
from headgate_engine.errors import Unavailable
from headgate_engine.setting import Setting, edited, read_setting
from headgate_engine.validation import service as validation
from headgate_engine.yaml_text import NotYaml
from web.commands import carry_out
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import hidden, home, tag
from web.table import Column, Row, table

router = page_router()

MOST: Final = 50
"""As many as a page of the list has."""
# PyYAML reads about 100,000 characters in a second, and each text is read three times.
MOST_CHARACTERS: Final = 200_000
MOST_SECONDS: Final = 15
_CHOICE: Final = re.compile(r"cfg_[0-9a-z]{26}")
_LONGEST_LINE: Final = 400
_PAGE: Final = """\
<p class="small"><a href="{path}">Configurations</a></p><h1>{title}</h1>
<p><code>{setting}</code></p>{difference}<div class="card">{table}{save}</div>"""
_DIFFERENCE: Final = """\
<div class="card"><h2>Difference</h2><pre tabindex="0" aria-label="What changes">{lines}</pre></div>"""
_SAVE: Final = """\
<form method="post" action="{path}/change">{csrf}{fields}<button class="main" name="save" value="yes">Save as drafts\
</button></form>"""
_NAME: Final = '<a href="{path}/{id}"><strong>{name}</strong></a>'
_OUTCOME: Final = '{tag} <span class="small">{why}</span>'


@dataclass(frozen=True, slots=True)
class _Change:
    """A configuration's latest version, and its text with the value."""

    configuration: Configuration
    version: Version
    after: str

    @property
    def label(self) -> str:
        return f"{self.configuration.name} v{self.version.n}"


@router.post("/organizations/{organization_id}/configurations/change")
def change_configurations(request: Request, who: Visit, caller: Member, form: Form) -> Response:
    """Show what a value changes in the chosen configurations; with `save`, save what was shown.

    A chosen configuration is a field with its id; its value is the ETag of the version that was shown. What cannot be
    changed in one does not stop the others, and is shown.
    """
    if not caller.can_write:
        raise WriteAccessRequired
    chosen = {name: value for name, value in form.items() if _CHOICE.fullmatch(name)}
    if not chosen:
        raise errors.Invalid("Choose configurations in the list first, then the value to set")
    if len(chosen) > MOST:
        raise errors.Invalid(f"Choose at most {MOST} configurations at a time")
    setting = read_setting(form.get("setting", "").strip(), form.get("value", "").strip())
    saves, path, left = form.get("save") == "yes", f"{home(caller)}/configurations", MOST_CHARACTERS
    rows: list[Row] = []
    changes: list[_Change] = []
    for configuration_id, etag in chosen.items():
        label: Html | str = configuration_id
        try:
            configuration, version = configurations.get(caller, configuration_id)
            label = html(_NAME, path=path, id=configuration.id, name=configuration.name)
            left -= len(version.yaml or "")
            change = _change(caller, configuration, version, setting, left)
            if change is None:
                rows.append(Row((label, tag("has this value already"))))
            elif saves:
                rows.append(Row((label, _saved(request, caller, change, etag))))
            else:
                changes.append(change)
        except errors.HeadgateError as error:
            rows.append(Row((label, _outcome("not changed", "bad", error.detail))))
    ends = time.monotonic() + MOST_SECONDS
    rows += [
        Row((html(_NAME, path=path, id=change.configuration.id, name=change.label), _verdict(caller, change, ends)))
        for change in changes
    ]
    shown = frame(who, caller, "configurations")
    fields = [hidden("setting", form["setting"]), hidden("value", form.get("value", ""))]
    fields += [hidden(change.configuration.id, change.version.etag) for change in changes]
    title = "What was saved" if saves else f"Change {len(changes)} configuration{'' if len(changes) == 1 else 's'}"
    content = html(
        _PAGE,
        path=path,
        title=title,
        setting=f"{setting.shown}={setting.written}",
        difference=html(_DIFFERENCE, lines=_difference(changes)) if changes else NOTHING,
        table=table((Column("Configuration"), Column("Outcome" if saves else "The collector says")), rows),
        save=html(_SAVE, path=path, csrf=csrf_field(shown), fields=fields) if changes else NOTHING,
    )
    return page(shown, title, content)


def _change(
    caller: Caller, configuration: Configuration, version: Version, setting: Setting, left: int
) -> _Change | None:
    """None if the text has the value. Raises NotTheOwner, ConfigurationArchived, and Invalid with the reason."""
    if not configuration.changeable_by(caller):
        raise NotTheOwner
    configuration.require_not_archived()
    if left < 0:
        raise errors.Invalid(
            f"The texts have more than {MOST_CHARACTERS:,} characters together: choose fewer, or use "
            "`headgate config edit --set`"
        )
    before = version.yaml or ""
    try:
        after = edited(before, [setting])
    except NotYaml as error:
        raise errors.Invalid(f"Line {error.line or 1} is not YAML: {error.reason}") from error
    return None if after == before else _Change(configuration, version, after)


def _saved(request: Request, caller: Caller, change: _Change, etag: str) -> Html:
    """Save a draft in place, or as the version after a published one. Raises VersionChanged, and what the API does."""
    version, ids = change.version, {"configuration_id": change.configuration.id}
    if etag != version.etag:
        raise VersionChanged(version.etag)
    if version.status == "draft":
        arguments = {**ids, "n": version.n, "if_match": etag}
        carry_out(request, api.patch_version, caller, arguments, lambda: {"yaml": change.after})
        return _outcome("saved", "good", f"version {version.n}, a draft")
    carry_out(request, api.append_version, caller, ids, lambda: {"yaml": change.after})
    return _outcome("saved", "good", "a new draft")


def _verdict(caller: Caller, change: _Change, ends: float) -> Html:
    """What the collector of the version says of the text; no check begins after `ends`."""
    if time.monotonic() > ends:
        return _outcome("not checked", "", "it took too long; it can be saved, and is checked in the editor")
    version = change.version
    try:
        with checks.under_way(caller):
            asker = Asker.of(caller).gated(version.feature_gates)
            result = validation.validate(change.after, version.collector_version, asker=asker)
    except (errors.Invalid, Unavailable, checks.TooManyChecks) as error:
        return _outcome("not checked", "", error.detail)
    if not version.feature_gates:
        verdicts.remember(caller.organization_id, change.after, result)
    if result.valid:
        return tag("valid", "good")
    count = len(result.errors)
    first = result.errors[0]
    where = f"line {first.line}: " if first.line else ""
    return _outcome(f"{count} error{'' if count == 1 else 's'}", "bad", f"{where}{verdicts.cut(first.message)}")


def _outcome(label: str, kind: str, why: str) -> Html:
    return html(_OUTCOME, tag=tag(label, kind) if kind else tag(label), why=why)


def _difference(changes: Sequence[_Change]) -> str:
    """The unified differences of all, one below the other."""
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
        for change in changes
        for line in unified_diff(
            (change.version.yaml or "").splitlines(),
            change.after.splitlines(),
            change.label,
            f"{change.label} (edited)",
            lineterm="",
        )
    )
