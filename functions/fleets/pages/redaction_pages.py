"""The page of what hosts take out of samples: any member sees it, an Admin changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import captures as api
from headgate.captures import service as captures
from headgate.captures.model import KINDS, Kind, Redaction
from headgate.foundation import errors
from web.commands import command
from web.forms import by_line
from web.html import Html, html
from web.pages import Here, MemberPage, page_router
from web.parts import Fields, empty

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/capture-redaction"
# 20 patterns of 300 characters; 100 keys of 200.
_LONGEST: Final = {"patterns": 7_000, "keys": 21_000}
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a></p>
<h1>What hosts take out of samples</h1>
<div class="card"><p class="soft">A host takes these out of each text of a capture before anything leaves it. Changes
count for captures that are started later.</p>{content}</div>"""
_FORM: Final = """\
<form method="post" action="{path}">{csrf}<fieldset><legend>Secrets that hosts know</legend>{kinds}</fieldset>
{patterns}{keys}<button>Save</button></form>"""
_SHOWN: Final = """\
<h2>Secrets that hosts know</h2>{kinds}<h2>Patterns</h2>{patterns}<h2>Keys</h2>{keys}"""
_KINDS: Final[Mapping[Kind, str]] = {
    "credentials": "Credentials: keys, tokens, passwords, cookies",
    "card_numbers": "Card numbers",
    "mail_addresses": "Mail addresses",
    "random_strings": "Random strings, such as keys, hashes and UUIDs",
}


@router.get(_PATH)
def show_redaction(here: Here) -> Response:
    """The settings; after a refusal, with what was typed, and the reason beside its field or at the top."""
    fields = Fields(here.form or _as_typed(captures.redaction(here.caller)), by_line(here.refused))
    content = _form(here, fields) if here.caller.is_admin else _read_only(fields.typed)
    title, problem = "What hosts take out of samples", fields.problem(here.refused, "Nothing was changed")
    return here.page("fleets", title, html(_PAGE, home=here.home, content=content), problem=problem)


def _asked(posted: MemberPage) -> Mapping[str, object]:
    kinds = [kind for kind in KINDS if posted.form.get(f"kind.{kind}") == "yes"]
    return {"kinds": kinds, **{name: _lines(posted.form.get(name, "")) for name in _LONGEST}}


command(
    router,
    _PATH,
    api.put_capture_redaction,
    "/fleets/capture-redaction",
    body=_asked,
    refused=show_redaction,
    refusals=(errors.Invalid,),
)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _as_typed(rules: Redaction) -> Mapping[str, str]:
    kinds = {f"kind.{kind}": "yes" for kind in rules.kinds}
    return {**kinds, "patterns": "\n".join(rules.patterns), "keys": "\n".join(rules.keys)}


def _form(here: MemberPage, fields: Fields) -> Html:
    def lines(name: str, label: str, hint: str) -> Html:
        return fields.area(name, label, most=_LONGEST[name], rows=5, required=False, hint=hint)

    return html(
        _FORM,
        path=f"{here.home}/fleets/capture-redaction",
        csrf=here.csrf,
        kinds=[fields.check(f"kind.{kind}", label) for kind, label in _KINDS.items()],
        patterns=lines("patterns", "Patterns", "Regular expressions of RE2, one on each line, such as order-[0-9]+"),
        keys=lines("keys", "Keys", "Keys of attributes whose values are taken out, in any case, one on each line"),
    )


def _read_only(typed: Mapping[str, str]) -> Html:
    def listed(entries: list[str]) -> Html:
        rows = [html("<li><code>{entry}</code></li>", entry=entry) for entry in entries]
        return html('<ul class="names">{rows}</ul>', rows=rows) if rows else empty("None.")

    known = [label for kind, label in _KINDS.items() if f"kind.{kind}" in typed]
    return html(
        "{rules}{who}",
        rules=html(
            _SHOWN, kinds=listed(known), patterns=listed(_lines(typed["patterns"])), keys=listed(_lines(typed["keys"]))
        ),
        who=empty("An Admin of the organization changes this."),
    )
