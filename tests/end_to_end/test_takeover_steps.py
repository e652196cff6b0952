"""What an install does when it takes the official supervisor's place, and how it goes back: real shells and systemd."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.systemd_machine import machine, needs_systemd

SCRIPT = Path(__file__).parents[2] / "shared" / "headgate" / "installs" / "linux.sh"
SHELLS = [shell for shell in ("dash", "bash --posix", "busybox sh") if shutil.which(shell.split()[0])]
# The script's functions, and what its beginning sets.
STEPS = (
    SCRIPT.read_text().removesuffix('main "$@"\n').replace("# @VALUES@\n", "")
    + """
private=$(mktemp -d) root=$1 systemd=yes names=' ' gone=no changed=no takes_over=yes
variables=$private/variables
: >"$variables"
mkdir -p "$root/var" "$root/bin"
touch "$root/$listing"
trap leave EXIT
trap 'exit 130' INT
"""
)
# It notes what it was asked for, and answers as for a service that runs.
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >>"$ASKED"
case $* in
  *MainPID*) echo 7 ;;
  *Id*) echo opampsupervisor.service ;;
  is-enabled*) echo enabled ;;
  is-active*) [ -n "${OURS:-}" ] ;;
  "disable --now --quiet headgate-supervisor") eval "${MEANWHILE:-:}" ;;
esac
"""


def carried_out(folder: Path, steps: str, shell: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """The steps in a shell, and what systemctl was asked for."""
    commands, asked = folder / "commands", folder / "asked"
    commands.mkdir(exist_ok=True)
    asked.write_text("")
    (commands / "systemctl").write_text(SYSTEMCTL)
    (commands / "systemctl").chmod(0o755)
    path = f"{commands}:/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {"PATH": path, "ASKED": str(asked), "SYSTEMD_UNITS": str(folder / "units"), **variables}
    done = subprocess.run(
        # A shell cannot trap a signal that it was started to ignore, as what runs in the background of a script is.
        ["env", "--default-signal=INT", *shell.split(), "-s", "--", str(folder / "root")],
        input=STEPS + steps,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done, asked.read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_official_supervisor_comes_back_also_if_the_signal_is_sent_again(tmp_path: Path, shell: str) -> None:
    steps = 'find_official; stop_official; self=$$; export self; kill -INT "$self"; sleep 1\n'
    done, asked = carried_out(tmp_path, steps, shell, MEANWHILE='kill -INT "$self"')

    assert done.returncode == 130
    assert asked.splitlines()[-2:] == ["enable --quiet opampsupervisor", "start opampsupervisor"]
    assert "the official supervisor runs again" in done.stderr
    assert not (tmp_path / "root/var/takeover").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_supervisor_that_has_proved_itself_stays(tmp_path: Path, shell: str) -> None:
    done, asked = carried_out(tmp_path, 'find_official; stop_official; rmdir "$root/var/takeover"; exit 130\n', shell)

    assert done.returncode == 130
    # The official one would be refused, because it signs nothing.
    assert "start opampsupervisor" not in asked
    assert "disable --now --quiet headgate-supervisor" not in asked
    assert "has taken its place" in done.stderr


def test_while_it_goes_back_the_supervisor_cannot_prove_itself(tmp_path: Path) -> None:
    steps = "find_official; stop_official; export root; exit 1\n"
    done, asked = carried_out(tmp_path, steps, SHELLS[0], MEANWHILE='rmdir "$root/var/takeover" && echo proved')

    assert "proved" not in done.stdout
    assert asked.endswith("start opampsupervisor\n")


def test_a_second_attempt_brings_the_values_of_now(tmp_path: Path) -> None:
    supervisor = tmp_path / "root/bin/headgate-supervisor"
    supervisor.parent.mkdir(parents=True)
    supervisor.write_text("#!/bin/sh\nprintf 'KEY=now\\0TEAM=theirs\\0' >\"$4\"\n")
    supervisor.chmod(0o755)
    steps = """former=7 names=' TEAM '
printf 'KEY=before\\0TEAM=command\\0' >"$variables"
bring
tr '\\0' '\\n' <"$variables"
"""
    done, _ = carried_out(tmp_path, steps, SHELLS[0])

    entries = [line.split("=") for line in done.stdout.splitlines() if "=" in line]
    # The last of two entries counts.
    assert dict(entries) == {"KEY": "now", "TEAM": "command"}, done.stderr


def test_a_host_where_ours_runs_already_is_left_alone(tmp_path: Path) -> None:
    units = tmp_path / "units"
    units.mkdir()
    (units / "headgate-supervisor.service").write_text(f"Environment=HEADGATE_ROOT={tmp_path}/root\n")
    done, asked = carried_out(tmp_path, "find_official; stop_official\n", SHELLS[0], OURS="yes")

    assert done.returncode == 1
    assert "runs on this host already" in done.stderr
    assert "disable" not in asked


_UNIT = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"


@pytest.mark.end_to_end
@pytest.mark.full
@needs_systemd
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("opt/official/opampsupervisor.service", _UNIT),
        ("etc/systemd/system/collectors.service", _UNIT + "Alias=opampsupervisor.service\n"),
    ],
)
def test_a_service_of_another_folder_or_name_comes_back(tmp_path: Path, path: str, text: str) -> None:
    with machine(tmp_path) as host:
        (host.root / path).parent.mkdir(parents=True, exist_ok=True)
        (host.root / path).write_text(text)
        host.output(f"systemctl daemon-reload; systemctl enable --now --quiet /{path}")
        (host.root / "steps").write_text(
            STEPS + "find_official; stop_official; systemctl is-active $official || :; exit 9\n"
        )
        done = host.run("sh /steps /opt/x")

        assert done.returncode == 9
        assert "inactive" in done.stdout
        assert "the official supervisor runs again" in done.stderr, done.stderr
        state = host.output("systemctl is-active opampsupervisor; ls /etc/systemd/system/multi-user.target.wants")
        assert "active" in state.split()
        assert Path(path).name in state.split()
