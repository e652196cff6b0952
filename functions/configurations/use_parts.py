"""Parts of the pages of configurations: what the collector last said, and the groups that use one."""

from collections.abc import Sequence
from typing import Final

from headgate.foundation.caller import Caller
from headgate.usage.model import CountedUse
from headgate_engine.validation.model import Verdict
from web.html import Html, html, joined
from web.parts import ago, counted, home, tag

_MOST_IN_SHORT: Final = 3
_SEEN: Final = '{tag} <span class="soft small">{at}</span>'
_USE: Final = """\
<div class="small"><a href="{home}/fleets/{fleet_id}/deployments/{deployment_id}">{group}</a> of {fleet}: {what}
<span class="soft">{hosts}</span></div>"""


def validity(verdict: Verdict | None) -> Html:
    """The last verdict on a version. It is green only if the collector accepted exactly this text."""
    if verdict is None:
        return tag("not checked")
    shown = tag("valid", "good") if verdict.valid else tag(counted(verdict.errors, "error"), "bad")
    return html(_SEEN, tag=shown, at=ago(verdict.at))


def uses_in_short(caller: Caller, uses: Sequence[CountedUse]) -> Html:
    """The first groups, and how many more there are."""
    if not uses:
        return html('<span class="soft">nowhere</span>')
    more = len(uses) - _MOST_IN_SHORT
    note = [html('<div class="soft small">and {n} more</div>', n=more)] if more > 0 else []
    return joined([*use_items(caller, uses[:_MOST_IN_SHORT]), *note])


def use_items(caller: Caller, uses: Sequence[CountedUse]) -> list[Html]:
    """Each group with its version, and how many of its collectors run it."""
    return [
        html(
            _USE,
            home=home(caller),
            fleet_id=use.use.fleet_id,
            deployment_id=use.use.deployment_id,
            group=use.use.deployment_name,
            fleet=use.use.fleet_label,
            what=f"version {use.use.version_number}" + (", by a rollout" if use.use.kind == "rollout" else ""),
            hosts=_hosts(use),
        )
        for use in uses
    ]


def _hosts(use: CountedUse) -> str:
    total, running = sum(use.instances.values()), use.instances.get("applied", 0)
    if not total:
        return "no collector heard of"
    return f"{running:,} of {total:,} collector{'' if total == 1 else 's'} run{'s' if total == 1 else ''} it"
