"""The page of prices: what the organization pays at destinations. Any member sees it, an Admin changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from fleets.api import prices as api
from headgate.fleets import prices
from headgate.fleets.prices import PriceList
from headgate.foundation import errors
from web.commands import command
from web.cost_card import price_in_words
from web.forms import by_line
from web.html import Html, html
from web.pages import Here, MemberPage, page_router
from web.parts import Fields, empty, hidden
from web.table import table

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
def show_prices(here: Here) -> Response:
    """The prices; after a refusal, with what was typed, and after a change by somebody else with the saved ones."""
    known, problems = prices.get(here.caller), by_line(here.refused)
    conflict = isinstance(here.refused, errors.PreconditionFailed)
    fields = Fields(_as_typed(known) if conflict or not here.form else here.form, problems)
    content = _form(here, fields) if here.caller.is_admin else _table(known)
    problem = "Somebody changed the prices meanwhile: look at them, and save again"
    if not conflict:
        problem = fields.problem(here.refused, "Nothing was changed")
    return here.page("fleets", "Prices", html(_PAGE, home=here.home, content=content), problem=problem)


def _asked(posted: MemberPage) -> Mapping[str, object]:
    lines = [line.split() for line in posted.form.get("prices", "").splitlines() if line.strip()]
    for place, words in enumerate(lines):
        if len(words) != _WORDS:
            message = "Give an exporter, a host or *, an amount, and gigabyte or million_records"
            raise errors.Invalid(message, at=("body", "prices", place))
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
    refused=show_prices,
    refusals=(errors.Invalid, errors.PreconditionFailed),
)


def _as_typed(known: PriceList) -> Mapping[str, str]:
    lines = [f"{price.exporter} {price.host or _ANY} {price.amount} {price.per}" for price in known.prices]
    return {"currency": known.currency, "prices": "\n".join(lines), "etag": known.etag}


def _form(here: MemberPage, fields: Fields) -> Html:
    return html(
        _FORM,
        path=f"{here.home}/fleets/prices",
        csrf=here.csrf,
        etag=hidden("etag", fields.typed.get("etag", "")),
        currency=fields.text("currency", "Currency", most=3),
        prices=fields.area("prices", "Prices", most=_LONGEST, rows=8, required=False, hint=_HINT),
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
