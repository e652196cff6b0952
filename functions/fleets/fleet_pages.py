"""The pages of fleets and their deployment groups: assignments, volume mounts and the fleet's token."""

from collections.abc import Iterable
from typing import Final

from fastapi import Response

from headgate.configurations import service as configurations
from headgate.configurations.model import ConfigurationNotFound
from headgate.deployments import mounts
from headgate.deployments import service as deployments
from headgate.deployments.model import Assignment, Deployment, VolumeMount
from headgate.fleets import service as fleets
from headgate.fleets.model import Grace
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import DeploymentId, FleetId
from headgate.http.statuses import status_of
from headgate.installs.commands import mountable
from headgate.instances import counting
from headgate.instances.counting import CountedFleet
from headgate.instances.model import INSTANCE_STATES
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import ENTRIES, After, action, choice, empty, hidden, home, moment, more, tag, text
from web.visitor import Visitor

router = page_router()

_TYPES: Final = {"server-supervisor": "Servers", "kubernetes-supervisor": "Kubernetes"}

_FLEETS: Final = '<h1>Fleets</h1><div class="card">{list}</div>{more}'
_FLEET_TABLE: Final = """\
<table><thead><tr><th>Fleet</th><th>Type</th><th>Collectors</th><th>Created</th></tr></thead><tbody>{rows}</tbody>
</table>"""
_FLEET_ROW: Final = """\
<tr><td><a href="{path}"><strong>{label}</strong></a></td><td>{type}</td>
<td data-label="Collectors">{instances}</td><td class="soft small" data-label="Created">{at}, {by}</td></tr>"""
_FLEET: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a></p>
<h1>{label}</h1>
<p class="soft">{type} · <code>{id}</code> · {token}</p>
<div class="card"><h2>Deployment groups</h2>{groups}</div>{more}
<div class="card"><h2>Collectors</h2>{instances}</div>{renewal}"""
_NO_FLEETS: Final = """\
<p class="soft">No fleets yet. Create one with <code>headgate fleet create LABEL</code>.</p>"""
_NO_GROUPS: Final = """\
<p class="soft">No deployment groups yet. Create one with
<code>headgate deployment create {id} NAME CONFIGURATION --role ROLE</code>.</p>"""
_COLLECTORS: Final = '<p class="last">{counts} <a href="{path}/collectors">Show each collector</a></p>'
_NO_COLLECTORS: Final = """\
<p class="soft last">No collector has reported yet. <code>headgate fleet install {id}</code> prints the command that
installs one.</p>"""
_RENEWAL: Final = """\
<div class="card"><h2>Token</h2>
<p class="soft">Every collector of this fleet signs in with this token. After a renewal, install each host again before
the old token stops working: a collector without the new token keeps running, but reports and receives nothing.</p>
<details class="confirm"><summary>Renew token …</summary><form method="post" action="{path}/token" class="apart">{csrf}
{grace}<button class="danger small">Renew token</button></form></details></div>"""
_GRACES: Final[tuple[tuple[Grace, str], ...]] = (
    ("1d", "In a day"),
    ("7d", "In a week"),
    ("none", "Now"),
)
_GROUP_TABLE: Final = """\
<table><thead><tr><th>Group</th><th>Assigned</th><th>Volume mounts</th></tr></thead><tbody>{rows}</tbody></table>"""
_GROUP_ROW: Final = """\
<tr><td><a href="{path}"><strong>{name}</strong></a> {tags}</td><td data-label="Assigned">{assigned}</td>
<td data-label="Volume mounts">{mounts}</td></tr>"""
_ASSIGNED: Final = '<a href="{home}/configurations/{id}/versions/{n}">{name}</a> <span class="soft">version {n}</span>'
_GROUP: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>{name} {tags}</h1>
<p class="soft"><code>{id}</code></p>
<div class="card"><h2>Assigned</h2><p>{assigned}</p>
<p class="hint">{delivery} <a href="{home}/fleets/{fleet}/collectors">Show what each collector runs</a></p>
</div>
<div class="card" id="volume-mounts"><h2>Volume mounts</h2>{mounts}</div>"""
_DELIVERED: Final = "The group's collectors receive this version with their next heartbeat."
_NOT_DELIVERED: Final = """\
The group's collectors run nothing until <code>headgate deployment assign {fleet} {group} CONFIGURATION</code> assigns a
version."""
_MOUNTS: Final = """\
<p class="soft">Folders of the host that are mounted into the group's containers. The Docker install command includes
them; running containers keep the mounts that they were started with.</p>{table}{add}"""
_MOUNT_TABLE: Final = """\
<table><thead><tr><th>Path on the host</th><th>Path in the container</th><th></th></tr></thead><tbody>{rows}</tbody>
</table>"""
_MOUNT_ROW: Final = """\
<tr><td data-label="Host"><code>{host_path}</code> {left_out}</td>
<td data-label="Container"><code>{mount_path}</code></td><td class="end">{remove}</td></tr>"""
_LEFT_OUT: Final = """\
<p class="hint">A mount marked <span class="tag bad">left out</span> is not in the install command. Both paths must be
absolute, must not contain <code>..</code>, and may contain only letters, digits and <code>. _ - /</code>.</p>"""
_ADD: Final = """\
<form method="post" action="{path}" class="apart" aria-label="Add a volume mount">{csrf}
<div class="two">{host_path}{mount_path}</div><button>Add mount</button></form>"""


@router.get("/organizations/{organization_id}/fleets")
def list_fleets(who: Visit, caller: Member, after: After) -> Response:
    part = counting.fleets(caller, ENTRIES, after)
    rows = [
        html(
            _FLEET_ROW,
            path=f"{home(caller)}/fleets/{counted.fleet.id}",
            label=counted.fleet.label,
            type=_TYPES[counted.fleet.type],
            instances=_instances(counted),
            at=moment(counted.fleet.created_at),
            by=counted.fleet.created_by.name,
        )
        for counted in part.entries
    ]
    listed = html(_FLEET_TABLE, rows=rows) if rows else Html(_NO_FLEETS)
    content = html(_FLEETS, list=listed, more=more(f"{home(caller)}/fleets", part.position))
    return page(frame(who, caller, "fleets"), "Fleets", content)


@router.get("/organizations/{organization_id}/fleets/{fleet_id}")
def show_fleet(who: Visit, caller: Member, fleet_id: FleetId, after: After) -> Response:
    shown, counted = frame(who, caller, "fleets"), counting.fleet(caller, fleet_id)
    fleet = counted.fleet
    part = deployments.deployments(caller, fleet_id, ENTRIES, after)
    names = names_of(caller, (group.assignment for group in part.entries))
    path = f"{home(caller)}/fleets/{fleet_id}"
    rows = [
        html(
            _GROUP_ROW,
            path=f"{path}/deployments/{group.id}",
            name=group.name,
            tags=_tags(group),
            assigned=_assigned(caller, group.assignment, names),
            mounts=len(group.volume_mounts) or html('<span class="soft">none</span>'),
        )
        for group in part.entries
    ]
    content = html(
        _FLEET,
        home=home(caller),
        id=fleet.id,
        label=fleet.label,
        type=_TYPES[fleet.type],
        token=f"token expires at {moment(fleet.token_expires_at)}" if fleet.token_expires_at else "token never expires",
        groups=html(_GROUP_TABLE, rows=rows) if rows else html(_NO_GROUPS, id=fleet.id),
        more=more(path, part.position),
        instances=html(
            _COLLECTORS if counted.total else _NO_COLLECTORS,
            counts=_instances(counted),
            path=path,
            id=fleet.id,
        ),
        renewal=_renewal(path, csrf_field(shown)) if caller.is_admin else NOTHING,
    )
    return page(shown, fleet.label, content)


@router.post("/organizations/{organization_id}/fleets/{fleet_id}/token")
def renew_token(caller: Member, fleet_id: FleetId, form: Form) -> Response:
    grace = next((value for value, _ in _GRACES if value == form.get("grace", "1d")), None)
    if grace is None:
        raise errors.Invalid("Choose from the list when the old token stops working")
    fleets.renew_token(caller, fleet_id, grace)
    return redirect(f"{home(caller)}/fleets/{fleet_id}")


def _renewal(path: str, csrf: Html) -> Html:
    return html(_RENEWAL, path=path, csrf=csrf, grace=choice("grace", "The old token stops working", _GRACES, "1d"))


@router.get("/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}")
def show_deployment(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    return _group_page(who, caller, fleet_id, deployment_id)


@router.post("/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}/volume-mounts")
def add_mount(who: Visit, caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    mount = _mount(form)
    try:
        mounts.add(caller, fleet_id, deployment_id, mount)
    except errors.Invalid as error:
        return _group_page(who, caller, fleet_id, deployment_id, mount, error)
    return redirect(f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}")


@router.post("/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}/volume-mounts/remove")
def remove_mount(caller: Member, fleet_id: FleetId, deployment_id: DeploymentId, form: Form) -> Response:
    mounts.remove(caller, fleet_id, deployment_id, VolumeMount(form.get("host_path", ""), form.get("mount_path", "")))
    return redirect(f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}")


def _group_page(
    who: Visitor,
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    typed: VolumeMount | None = None,
    error: errors.Invalid | None = None,
) -> Response:
    """The group's page; after an error, with the typed mount and the error beside its field."""
    fleet = fleets.get(caller, fleet_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    shown = frame(who, caller, "fleets")
    path = f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}/volume-mounts"
    problems = {str(field.loc[-1]): field.message for field in error.errors} if error else {}
    typed = typed or VolumeMount("", "")
    fields = {
        "host_path": text(
            "host_path", "Path on the host", typed.host_path, most=1_000, error=problems.pop("host_path", "")
        ),
        "mount_path": text(
            "mount_path", "Path in the container", typed.mount_path, most=1_000, error=problems.pop("mount_path", "")
        ),
    }
    content = html(
        _GROUP,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        id=group.id,
        name=group.name,
        tags=_tags(group),
        assigned=_assigned(caller, group.assignment, names_of(caller, [group.assignment])),
        delivery=Html(_DELIVERED) if group.assignment else html(_NOT_DELIVERED, fleet=fleet.id, group=group.id),
        mounts=empty("Groups of a Kubernetes fleet have no volume mounts.")
        if fleet.on_kubernetes
        else html(
            _MOUNTS,
            table=_mounts(path, csrf_field(shown), group),
            add=html(_ADD, path=path, csrf=csrf_field(shown), **fields),
        ),
    )
    # Errors of the two fields are shown beside them.
    problem = next(iter(problems.values()), "The mount was not added") if error else ""
    return page(shown, group.name, content, problem=problem, status=status_of(error) if error else 200)


def _mounts(path: str, csrf: Html, group: Deployment) -> Html:
    rows = [
        html(
            _MOUNT_ROW,
            host_path=mount.host_path,
            mount_path=mount.mount_path,
            left_out=NOTHING if mountable(mount) else tag("left out", "bad"),
            remove=action(
                f"{path}/remove",
                csrf,
                "Remove",
                "danger",
                html(
                    "{host}{mount}",
                    host=hidden("host_path", mount.host_path),
                    mount=hidden("mount_path", mount.mount_path),
                ),
                of=mount.mount_path,
            ),
        )
        for mount in group.volume_mounts
    ]
    if not rows:
        return NOTHING
    some_left_out = not all(map(mountable, group.volume_mounts))
    return html("{table}{why}", table=html(_MOUNT_TABLE, rows=rows), why=Html(_LEFT_OUT if some_left_out else ""))


def _mount(form: dict[str, str]) -> VolumeMount:
    return VolumeMount(form.get("host_path", "").strip(), form.get("mount_path", "").strip())


def _instances(counted: CountedFleet) -> Html:
    if not counted.total:
        return html('<span class="soft">none yet</span>')
    kinds = {"applied": "good", "apply_failed": "bad", "silent": "bad", "stale": "bad"}
    counts = [
        html("{tag} ", tag=tag(f"{counted.instances[state]} {state.replace('_', ' ')}", kinds.get(state, "")))
        for state in INSTANCE_STATES
        if counted.instances.get(state)
    ]
    return html("{total} {counts}", total=counted.total, counts=counts)


def _tags(group: Deployment) -> list[Html]:
    # The group that every server fleet begins with is named Default: its tag would say it twice.
    words = ["default"] if group.is_default and group.name.lower() != "default" else []
    words += [group.role] if group.role else []
    words += [f"{group.replicas} replicas"] if group.replicas else []
    words += [f"namespace {group.namespace}"] if group.namespace else []
    return [html("{tag} ", tag=tag(word)) for word in words]


def _assigned(caller: Caller, assignment: Assignment | None, names: dict[str, str]) -> Html:
    if assignment is None:
        return html('<span class="soft">nothing assigned</span>')
    name = names[assignment.configuration_id]
    return html(_ASSIGNED, home=home(caller), id=assignment.configuration_id, n=assignment.version_number, name=name)


def names_of(caller: Caller, assignments: Iterable[Assignment | None]) -> dict[str, str]:
    """The names of the assigned configurations by id; one read each."""
    ids = {assignment.configuration_id for assignment in assignments if assignment}
    return {configuration_id: _name(caller, configuration_id) for configuration_id in ids}


def _name(caller: Caller, configuration_id: str) -> str:
    """The name; everyone may see it, as only published versions are assigned. The id if it is deleted."""
    try:
        return configurations.summary(caller, configuration_id).name
    except ConfigurationNotFound:
        return configuration_id
