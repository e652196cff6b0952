"""The page of what hosts take out of samples: any member sees it, an Admin changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import captures as api
from headgate.captures import service as captures
from headgate.captures.model import KINDS, Kind, Redaction
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.statuses import status_of
from web.commands import Posted, command
from web.html import Html, html
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import area, check, empty, home
from web.visitor import Visitor

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
def show_redaction(who: Visit, caller: Member) -> Response:
    return _page(who, caller, _as_typed(captures.redaction(caller)))


def _refused(posted: Posted, error: errors.HeadgateError) -> Response:
    return _page(posted.who, posted.caller, posted.form, error)


def _asked(posted: Posted) -> Mapping[str, object]:
    kinds = [kind for kind in KINDS if posted.form.get(f"kind.{kind}") == "yes"]
    return {"kinds": kinds, **{name: _lines(posted.form.get(name, "")) for name in _LONGEST}}


command(
    router,
    _PATH,
    api.put_capture_redaction,
    "/fleets/capture-redaction",
    body=_asked,
    refused=_refused,
    refusals=(errors.Invalid,),
)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _as_typed(rules: Redaction) -> Mapping[str, str]:
    kinds = {f"kind.{kind}": "yes" for kind in rules.kinds}
    return {**kinds, "patterns": "\n".join(rules.patterns), "keys": "\n".join(rules.keys)}


def _problems(refused: errors.HeadgateError | None) -> dict[str, str]:
    """By the name of the field, with the line that an entry of a list stands in."""
    problems: dict[str, str] = {}
    for each in refused.errors if isinstance(refused, errors.Invalid) else ():
        field, *entry = each.loc[1:]
        line = f"Line {entry[0] + 1}: " if entry and isinstance(entry[0], int) else ""
        problems.setdefault(str(field), f"{line}{each.message}")
    return problems


def _page(
    who: Visitor, caller: Caller, typed: Mapping[str, str], refused: errors.HeadgateError | None = None
) -> Response:
    """The settings; after a refusal, with what was typed, and the reason beside its field or at the top."""
    shown, problems = frame(who, caller, "fleets"), _problems(refused)
    content = _form(caller, csrf_field(shown), typed, problems) if caller.is_admin else _read_only(typed)
    message = "" if refused is None else "Nothing was changed" if problems else refused.detail
    status = status_of(refused) if refused else 200
    title = "What hosts take out of samples"
    return page(shown, title, html(_PAGE, home=home(caller), content=content), problem=message, status=status)


def _form(caller: Caller, csrf: Html, typed: Mapping[str, str], problems: Mapping[str, str]) -> Html:
    def lines(name: str, label: str, hint: str) -> Html:
        value, error = typed.get(name, ""), problems.get(name, "")
        return area(name, label, value, most=_LONGEST[name], rows=5, required=False, hint=hint, error=error)

    return html(
        _FORM,
        path=f"{home(caller)}/fleets/capture-redaction",
        csrf=csrf,
        kinds=[
            check(f"kind.{kind}", label, checked=typed.get(f"kind.{kind}") == "yes") for kind, label in _KINDS.items()
        ],
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
