"""The card of the variables that are stored with a deployment group, with the form that sets one."""

from collections.abc import Mapping, Sequence
from typing import Final

from headgate.deployments.environment import Environment, Variable
from headgate.deployments.model import Deployment
from headgate.storage.sealed import MAX_BYTES
from web.html import NOTHING, Html, html
from web.parts import check, confirmed, empty, hidden, moment, nothing_yet, tag, text
from web.table import END, Cell, Column, table

_CARD: Final = """\
<div class="card" id="variables"><h2>Variables</h2>{stored}{form}</div>"""
_FORM: Final = """\
<form method="post" action="{path}" class="apart" aria-label="Set a variable" autocomplete="off">{csrf}
<div class="two">{name}{value}</div>{secret}<button>Set variable</button></form>"""
_COLUMNS: Final = ("Name", "Value", Column("Set", kind="soft small"), END)
_FOR: Final = (
    "Hosts get these variables for their collector's environment when they are installed; a configuration uses "
    "${env:NAME}. With the first one, the group gets a token of its own: install its hosts with a new command."
)
_FIRST: Final = "None yet: set one below."
_LOSS: Final = "A host keeps it until it is installed again with --clear-env."


def variables_card(
    path: str,
    csrf: Html,
    group: Deployment,
    stored: Environment,
    typed: Mapping[str, str],
    problems: Mapping[str, str],
) -> Html:
    """The card; after a refusal, with what was typed."""
    rows = [_row(path, csrf, name, variable) for name, variable in sorted(stored.variables.items())]
    form = html(
        _FORM,
        path=path,
        csrf=csrf,
        name=text(
            "variable",
            "Variable",
            typed.get("variable", ""),
            most=200,
            hint="One that is there is replaced",
            error=problems.get("variable", ""),
        ),
        value=text(
            "value",
            "Value",
            typed.get("value", ""),
            most=MAX_BYTES,
            required=False,
            error=problems.get("value", ""),
        ),
        secret=check("secret", "Secret: encrypted, and never shown again", checked=typed.get("secret") == "yes"),
    )
    if group.selector and not typed.get("variable"):
        return html(
            _CARD,
            stored=NOTHING,
            form=empty("Labels select the hosts of this group, so it has no variables: labels are a host's word."),
        )
    return html(_CARD, stored=table(_COLUMNS, rows) if rows else nothing_yet(_FOR, _FIRST), form=form)


def _row(path: str, csrf: Html, name: str, variable: Variable) -> Sequence[Cell]:
    remove = _removal(path, csrf, name)
    value = tag("secret") if variable.secret is not None else html("<code>{value}</code>", value=variable.value)
    return html("<code>{name}</code>", name=name), value, moment(variable.set_at), remove


def _removal(path: str, csrf: Html, name: str) -> Html:
    return confirmed(f"{path}/remove", csrf, "Remove", _LOSS, hidden("variable", name), of=name)
