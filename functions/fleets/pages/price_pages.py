"""The page of prices: what the organization pays at destinations. Any member sees it, an Admin changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import prices as api
from headgate.fleets import prices
from headgate.fleets.prices import PriceList
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.statuses import status_of
from web.commands import Posted, command
from web.cost_card import price_in_words
from web.html import Html, html
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import area, empty, hidden, home, text
from web.table import table
from web.visitor import Visitor

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/prices"
_ANY: Final = "*"
_WORDS: Final = 4
# 100 lines of an exporter, a host, an amount and a unit.
_LONGEST: Final = 40_000
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a></p>
<h1>Prices</h1>
<div class="card"><p class="soft">What it costs to send to a destination. With prices, the pages of groups and
configurations and <code>headgate fleet costs</code> show what sending costs by day.</p>{content}</div>"""
_FORM: Final = """\
<form method="post" action="{path}">{csrf}{etag}{currency}{prices}<button>Save</button></form>"""
_HINT: Final = """\
One on each line: the exporter's type, the host or *, an amount, and gigabyte or million_records; such as
otlphttp api.example.com 0.25 gigabyte"""


@router.get(_PATH)
def show_prices(who: Visit, caller: Member) -> Response:
    return _page(who, caller, prices.get(caller))


def _refused(posted: Posted, error: errors.HeadgateError) -> Response:
    """The page with the typed prices; after a change by somebody else, with the saved ones."""
    typed = None if isinstance(error, errors.PreconditionFailed) else posted.form
    return _page(posted.who, posted.caller, prices.get(posted.caller), typed, error)


def _asked(posted: Posted) -> Mapping[str, object]:
    lines = [line.split() for line in posted.form.get("prices", "").splitlines() if line.strip()]
    for place, words in enumerate(lines):
        if len(words) != _WORDS:
            message = "Give an exporter, a host or *, an amount, and gigabyte or million_records"
            raise errors.Invalid(message, [errors.FieldError(("body", "prices", place), message)])
    return {
        "currency": posted.form.get("currency", "").strip(),
        "prices": [
            {"exporter": exporter, "host": None if host == _ANY else host, "amount": amount, "per": per}
            for exporter, host, amount, per in lines
        ],
    }


command(
    router,
    _PATH,
    api.put_prices,
    "/fleets/prices",
    body=_asked,
    arguments={"if_match": "etag"},
    refused=_refused,
    refusals=(errors.Invalid, errors.PreconditionFailed),
)


def _as_typed(known: PriceList) -> Mapping[str, str]:
    lines = [f"{price.exporter} {price.host or _ANY} {price.amount} {price.per}" for price in known.prices]
    return {"currency": known.currency, "prices": "\n".join(lines), "etag": known.etag}


def _page(
    who: Visitor,
    caller: Caller,
    known: PriceList,
    typed: Mapping[str, str] | None = None,
    refused: errors.HeadgateError | None = None,
) -> Response:
    """The prices; after a refusal, with what was typed, and the reason beside its field or at the top."""
    shown, problems = frame(who, caller, "fleets"), _problems(refused)
    values = _as_typed(known) if typed is None else typed
    content = _form(caller, csrf_field(shown), values, problems) if caller.is_admin else _table(known)
    message = "" if refused is None else "Nothing was changed" if problems else refused.detail
    if isinstance(refused, errors.PreconditionFailed):
        message = "Somebody changed the prices meanwhile: look at them, and save again"
    status = status_of(refused) if refused else 200
    return page(shown, "Prices", html(_PAGE, home=home(caller), content=content), problem=message, status=status)


def _problems(refused: errors.HeadgateError | None) -> dict[str, str]:
    """By the name of the field, with the line that a price stands in."""
    problems: dict[str, str] = {}
    for error in refused.errors if isinstance(refused, errors.Invalid) else ():
        field, *entry = error.loc[1:] or ("prices",)
        line = f"Line {entry[0] + 1}: " if entry and isinstance(entry[0], int) else ""
        problems.setdefault(str(field), f"{line}{error.message}")
    return problems


def _form(caller: Caller, csrf: Html, typed: Mapping[str, str], problems: Mapping[str, str]) -> Html:
    value = typed.get("prices", "")
    return html(
        _FORM,
        path=f"{home(caller)}/fleets/prices",
        csrf=csrf,
        etag=hidden("etag", typed.get("etag", "")),
        currency=text("currency", "Currency", typed.get("currency", ""), most=3, error=problems.get("currency", "")),
        prices=area(
            *("prices", "Prices", value),
            most=_LONGEST,
            rows=8,
            required=False,
            hint=_HINT,
            error=problems.get("prices", ""),
        ),
    )


def _table(known: PriceList) -> Html:
    rows = [
        (
            html("<code>{exporter}</code>", exporter=price.exporter),
            price.host or "any host",
            price_in_words(price, known.currency),
        )
        for price in known.prices
    ]
    listed = table(("Exporter", "Host", "Price"), rows) if rows else empty("None yet.")
    return html("{listed}{who}", listed=listed, who=empty("An Admin of the organization changes this."))
