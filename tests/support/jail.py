"""A root folder to be broken: what runs in it can change no file of this machine, and sees no other process."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Programs come from this machine, read-only; all else is in memory, and gone afterwards.
_JAIL = """\
set -eu
jail=$1
mount -t tmpfs none "$jail"
for name in usr bin sbin lib lib64; do
  if [ -L "/$name" ]; then cp -P "/$name" "$jail/$name"; continue; fi
  [ -d "/$name" ] || continue
  mkdir "$jail/$name"
  mount --bind "/$name" "$jail/$name"
  mount -o remount,bind,ro "$jail/$name"
done
for name in dev etc home home/bob opt proc root srv tmp var var/lib data; do mkdir "$jail/$name"; done
chmod 1777 "$jail/tmp"
for name in null zero urandom; do : >"$jail/dev/$name"; mount --bind "/dev/$name" "$jail/dev/$name"; done
mount -t proc proc "$jail/proc"
printf 'root:x:0:0::/root:/bin/sh\\nbob:x:1001:1001::/home/bob:/bin/sh\\n' >"$jail/etc/passwd"
echo '127.0.0.1 localhost' >"$jail/etc/hosts"
echo secret >"$jail/etc/shadow"
echo kept >"$jail/var/lib/kept"
echo kept >"$jail/home/bob/.profile"
echo kept >"$jail/root/.profile"
cat >"$jail/script"
cat >"$jail/steps" <<'STEPS'
{steps}
STEPS
exec chroot "$jail" /bin/sh /steps
"""
# Modes, owners, links and contents of everything.
SNAPSHOT = """\
snapshot() {
  find / -xdev ! -path '/proc*' ! -path '/dev/*' ! -path '/usr/*' ! -path /said ! -path '/snapshot*' \\
    ! -path /tmp ! -path '/tmp/tmp.*' -printf '%M %U %p %l\\n' | LC_ALL=C sort
  cat /etc/passwd /etc/shadow /var/lib/kept
}
"""


@dataclass(frozen=True)
class Ran:
    """What the script said, its status, and whether anything is as it was not before it."""

    status: int
    said: str
    changed: str


def run(script: str, steps: str, folder: Path) -> Ran:
    """Run `steps` in a jail where the script is /script.

    They make /snapshot1 and /snapshot2 by `snapshot`, which are compared, /said, and the variable `status`.
    """
    folder.mkdir(exist_ok=True)
    end = "echo $status; cat /said; echo ---; diff /snapshot1 /snapshot2"
    jail = _JAIL.replace("{steps}", f"{SNAPSHOT}\n{steps}\n{end}")
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--propagation", "private"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    done = subprocess.run(
        [*command, "/bin/sh", "-c", jail, "jail", folder],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    told, _, changed = done.stdout.partition("\n---\n")
    status, _, said = told.partition("\n")
    assert status.isdigit(), done.stdout + done.stderr
    return Ran(int(status), said + "\n", changed)
