"""Card of the configuration that an observed collector reports, on its page."""

from __future__ import annotations

from typing import Final

from headgate.deployments.model import Deployment
from headgate.foundation.caller import Caller
from headgate.instances import observed
from headgate.instances.model import Instance
from headgate.instances.observed import NothingReported
from web.html import NOTHING, Html, html
from web.parts import empty, home, second, tags

_LONGEST: Final = 100_000
_CARD: Final = """\
<div class="card"><h2>What it reports to run</h2>{content}</div>"""
_REPORTED: Final = """\
<p class="soft small">Without secrets, since {at}. SHA-256 <code>{sha256}</code></p><p>{components}</p>
{changed}<details><summary>The configuration</summary>
<pre tabindex="0" aria-label="The configuration">{yaml}</pre></details>
<p class="last"><a href="{path}/findings">What is wrong with it, also on another version</a> ·
<a href="{path}/adopt">Make it a draft, with variables for what was redacted</a></p>"""
_CHANGED: Final = """\
<details><summary>What changed in it last</summary>
<pre tabindex="0" aria-label="What changed">{difference}</pre></details>"""
_TOO_LONG: Final = "The text is too long for a page: `headgate fleet configuration` prints it"


def reported_card(caller: Caller, group: Deployment, instance: Instance) -> Html:
    """The card, empty for a collector that Headgate configures. Up to five reads."""
    if not (group.observed or instance.stays_observed(group)):
        return NOTHING
    try:
        shown = observed.configuration(caller, group.fleet_id, instance.id)
    except NothingReported as reason:
        return html(_CARD, content=empty(reason.detail))
    known = instance.reported.effective
    content = html(
        _REPORTED,
        at=second(shown.at),
        sha256=shown.sha256,
        components=tags(known.components if known else ()),
        changed=html(_CHANGED, difference=shown.difference[:_LONGEST]) if shown.difference else NOTHING,
        yaml=shown.yaml if len(shown.yaml) <= _LONGEST else _TOO_LONG,
        path=f"{home(caller)}/fleets/{group.fleet_id}/collectors/{instance.id}",
    )
    return html(_CARD, content=content)
