"""The part of a comparison that says which components differ, and what restarts because of it."""

from collections.abc import Sequence
from typing import Final

from headgate.configurations.differences import Change, ComponentDifference, differences
from web.html import NOTHING, Html, html
from web.parts import empty, tag
from web.table import Cell, Column, table

# A page lists no more; the texts below have all.
_MOST: Final = 300
_CARD: Final = '<div class="card" id="differences"><h2>Components</h2>{content}</div>'
_LISTED: Final = """\
{table}{more}
<p class="soft last">A host that receives this change restarts its whole collector, whichever component differs.</p>"""
_COLUMNS: Final = ("Component", "Section", "Change", Column("Lines", kind="soft small"))
_SIGNS: Final[dict[Change, tuple[str, str]]] = {
    "added": ("+ added", "good"),
    "removed": ("− removed", "bad"),
    "changed": ("~ changed", ""),
}
_UNKNOWN: Final = "One of the texts is over 400 KB or cannot be read as YAML, so that only the texts are compared."
_SAME: Final = """\
The collector reads the same in both: they differ in comments or in the way they are written.
"""


def card(before: str, after: str) -> Html:
    if before == after:
        return NOTHING
    parts = differences(before, after)
    if parts is None:
        return html(_CARD, content=empty(_UNKNOWN))
    if not parts:
        return html(_CARD, content=empty(_SAME))
    left_out = len(parts) - _MOST
    more = html('<p class="soft">{n} more</p>', n=left_out) if left_out > 0 else NOTHING
    return html(_CARD, content=html(_LISTED, table=table(_COLUMNS, map(_row, parts[:_MOST])), more=more))


def _row(difference: ComponentDifference) -> Sequence[Cell]:
    lines = " → ".join(str(line) for line in (difference.before, difference.after) if line is not None)
    return html("<strong>{id}</strong>", id=difference.id), difference.section, tag(*_SIGNS[difference.change]), lines
