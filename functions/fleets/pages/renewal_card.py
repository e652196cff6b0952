"""The card that renews a token: that of a fleet, or a group's own."""

from collections.abc import Mapping
from typing import Final

from headgate.fleets.model import Grace
from headgate.foundation import errors
from web.html import Html, html
from web.pages import MemberPage
from web.parts import Fields

_CARD: Final = """\
<div class="card"><h2>Token</h2>
<p class="soft">{who} signs in with this token{expires}. Hosts that sign their messages take a renewed
one by themselves before the old one stops working. Install the others again: without the new token, a collector keeps
running, but reports and receives nothing.</p>
<details class="confirm"><summary>Renew token …</summary><form method="post" action="{path}" class="apart">{csrf}
{grace}<button class="danger small">Renew token</button></form></details></div>"""
_GRACES: Final[tuple[tuple[Grace, str], ...]] = (
    ("1d", "In a day"),
    ("7d", "In a week"),
    ("unused", "When no host uses it any more, in 30 days at the latest"),
    ("none", "Now"),
)


def renewal_card(path: str, csrf: Html, who: str, expires: Html | str = "") -> Html:
    """`who` signs in with it; `expires` ends that sentence, where the page does not say it elsewhere."""
    grace = Fields().choice("grace", "The old token stops working", _GRACES, "1d")
    return html(_CARD, path=path, csrf=csrf, who=who, expires=expires, grace=grace)


def renewal(posted: MemberPage) -> Mapping[str, object]:
    """The body of the operation that renews the token. Raises Invalid."""
    grace = posted.form.get("grace", "1d")
    if grace not in dict(_GRACES):
        raise errors.Invalid("Choose from the list when the old token stops working")
    return {"grace": grace}
