"""The card of a deployment group's volume mounts, with the form that adds one."""

from typing import Final

from headgate.deployments.model import Deployment, VolumeMount
from headgate.installs.commands import mountable
from web.html import NOTHING, Html, html
from web.parts import action, empty, hidden, tag, text
from web.table import END, table

_MOUNTS: Final = """\
<div class="card" id="volume-mounts"><h2>Volume mounts</h2>
<p class="soft">Folders of the host that are mounted into the group's containers. The Docker install command includes
them; running containers keep the mounts that they were started with.</p>{table}{add}</div>"""
_COLUMNS: Final = ("Path on the host", "Path in the container", END)
_LEFT_OUT: Final = """\
<p class="hint">A mount marked <span class="tag bad">left out</span> is not in the install command. Both paths must be
absolute, must not contain <code>..</code>, and may contain only letters, digits and <code>. _ - /</code>.</p>"""
_ADD: Final = """\
<form method="post" action="{path}" class="apart" aria-label="Add a volume mount">{csrf}
<div class="two">{host_path}{mount_path}</div><button>Add mount</button></form>"""
_NONE_ON_KUBERNETES: Final = """\
<div class="card" id="volume-mounts"><h2>Volume mounts</h2>{text}</div>"""


def mounts_card(
    path: str, csrf: Html, group: Deployment, *, on_kubernetes: bool, typed: VolumeMount, problems: dict[str, str]
) -> Html:
    """The card. After an error, with the typed mount; the problems of its two fields are taken out of `problems`."""
    if on_kubernetes:
        return html(_NONE_ON_KUBERNETES, text=empty("Groups of a Kubernetes fleet have no volume mounts."))
    host_path = text("host_path", "Path on the host", typed.host_path, most=1_000, error=problems.pop("host_path", ""))
    mount_path = text(
        "mount_path", "Path in the container", typed.mount_path, most=1_000, error=problems.pop("mount_path", "")
    )
    add = html(_ADD, path=path, csrf=csrf, host_path=host_path, mount_path=mount_path)
    return html(_MOUNTS, table=_mounts(path, csrf, group), add=add)


def mount_of(form: dict[str, str]) -> VolumeMount:
    return VolumeMount(form.get("host_path", "").strip(), form.get("mount_path", "").strip())


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
                html(
                    "{host}{mount}",
                    host=hidden("host_path", mount.host_path),
                    mount=hidden("mount_path", mount.mount_path),
                ),
                subject=mount.mount_path,
            ),
        )
        for mount in group.volume_mounts
    ]
    if not rows:
        return NOTHING
    some_left_out = not all(map(mountable, group.volume_mounts))
    return html("{table}{why}", table=table(_COLUMNS, rows), why=Html(_LEFT_OUT if some_left_out else ""))
