"""The part of a comparison that says which components differ, and what restarts because of it."""

from typing import Final

from headgate.configurations.differences import Change, Difference, differences
from web.html import NOTHING, Html, html
from web.parts import empty, tag

# A page lists no more; the texts below have all.
_MOST: Final = 300
_CARD: Final = '<div class="card" id="differences"><h2>Components</h2>{content}</div>'
_TABLE: Final = """\
<table><thead><tr><th scope="col">Component</th><th scope="col">Section</th><th scope="col">Change</th>
<th scope="col">Lines</th></tr></thead><tbody>{rows}</tbody></table>{more}
<p class="soft last">A host that receives this change restarts its whole collector, whichever component differs.</p>"""
_ROW: Final = """\
<tr><td><strong>{id}</strong></td><td data-label="Section">{section}</td><td data-label="Change">{change}</td>
<td class="soft small" data-label="Lines">{lines}</td></tr>"""
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
    found = differences(before, after)
    if found is None:
        return html(_CARD, content=empty(_UNKNOWN))
    if not found:
        return html(_CARD, content=empty(_SAME))
    left_out = len(found) - _MOST
    more = html('<p class="soft">{n} more</p>', n=left_out) if left_out > 0 else NOTHING
    return html(_CARD, content=html(_TABLE, rows=[_row(one) for one in found[:_MOST]], more=more))


def _row(one: Difference) -> Html:
    lines = " → ".join(str(line) for line in (one.before, one.after) if line is not None)
    return html(_ROW, id=one.id, section=one.section, change=tag(*_SIGNS[one.change]), lines=lines)
