"""Parts of pages: form fields with their errors, buttons, tags, links to the next page of a list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.pagination import issue
from web.html import NOTHING, Html, html, with_code
from web.layout import options

_MINUTE: Final = "datetime-local"
ENTRIES: Final = 100
"""Entries of a list on one page."""
NO_FILTERS: Final[Mapping[str, str]] = MappingProxyType({})


_NOTHING_YET: Final = '<div class="nothing"><p>{purpose}</p><p class="last">{first_step}</p></div>'
_FIELD: Final = '<div class="field"><label for="{name}">{label}</label>{control}{hint}{error}</div>'
_TEXT: Final = '<input id="{id}" name="{name}"{kind} value="{value}" maxlength="{most}" spellcheck="false"{attributes}>'
_AREA: Final = """\
<textarea id="{name}" name="{name}" rows="{rows}" maxlength="{most}" spellcheck="false"{attributes}>
{value}</textarea>"""
_CHOICE: Final = '<select id="{name}" name="{name}"{attributes}>{options}</select>'
_SUGGESTED: Final = """\
<input id="{name}" name="{name}" list="{name}-known" value="{value}" maxlength="{most}" spellcheck="false"\
 autocomplete="off"{attributes}><datalist id="{name}-known">{options}</datalist>"""
_CHECK: Final = """\
<label class="check"><input type="checkbox" name="{name}" value="yes"{checked}> {label}</label>"""
_REASON: Final = '<pre class="wrapped" tabindex="0" aria-label="{label}">{text}</pre>'
_CONFIRMED: Final = """\
<details class="confirm"><summary{described}>{label} …</summary><p class="small">{loss}</p>{button}</details>"""
_ACTION: Final = """\
<form method="post" action="{action}">{csrf}{fields}<button class="{kind} small"{described}>{label}</button></form>"""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form: each has the value that was typed, else the default, and its error after a refusal."""

    typed: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def problem(self, refused: errors.HeadgateError | None, summary: str) -> str:
        """The text above the page: the summary if a field has the reason of the refusal, else that reason."""
        return "" if refused is None else summary if self.problems else refused.detail

    def text(
        self,
        name: str,
        label: str,
        value: str = "",
        *,
        most: int,
        required: bool = True,
        hint: str = "",
        kind: str = "",
        as_id: str = "",
        pattern: str = "",
        placed: str = "",
    ) -> Html:
        """A line of text. `kind` is HTML's type, `as_id` the id if another form of the page has a field of this name.

        `pattern` is what a browser takes; the hint says it in words. `placed` names the error if `name` does not.
        """
        known, error = as_id or name, self.problems.get(placed or name, "")
        control = html(
            _TEXT,
            id=known,
            name=name,
            kind=html(' type="{kind}"', kind=kind) if kind else NOTHING,
            value=self.typed.get(name, value)[: 16 if kind == _MINUTE else None],
            most=most,
            attributes=html(
                "{attributes}{pattern}",
                attributes=_attributes(known, hint, error, required=required),
                pattern=html(' pattern="{pattern}" title="{hint}"', pattern=pattern, hint=hint) if pattern else NOTHING,
            ),
        )
        return _field(known, label, control, hint, error)

    def area(
        self, name: str, label: str, value: str = "", *, most: int, rows: int, required: bool = True, hint: str = ""
    ) -> Html:
        """Several lines of text."""
        error = self.problems.get(name, "")
        attributes = _attributes(name, hint, error, required=required)
        text = self.typed.get(name, value)
        control = html(_AREA, name=name, value=text, most=most, rows=rows, attributes=attributes)
        return _field(name, label, control, hint, error)

    def choice(
        self,
        name: str,
        label: str,
        values: Sequence[tuple[str, str]],
        value: str = "",
        *,
        hint: str = "",
        placed: str = "",
    ) -> Html:
        """A choice of values, each with its label. `placed` names the error if `name` does not."""
        error = self.problems.get(placed or name, "")
        attributes = _attributes(name, hint, error, required=False)
        chosen = options(values, self.typed.get(name, value))
        return _field(name, label, html(_CHOICE, name=name, options=chosen, attributes=attributes), hint, error)

    def suggested(
        self, name: str, label: str, values: Sequence[str], *, most: int, required: bool = True, hint: str = ""
    ) -> Html:
        """A line of text for which a browser suggests the values; any other may be typed as well."""
        error = self.problems.get(name, "")
        control = html(
            _SUGGESTED,
            name=name,
            value=self.typed.get(name, ""),
            most=most,
            attributes=_attributes(name, hint, error, required=required),
            options=[html('<option value="{value}"></option>', value=value) for value in values],
        )
        return _field(name, label, control, hint, error)

    def check(self, name: str, label: str) -> Html:
        """A box to tick; its value is `yes`."""
        checked = Html(" checked") if self.typed.get(name) == "yes" else NOTHING
        return html(_CHECK, name=name, label=label, checked=checked)


def hidden(name: str, value: str) -> Html:
    return html('<input type="hidden" name="{name}" value="{value}">', name=name, value=value)


def action(path: str, csrf: Html, label: str, kind: str, fields: Html = NOTHING, *, subject: str = "") -> Html:
    """A form that is one button. `subject` names the button's object for screen readers, which do not see its row."""
    described = html(' aria-label="{label} {subject}"', label=label, subject=subject) if subject else NOTHING
    return html(_ACTION, action=path, csrf=csrf, fields=fields, label=label, kind=kind, described=described)


def confirmed(path: str, csrf: Html, label: str, loss: str, fields: Html = NOTHING, *, subject: str = "") -> Html:
    """A button that asks first: it opens to `loss`, which says what is lost, and to the button itself."""
    described = html(' aria-label="{label} {subject} …"', label=label, subject=subject) if subject else NOTHING
    button = action(path, csrf, label, "danger", fields, subject=subject)
    return html(_CONFIRMED, label=label, described=described, loss=loss, button=button)


def more(path: str, position: str | None, filters: Mapping[str, str] = NO_FILTERS) -> Html:
    """A link to the next page of the list at the path, if there is one; `filters` are the list's query."""
    if position is None:
        return NOTHING
    query = query_of({**filters, "after": issue(position, path)})
    return html('<p><a href="{path}{query}">More</a></p>', path=path, query=query)


def empty(text: Html | str) -> Html:
    return html('<p class="soft">{text}</p>', text=text)


def nothing_yet(purpose: str, first_step: Html | str) -> Html:
    """The text of an empty list: its purpose, and how its first entry comes about."""
    return html(_NOTHING_YET, purpose=purpose, first_step=first_step)


def tag(text: str, kind: str = "") -> Html:
    """A short label; `kind` is empty, `good`, `bad`, `warn` (waits for somebody), `busy` (changes) or `silent`."""
    return html('<span class="tag {kind}">{text}</span>', text=text, kind=kind)


def tags(words: Iterable[str]) -> list[Html]:
    """A plain tag for each word."""
    return [html("{tag} ", tag=tag(word)) for word in words]


def counted(n: int, noun: str) -> str:
    """The number with its noun: `1 host`, `1,200 hosts`, `2 queries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def link(path: str, name: str) -> Html:
    """A link to the page of a list's entry."""
    return html('<a href="{path}"><strong>{name}</strong></a>', path=path, name=name)


def reason(text: str, label: str = "Why") -> Html:
    """A text of a host or a collector, as it was reported; empty for none."""
    return html(_REASON, text=text, label=label) if text else NOTHING


def query_of(query: Mapping[str, str]) -> str:
    """The query of an address, with its `?`, of the values that are not empty."""
    filled = {name: value for name, value in query.items() if value}
    return f"?{urlencode(filled)}" if filled else ""


def managed(by: str | None) -> Html:
    """The name of the program that manages it, if one does: somebody who changes it by hand should know."""
    return html(" · managed by <code>{by}</code>", by=by) if by else NOTHING


def home(caller: Caller) -> str:
    """The path of the organization."""
    return f"/organizations/{caller.organization_id}"


def moment(at: datetime) -> Html:
    """A time to the minute, in UTC; the page's script shows it in the time zone that the person chose."""
    return _time(at, "minute", at.strftime("%Y-%m-%d %H:%M UTC"))


def second(at: datetime) -> Html:
    """A time to the second, as `moment`."""
    return _time(at, "second", at.strftime("%Y-%m-%d %H:%M:%S UTC"))


def ago(at: datetime) -> Html:
    """A time whose age the page's script shows and keeps; without scripts the time itself."""
    return _time(at, "age", at.strftime("%Y-%m-%d %H:%M:%S UTC"))


def until(at: datetime) -> Html:
    """A time to come: the page's script shows how long it is until then."""
    return _time(at, "until", at.strftime("at %Y-%m-%d %H:%M:%S UTC"))


def _time(at: datetime, kind: str, text: str) -> Html:
    iso = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return html('<time datetime="{iso}" data-as="{kind}">{text}</time>', iso=iso, kind=kind, text=text)


def _field(name: str, label: str, control: Html, hint: str, error: str) -> Html:
    return html(
        _FIELD,
        name=name,
        label=label,
        control=control,
        hint=html('<p class="hint" id="{name}-hint">{text}</p>', name=name, text=hint) if hint else NOTHING,
        error=html('<p class="error" id="{name}-error">{text}</p>', name=name, text=with_code(error))
        if error
        else NOTHING,
    )


def _attributes(name: str, hint: str, error: str, *, required: bool) -> Html:
    described = " ".join(f"{name}-{kind}" for kind, text in (("hint", hint), ("error", error)) if text)
    return html(
        "{required}{described}{invalid}",
        required=Html(" required") if required else NOTHING,
        described=html(' aria-describedby="{ids}"', ids=described) if described else NOTHING,
        invalid=Html(' aria-invalid="true"') if error else NOTHING,
    )
