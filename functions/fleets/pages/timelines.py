"""Timelines on pages: entries, newest first, and the state at a chosen time."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Final

from fastapi import Query

from headgate.foundation import errors
from web.forms import read_minute
from web.html import NOTHING, Html, html
from web.parts import Fields, empty, more, second

ENTRIES: Final = 50
AtMinute = Annotated[str, Query(max_length=40)]
"""The time that a person asks for, as the field of the form has it; empty for none."""
Entry = tuple[datetime, Html]

_CARD: Final = """\
<div class="card" id="timeline"><h2>Timeline</h2>
<form method="get" action="{path}#timeline" class="row" role="search">{at}<button class="plain">Show this time</button>
</form>{then}{list}{more}</div>"""
_THEN: Final = '<div class="notice" role="status">{then}</div>'
_LIST: Final = '<ol class="timeline">{entries}</ol>'
_ENTRY: Final = '<li><span class="soft small">{at}</span><span>{what}</span></li>'


def timeline(
    path: str, entries: Sequence[Entry], position: str | None, typed: str, then: Callable[[datetime], Html]
) -> Html:
    """The card. `typed` is the time that was asked for, `then` what was so at it; refusals are told at the field."""
    answer, error = NOTHING, ""
    if typed:
        try:
            answer = html(_THEN, then=then(read_minute(typed, "at")))
        except (errors.Invalid, errors.NotFound) as refused:
            error = refused.detail
    fields = Fields({"at": typed}, {"at": error})
    rows = [html(_ENTRY, at=second(at), what=what) for at, what in entries]
    return html(
        _CARD,
        path=path,
        at=fields.text("at", "What was so at (UTC)", most=40, required=False, kind="datetime-local"),
        then=answer,
        list=html(_LIST, entries=rows) if rows else empty("Nothing is recorded yet."),
        more=more(path, position),
    )
