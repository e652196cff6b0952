"""The card of a deployment group's volume mounts, with the form that adds one."""

from collections.abc import Mapping
from typing import Final

from headgate.deployments.model import Deployment, VolumeMount
from headgate.installs.commands import mountable
from web.html import NOTHING, Html, html, joined
from web.parts import Fields, action, empty, hidden, tag
from web.table import END, Columns, table

_MOUNTS: Final = """\
<div class="card" id="volume-mounts"><h2>Volume mounts</h2>
<p class="soft">Folders of the host that are mounted into the group's containers. The Docker install command includes
them; running containers keep the mounts that they were started with.</p>{table}{add}</div>"""
MOUNT_FIELDS: Final[Mapping[str, str]] = {"host_path": "Path on the host", "mount_path": "Path in the container"}
_COLUMNS: Final[Columns] = (*MOUNT_FIELDS.values(), END)
_LEFT_OUT: Final = """\
<p class="hint">A mount marked <span class="tag bad">left out</span> is not in the install command. Both paths must be
absolute, must not contain <code>..</code>, and may contain only letters, digits and <code>. _ - /</code>.</p>"""
_ADD: Final = """\
<form method="post" action="{path}" class="apart" aria-label="Add a volume mount">{csrf}
<div class="two">{host_path}{mount_path}</div><button>Add mount</button></form>"""
_NONE_ON_KUBERNETES: Final = """\
<div class="card" id="volume-mounts"><h2>Volume mounts</h2>{text}</div>"""


def mounts_card(path: str, csrf: Html, group: Deployment, fields: Fields, *, on_kubernetes: bool) -> Html:
    """The card; after an error, with the typed mount."""
    if on_kubernetes:
        return html(_NONE_ON_KUBERNETES, text=empty("Groups of a Kubernetes fleet have no volume mounts."))
    paths = {name: fields.text(name, label, most=1_000) for name, label in MOUNT_FIELDS.items()}
    return html(_MOUNTS, table=_mounts(path, csrf, group), add=html(_ADD, path=path, csrf=csrf, **paths))


def mount_of(form: Mapping[str, str]) -> VolumeMount:
    return VolumeMount(*(form.get(name, "").strip() for name in MOUNT_FIELDS))


def _mounts(path: str, csrf: Html, group: Deployment) -> Html:
    rows = [
        (
            html(
                "<code>{path}</code> {left_out}",
                path=mount.host_path,
                left_out=NOTHING if mountable(mount) else tag("left out", "bad"),
            ),
            html("<code>{path}</code>", path=mount.mount_path),
            action(
                f"{path}/remove",
                csrf,
                "Remove",
                "danger",
                joined(hidden(name, getattr(mount, name)) for name in MOUNT_FIELDS),
                subject=mount.mount_path,
            ),
        )
        for mount in group.volume_mounts
    ]
    if not rows:
        return NOTHING
    some_left_out = not all(map(mountable, group.volume_mounts))
    return html("{table}{why}", table=table(_COLUMNS, rows), why=Html(_LEFT_OUT if some_left_out else ""))
