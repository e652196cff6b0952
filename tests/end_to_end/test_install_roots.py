"""Where an install may go and what an uninstall takes away: real shells, in a root folder that may be broken."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support import jail, sizes

SCRIPT = Path(__file__).parents[2] / "shared" / "headgate" / "installs" / "linux.sh"
SHELLS = [one for one in ("dash", "bash --posix", "busybox sh") if shutil.which(one.split()[0])]
# Nothing listens there: what passes the guard makes its folders and ends at the download.
VALUES = "base=http://127.0.0.1:9/x\nquery=q\n" + "".join(
    f"{part}_{arch}={'0' * 64}\n{part}_{arch}_packed=\n"
    for part in ("collector", "supervisor")
    for arch in ("amd64", "arm64")
)
# An endpoint that answers without a listener: test_install_again.py has the refused token.
INSTALL = "--endpoint file:///dev/null --deployment-id dep_1 --token ft_1 --no-systemd"
PASSED = "could not be fetched"
# As the script of before 2026-11-22 left a folder.
EARLIER = """\
earlier() {
  mkdir -p "$1/bin" "$1/etc" "$1/var"
  for name in headgate-supervisor otelcol-contrib headgate-install; do echo >"$1/bin/$name"; done
  for name in headgate-supervisor otelcol-contrib; do printf '%064d\\n' 0 >"$1/bin/.$name.sha256"; done
  echo ft_old >"$1/etc/token"
  printf '%s\\0' A=b "HEADGATE_STORAGE=$1/var" >"$1/etc/environment"
  chmod 700 "$1/etc" "$1/var"
  for name in persistent_state.yaml effective.yaml lock supervisor.log; do echo >"$1/var/$name"; done
  echo >"$1/var/headgate-capture.json"
}
"""

# What a root is called, and what stands there before.
REFUSED = {
    "the root": ("/", ""),
    "the root, doubled": ("//", ""),
    "the root by a dot": ("/.", ""),
    "the root by two dots": ("/..", ""),
    "the root by a detour": ("/usr/..", ""),
    "the root by a detour with a slash": ("/usr/../", ""),
    "the root by a link": ("/opt/link", "ln -s / /opt/link"),
    "the root by a link of links": ("/opt/b/", "ln -s / /opt/a; ln -s /opt/a /opt/b"),
    "nothing": ("''", ""),
    "a relative path": ("opt/x", ""),
    "an option": ("--opt", ""),
    "a line break": ("'/opt/a\nb'", ""),
    "etc": ("/etc", ""),
    "etc with a slash": ("/etc/", ""),
    "etc by a dot": ("/etc/.", ""),
    "etc by a detour": ("/opt/../etc", ""),
    "etc by a link": ("/opt/link", "ln -s /etc /opt/link"),
    "below etc by a link": ("/opt/link/../etc", "ln -s /srv /opt/link"),
    "var": ("/var", ""),
    "an empty folder of the system": ("/srv", ""),
    "a doubled slash": ("/opt//x", ""),
    "the home of root": ("/root", ""),
    "the homes": ("/home", ""),
    "a folder of the kernel's": ("/proc/1", ""),
    "a file": ("/var/lib/kept", ""),
    "below a file": ("/var/lib/kept/x", ""),
    "a link to nowhere": ("/opt/link", "ln -s /opt/nowhere /opt/link"),
    "below a link to nowhere": ("/opt/link/x", "ln -s /opt/nowhere /opt/link"),
    "a folder that holds something": ("/var/lib", ""),
    "a folder that holds something, by a link": ("/opt/link", "ln -s /var/lib /opt/link"),
    "a folder that holds something hidden": ("/opt/x", "mkdir /opt/x; echo >/opt/x/.hidden"),
    "a folder that holds a broken link": ("/opt/x", "mkdir /opt/x; ln -s nowhere /opt/x/..y"),
    "folders of others of the same names": ("/opt/x", "mkdir -p /opt/x/bin /opt/x/etc /opt/x/var/lib"),
    "a disk that is in use": ("/data", "mount -t tmpfs none /data; echo >/data/kept"),
    "everybody's folder": ("/tmp", ""),
    "a folder that everybody may write to": ("/data/x", "mkdir /data/x; chmod 777 /data/x"),
    "a sticky folder that everybody may write to": ("/data/x", "mkdir /data/x; chmod 1777 /data/x"),
    "below a folder that everybody may replace": ("/data/x/y", "mkdir /data/x; chmod 777 /data/x"),
    "a list that is a link": ("/opt/x", "mkdir /opt/x; ln -s /list /opt/x/.headgate-installed; listed /opt/x /list"),
    "a list of another folder": ("/opt/x", "mkdir /opt/x; listed /opt/y /opt/x/.headgate-installed"),
    "a list that everybody may write to": (
        "/opt/x",
        "mkdir /opt/x; listed /opt/x /opt/x/.headgate-installed; chmod 666 /opt/x/.headgate-installed",
    ),
    "a folder of an install before that was moved": ("/opt/y", "earlier /opt/x; mv /opt/x /opt/y"),
}
if os.geteuid() == 0:
    # Without root there is no other user to be.
    REFUSED |= {
        "another user's home": ("/home/bob", "chown -R 1001 /home/bob"),
        "below another user's home": ("/home/bob/x", "chown -R 1001 /home/bob"),
        "another user's folder in /tmp": ("/tmp/x", "mkdir /tmp/x; chown 1001 /tmp/x"),
        "another user's link in /tmp": (
            "/tmp/x",
            "ln -s /home/bob/y /tmp/x; mkdir /home/bob/y; chown -R 1001 /home/bob",
        ),
        "a list by another user": (
            "/opt/x",
            "mkdir /opt/x; listed /opt/x /opt/x/.headgate-installed; chown 1001 /opt/x/.headgate-installed",
        ),
    }
LISTED = f"""\
listed() {{
  marker=$(sed -n 's/^marker="\\(.*\\)"$/\\1/p' /script)
  printf '%s\\n' "$marker" "root $1" 'folder .' 'tree ../var' 'file ../etc/passwd' 'file /etc/passwd' >"$2"
}}
{EARLIER}"""


def attempt(folder: Path, root: str, before: str, options: str, *, after: str = "", shell: str = "sh") -> jail.Ran:
    """Run the script on a root, after `before` was done; what it changed counts from there."""
    steps = f"{LISTED}\n{before}\nsnapshot >/snapshot1\n"
    steps += f"{shell} /script {options} --root {root} >/said 2>&1; status=$?\n"
    steps += f"{after}\nsnapshot >/snapshot2\n"
    return jail.run(SCRIPT.read_text().replace("# @VALUES@\n", VALUES), steps, folder / "jail")


@pytest.mark.sized
@pytest.mark.parametrize("row", sizes.either([*REFUSED][::2], [*REFUSED]))
def test_a_root_that_is_not_a_folder_of_its_own_is_refused_and_nothing_changes(tmp_path: Path, row: str) -> None:
    root, before = REFUSED[row]
    installed = attempt(tmp_path, root, before, INSTALL)

    assert (installed.status, installed.changed) == (1, ""), installed.said
    assert installed.said.startswith("headgate: ")
    assert PASSED not in installed.said


@pytest.mark.sized
@pytest.mark.parametrize("row", sizes.either([*REFUSED][1::2], [*REFUSED]))
def test_what_no_install_made_is_not_uninstalled(tmp_path: Path, row: str) -> None:
    root, before = REFUSED[row]
    removed = attempt(tmp_path, root, before, "--uninstall")

    assert (removed.status, removed.changed) == (1, ""), removed.said
    assert removed.said.startswith("headgate: ")


@pytest.mark.parametrize("options", [INSTALL, "--uninstall"])
@pytest.mark.parametrize("root", ["''", "/opt/../etc"])
def test_a_refused_root_is_named(tmp_path: Path, root: str, options: str) -> None:
    done = attempt(tmp_path, root, "", options)

    assert "--root is empty" in done.said if root == "''" else f"not '{root}'" in done.said, done.said


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("root", "before"),
    [
        ("/opt/headgate", ""),
        ("/opt/headgate/", ""),
        ("'/opt/my root é'", ""),
        ("/opt/link", "ln -s /data/real /opt/link; mkdir /data/real"),
        ("/opt/link/headgate", "ln -s /data /opt/link"),
        ("/data/", "mount -t tmpfs -o mode=755 none /data; mkdir /data/lost+found"),
        ("/opt/empty", "mkdir /opt/empty"),
        ("/tmp/x", ""),
    ],
)
def test_a_folder_of_its_own_is_taken_and_given_back_as_it_was(
    tmp_path: Path, root: str, before: str, shell: str
) -> None:
    uninstall = f"{shell} /script --uninstall --root {root} >>/said 2>&1 || status=9"
    listed = f"cat {root}/.headgate-installed >>/said"
    done = attempt(tmp_path, root, before, INSTALL, after=f"{listed}\n{uninstall}", shell=shell)

    assert (done.status, done.changed) == (1, ""), done.said
    assert PASSED in done.said
    assert "folder var\n" in done.said
    assert "\nRemoved from " in done.said


def test_an_uninstall_takes_nothing_that_somebody_else_put_there(tmp_path: Path) -> None:
    kept = ["bin/other", "etc/other", "var/out.jsonl", "var/supervisor.pid/kept", "other/kept"]
    put = "".join(f'mkdir -p "$(dirname /opt/x/{one})"; echo kept >/opt/x/{one}\n' for one in kept)
    # A link where a file or a folder of ours is to be, and another file system in what is removed whole.
    put += "rm -rf /opt/x/var/queue; ln -s /var/lib /opt/x/var/queue; ln -s /var/lib/kept /opt/x/etc/token\n"
    disk = "/opt/x/var/storage/disk"
    put += f"mkdir -p {disk}; mount -t tmpfs none {disk}; echo >{disk}/kept\n"
    install = f"sh /script {INSTALL} --root /opt/x >/dev/null 2>&1\n{put}"
    left = "find /opt/x ! -type d | sort >>/said"
    done = attempt(tmp_path, "/opt/x", install, "--uninstall", after=left)

    assert done.status == 0, done.said
    assert "The files that are left there are not part of this install" in done.said
    assert "/opt/x/var/storage/disk is another file system" in done.said
    expected = sorted([*kept, "etc/token", "var/queue", "var/storage/disk/kept"])
    assert [
        line.removeprefix("/opt/x/")
        for line in done.said.splitlines()
        if line.startswith("/opt/x/") and " " not in line
    ] == expected
    assert "/var/lib" not in done.changed


def test_a_list_leads_to_nothing_outside_its_folder(tmp_path: Path) -> None:
    before = "mkdir /opt/x; listed /opt/x /opt/x/.headgate-installed; snapshot >/all\n"
    done = attempt(tmp_path, "/opt/x", before, "--uninstall", after="[ -f /var/lib/kept ] && cat /etc/passwd >>/said")

    assert "bob:x:1001" in done.said
    assert [line for line in done.changed.splitlines() if line[:1] in "<>" and "/opt" not in line] == []


def test_a_folder_that_somebody_puts_in_the_way_meanwhile_is_not_used(tmp_path: Path) -> None:
    racing = '#!/bin/sh\\nln -s /data /tmp/x 2>/dev/null\\nexec /usr/bin/mkdir "$@"\\n'
    before = f"mkdir /race; printf '{racing}' >/race/mkdir; chmod 755 /race/mkdir; PATH=/race:$PATH"
    done = attempt(tmp_path, "/tmp/x", before, INSTALL, after="ls -A /data >>/said; rm /tmp/x")

    assert (done.status, done.changed) == (1, ""), done.said
    assert done.said.endswith("/tmp/x cannot be created; run this as a user who may create it, or use another --root\n")


@pytest.mark.parametrize("root", ["/opt/x", "/opt/link"])
def test_what_the_script_before_installed_is_uninstalled_and_no_more(tmp_path: Path, root: str) -> None:
    before = (
        "snapshot >/clean; earlier /opt/x; ln -s x /opt/link; echo kept >/opt/x/var/out.jsonl; echo kept >/opt/x/bin/a"
    )
    done = attempt(tmp_path, root, before, "--uninstall", after="find /opt/x | sort >>/said")

    assert done.status == 0, done.said
    assert done.said.splitlines()[1:] == ["/opt/x", "/opt/x/bin", "/opt/x/bin/a", "/opt/x/var", "/opt/x/var/out.jsonl"]


def test_what_the_script_before_installed_is_taken_over(tmp_path: Path) -> None:
    after = "grep -x 'folder .' /opt/x/.headgate-installed >>/said\n"
    after += "sh /script --uninstall --root /opt/x >>/said\nls -A /opt >>/said"
    done = attempt(tmp_path, "/opt/x", "earlier /opt/x", INSTALL, after=after)

    assert PASSED in done.said
    assert done.said.endswith("folder .\nRemoved from /opt/x.\n"), done.said


def test_a_service_is_removed_also_when_its_folder_is_gone(tmp_path: Path) -> None:
    before = "mkdir /etc/units; echo Environment=HEADGATE_ROOT=/opt/x >/etc/units/headgate-supervisor.service\n"
    before += "echo 'headgate-supervisor:x:990:990::/opt/x/var:/usr/sbin/nologin' >>/etc/passwd\n"
    before += "mkdir /fake; printf '#!/bin/sh\\necho $0 \"$*\"\\n' >/fake/systemctl; cp /fake/systemctl /fake/userdel\n"
    before += "chmod 755 /fake/*\n"
    before += "export SYSTEMD_UNITS=/etc/units PATH=/fake:$PATH"
    done = attempt(tmp_path, "/opt/x", before, "--uninstall")

    assert done.status == 0, done.said
    assert "/fake/userdel headgate-supervisor" in done.said
    assert done.said.endswith("Nothing is installed in /opt/x.\n")
    elsewhere = attempt(tmp_path, "/opt/y", before, "--uninstall")
    assert (elsewhere.said, elsewhere.changed) == ("Nothing is installed in /opt/y.\n", "")
