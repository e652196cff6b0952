"""The card of the variables that are stored with a deployment group, with the form that sets one."""

from collections.abc import Sequence
from typing import Final

from headgate.deployments.environment import Environment, GroupVariable
from headgate.deployments.model import Deployment
from headgate.rollouts.upgrading import VariableHosts
from headgate.storage.sealed import MAX_BYTES
from web.html import NOTHING, Html, html, with_code
from web.parts import Fields, confirmed, counted, empty, hidden, moment, nothing_yet, tag
from web.table import END, Cell, Column, table

_CARD: Final = """\
<div class="card" id="variables"><h2>Variables</h2>{stored}{hosts}{form}</div>"""
_FORM: Final = """\
<form method="post" action="{path}" class="apart" aria-label="Set a variable" autocomplete="off">{csrf}
<div class="two">{name}{value}</div>{secret}<button>Set variable</button></form>"""
_COLUMNS: Final = ("Name", "Value", Column("Set", kind="soft small"), END)
_FOR: Final = (
    "Hosts get these variables for their collector's environment when they are installed, and changes of them by a "
    "rollout; a configuration uses ${env:NAME}. With the first one, the group gets a token of its own: install its "
    "hosts with a new command."
)
_FIRST: Final = "None yet: set one below."
_OF_LABELS: Final = "Labels select the hosts of this group, so it has no variables: labels are a host's word."
_OF_OBSERVED: Final = "Headgate sends the collectors of an observed fleet nothing, so its group takes no variables."
_LOSS: Final = "A host keeps it until a rollout of the variables, or until it is installed again with --clear-env."
_HOSTS: Final = """\
<h3>On hosts</h3><p>Stored is revision {newest}. {running}</p>{unreached}{roll_out}"""
_UNREACHED: Final = """\
<details><summary>No rollout can bring variables to {hosts}</summary><ul class="small">{named}</ul></details>"""
_ROLL_OUT: Final = '<p><a class="button" href="{group}?variables={newest}#assign">Roll out revision {newest}</a></p>'


def variables_card(
    group_path: str, csrf: Html, known: tuple[Deployment, Environment, VariableHosts], fields: Fields
) -> Html:
    """The card; after a refusal, with what was typed."""
    group, stored, hosts = known
    path = f"{group_path}/settings/variables"
    rows = [_row(path, csrf, name, variable) for name, variable in sorted(stored.variables.items())]
    form = html(
        _FORM,
        path=path,
        csrf=csrf,
        name=fields.text("variable", "Variable", most=200, hint="One that is there is replaced"),
        value=fields.text("value", "Value", most=MAX_BYTES, required=False),
        secret=fields.check("secret", "Secret: encrypted, and never shown again"),
    )
    why_none = _OF_LABELS if group.selector else _OF_OBSERVED if group.observed else ""
    if why_none and not fields.typed.get("variable"):
        return html(_CARD, stored=table(_COLUMNS, rows) if rows else NOTHING, hosts=NOTHING, form=empty(why_none))
    listed = table(_COLUMNS, rows) if rows else nothing_yet(_FOR, _FIRST)
    return html(_CARD, stored=listed, hosts=_of_hosts(group_path, group, stored, hosts), form=form)


def _of_hosts(group_path: str, group: Deployment, stored: Environment, hosts: VariableHosts) -> Html:
    """Shows what runs where, and the way to a rollout; nothing if none was ever stored, or nobody reports."""
    if stored.revision == 0 or hosts.total == 0:
        return NOTHING
    words = [f"{counted(n, 'host')} with {_revision(revision)}" for revision, n in hosts.running.items()]
    if hosts.unknown:
        words.append(f"{counted(hosts.unknown, 'host')} that {'does' if hosts.unknown == 1 else 'do'} not say")
    named = [html("<li>{name}: {why}</li>", name=each.name, why=with_code(each.message)) for each in hosts.named]
    moved = hosts.running.get(stored.revision, 0) == hosts.total or hosts.unreached == hosts.total
    return html(
        _HOSTS,
        newest=stored.revision,
        running=f"By the hosts' reports: {', '.join(words)}.",
        unreached=html(_UNREACHED, hosts=counted(hosts.unreached, "host"), named=named) if named else NOTHING,
        roll_out=NOTHING
        if moved or group.assignment is None
        else html(_ROLL_OUT, group=group_path, newest=stored.revision),
    )


def _revision(revision: int | None) -> str:
    return "the variables of the install" if revision is None else f"revision {revision}"


def _row(path: str, csrf: Html, name: str, variable: GroupVariable) -> Sequence[Cell]:
    remove = confirmed(f"{path}/remove", csrf, "Remove", _LOSS, hidden("variable", name), subject=name)
    value = tag("secret") if variable.secret is not None else html("<code>{value}</code>", value=variable.value)
    return html("<code>{name}</code>", name=name), value, moment(variable.set_at), remove
