"""What a process in the collector's place cannot do, whatever it tries: each class of abuse, with each set of means.

The intruder makes system calls by number, as code that has taken over a component would, in the place of the check
process and in that of the plain command. `tests/contract/test_checker_abuse_real.py` has components try what they can.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.checker import CheckerFailed
from headgate_engine.checker import system_calls
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.errors import ProcessFailed
from headgate_engine.checker.limits import MEBIBYTE, Limits
from headgate_engine.checker.plain_command import PlainCommand
from headgate_engine.checker.spawn import MEANS
from tests.support.faulty import install

LIMITS = Limits(kill_bytes=300 * MEBIBYTE)
MEANS_BY_NAME = {
    "all that there is": MEANS,
    "no namespaces": ("root", "landlock", "user"),
    "Landlock alone": ("landlock",),
    "system calls alone, as in Lambda": (),
}
ON_ARM = os.uname().machine == "aarch64"
FILTERED = "permission denied"
NEWER = "function not implemented"
SIGNAL_REFUSED = "operation not permitted"
SIGCHLD = 17
NOBODYS_NUMBER = 0x7FFFFFFF
F_SETOWN, F_SETOWN_EX, F_SETSIG = 8, 15, 10


def number(x86_64: int, aarch64: int) -> int:
    return aarch64 if ON_ARM else x86_64


def calls(parent: int) -> dict[str, tuple[str, list[object]]]:
    """The expected outcome of each call and its arguments, which do no harm if nothing stops the call."""
    fork = {} if ON_ARM else {"fork": (FILTERED, [57]), "vfork": (FILTERED, [58])}
    return fork | {
        "execve": (FILTERED, [number(59, 221), "/bin/true", 0, 0]),
        "clone without a thread": (FILTERED, [number(56, 220), SIGCHLD, 0, 0, 0, 0]),
        "clone3": (NEWER, [435, 0, 0]),
        "memfd_create": (FILTERED, [number(319, 279), "program", 0]),
        "Unix socket": (FILTERED, [number(41, 198), 1, 1, 0]),
        "IPv4 socket": (FILTERED, [number(41, 198), 2, 1, 0]),
        "IPv6 socket": (FILTERED, [number(41, 198), 10, 2, 0]),
        "netlink socket": (FILTERED, [number(41, 198), 16, 3, 0]),
        "vsock": (FILTERED, [number(41, 198), 40, 1, 0]),
        "socketpair": (FILTERED, [number(53, 199), 1, 1, 0, 0]),
        "connect": (FILTERED, [number(42, 203), 3, 0, 0]),
        "sendmsg": (FILTERED, [number(46, 211), 3, 0, 0]),
        "io_uring_setup": (NEWER, [425, 1, 0]),
        "kill its parent": (SIGNAL_REFUSED, [number(62, 129), parent, 0]),
        "kill everybody": (SIGNAL_REFUSED, [number(62, 129), -1, 0]),
        "tgkill its parent": (SIGNAL_REFUSED, [number(234, 131), parent, parent, 0]),
        "tkill its parent": (FILTERED, [number(200, 130), parent, 0]),
        "rt_sigqueueinfo": (FILTERED, [number(129, 138), parent, 0, 0]),
        "pidfd_open": (NEWER, [434, parent, 0]),
        "pidfd_send_signal": (FILTERED, [424, 0, 0, 0, 0]),
        "pidfd_getfd": (FILTERED, [438, 0, 0, 0]),
        "ptrace": (FILTERED, [number(101, 117), 16, NOBODYS_NUMBER, 0, 0]),
        "process_vm_readv": (FILTERED, [number(310, 270), parent, 0, 0, 0, 0, 0]),
        "process_madvise": (FILTERED, [440, 0, 0, 0, 0, 0]),
        "getpgid of its parent": (FILTERED, [number(121, 155), parent]),
        "getpriority of its parent": (FILTERED, [number(140, 141), 0, parent]),
        "sched_getaffinity of its parent": (FILTERED, [number(204, 123), parent, 0, 0]),
        "prlimit64 of its parent": (FILTERED, [number(302, 261), parent, 7, 0, 0]),
        "owner of a descriptor's signals": (FILTERED, [number(72, 25), 3, F_SETOWN, parent]),
        "owner of them by a structure": (FILTERED, [number(72, 25), 3, F_SETOWN_EX, 0]),
        "which signal it is": (FILTERED, [number(72, 25), 3, F_SETSIG, 9]),
        "bpf": (FILTERED, [number(321, 280), 0, 0, 0]),
        "perf_event_open": (FILTERED, [number(298, 241), 0, 0, 0, 0, 0]),
        "keyctl": (FILTERED, [number(250, 219), 0, 0]),
        "unshare": (FILTERED, [number(272, 97), 0x10000000]),
        "setns": (FILTERED, [number(308, 268), 3, 0]),
        "mount": (FILTERED, [number(165, 40), 0, 0, 0, 0, 0]),
        "chroot": (FILTERED, [number(161, 51), "."]),
        "userfaultfd": (FILTERED, [number(323, 282), 0]),
        "open_by_handle_at": (FILTERED, [number(304, 265), -100, 0, 0]),
        "openat to write": (FILTERED, [number(257, 56), -100, "new", os.O_WRONLY | os.O_CREAT, 0o600]),
        "openat to append": (FILTERED, [number(257, 56), -100, "/dev/null", os.O_RDWR | os.O_APPEND, 0]),
        "openat2": (NEWER, [437, -100, ".", 0, 0]),
        "mkdirat": (FILTERED, [number(258, 34), -100, "new", 0o700]),
        "unlinkat": (FILTERED, [number(263, 35), -100, "collector.yaml", 0]),
        "symlinkat": (FILTERED, [number(266, 36), "/", -100, "new"]),
    }


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return install(tmp_path)


@pytest.fixture(params=MEANS_BY_NAME.values(), ids=MEANS_BY_NAME)
def child(binary: Path, request: pytest.FixtureRequest) -> Iterator[Child]:
    started = Child.start(binary, LIMITS, request.param)
    yield started
    started.kill()


@pytest.fixture(params=[means for means in MEANS_BY_NAME.values() if means])
def plain(request: pytest.FixtureRequest) -> PlainCommand:
    return PlainCommand(LIMITS, request.param)


def test_the_check_process_can_make_no_call_that_reaches_out_of_it(child: Child) -> None:
    tried = calls(os.getpid())

    results = child.ask("any", {"try": {name: call for name, (_, call) in tried.items()}}, 10)["tried"]

    assert results == {name: expected for name, (expected, _) in tried.items()}


def test_the_plain_command_can_make_none_either(plain: PlainCommand, binary: Path) -> None:
    tried = calls(os.getpid())
    text = "try " + json.dumps({name: call for name, (_, call) in tried.items()})

    verdict = plain.validate(binary, text, {})

    assert json.loads(verdict.message) == {name: expected for name, (expected, _) in tried.items()}


def test_a_program_executed_as_the_launcher_executes_the_collector_ends_the_process(child: Child) -> None:
    execveat = [number(322, 281), system_calls.PROGRAM, "/bin/true", 0, 0, 0x1000]

    with pytest.raises(ProcessFailed, match="SIGSYS"):
        child.ask("any", {"try": {"execveat": execveat}}, 10)


def test_the_check_process_writes_no_file_and_has_no_environment(child: Child, tmp_path: Path) -> None:
    answer = child.ask("any", {"touch": [str(tmp_path / "new"), "new"]}, 10)

    assert answer["touched"] == ["permission denied"] * 2
    assert answer["environment"] == {}


@pytest.mark.parametrize("means", [MEANS, ("root",), ("landlock",)])
def test_a_process_that_something_holds_to_its_files_reads_no_others(
    binary: Path, tmp_path: Path, means: tuple[str, ...]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    child = Child.start(binary, LIMITS, means)
    others = [str(secret), f"/proc/{os.getpid()}/environ", "/etc/hosts", "/etc/passwd", "/proc/self/environ"]

    try:
        touched = child.ask("any", {"touch": others}, 10)["touched"]
    finally:
        child.kill()

    assert touched == ["permission denied"] * 5


def test_each_process_is_a_user_of_its_own_where_the_service_is_root(binary: Path) -> None:
    children = [Child.start(binary, LIMITS) for _ in range(2)]
    users = {Path(f"/proc/{child.pid}").stat().st_uid for child in children}
    held_by = {child.held_by for child in children}
    for child in children:
        child.kill()

    as_root = (2, {"namespaces, root directory, user, system calls"})
    assert (len(users - {0}), held_by) == as_root or os.geteuid() != 0


AS_NOBODY = """
import ctypes, os, sys
from pathlib import Path
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits

if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    libc.prctl(8, 1, 0, 0, 0)  # what is needed to read this interpreter is kept
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(4, 4, 4, 0, 0, 0)
    assert libc.capset(header, sets) == 0
    assert libc.prctl(47, 2, 2, 0, 0) == 0
child = Child.start(Path(sys.argv[1]), Limits(), tuple(sys.argv[2].split()))
answer = child.ask("any", {"touch": ["/etc/hosts", "/etc/passwd"]}, 10)
child.kill()
print(child.held_by, answer["touched"])
"""


@pytest.mark.parametrize(
    ("means", "held_by"),
    [("namespaces root", "namespaces, root directory, system calls"), ("landlock", "Landlock, system calls")],
)
def test_who_is_not_root_has_means_as_well(binary: Path, means: str, held_by: str) -> None:
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": "/tmp"}  # which anybody may enter
    command = [sys.executable, "-c", AS_NOBODY, str(binary), means]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert said.stdout.splitlines()[-1:] == [f"{held_by} ['permission denied', 'permission denied']"], said.stderr


STARTED_IN_LAMBDA = """
import ctypes, sys
from pathlib import Path
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits

child = Child.start(Path(sys.argv[1]), Limits())
child.kill()
print("dumpable", ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_in_lambda_the_process_that_starts_it_is_closed_to_others_of_its_user(binary: Path) -> None:
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "AWS_LAMBDA_FUNCTION_NAME": "checker"}
    command = [sys.executable, "-c", STARTED_IN_LAMBDA, str(binary)]

    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert said.splitlines()[-1] == "dumpable 0"


def test_the_plain_command_is_not_used_where_nothing_holds_it_to_its_files(binary: Path) -> None:
    with pytest.raises(CheckerFailed, match="nothing on this machine holds it to its own files"):
        PlainCommand(LIMITS, ()).validate(binary, "fine", {})


@pytest.mark.parametrize("program", [[], [(0xFFFF, 0, 0, 0)], [(0x06, 0, 0, 0x7FFF0000)] * 5000])
def test_without_its_filter_no_collector_starts(
    binary: Path, monkeypatch: pytest.MonkeyPatch, program: list[object]
) -> None:
    monkeypatch.setattr(system_calls, "assemble", lambda _: program)

    with pytest.raises(ProcessFailed, match="could not launch the collector: its system calls cannot be filtered"):
        Child.start(binary, LIMITS)


def test_on_a_machine_of_which_no_system_calls_are_known_no_collector_starts() -> None:
    with pytest.raises(OSError, match="not run unconfined"):
        system_calls.assemble("riscv64")


def test_a_launcher_whose_interpreter_finds_its_library_by_a_variable_starts_and_hands_it_to_nobody(
    binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Lambda. The interpreter's copy asks for a library of another name, which only LD_LIBRARY_PATH leads to."""
    interpreter, libraries = interpreter_that_needs_its_library_path(tmp_path)
    assert (
        subprocess.run([interpreter, "-I", "-S", "-c", ""], env={}, check=False, capture_output=True).returncode == 127
    )
    monkeypatch.setattr(sys, "executable", str(interpreter))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    child = Child.start(binary, LIMITS)
    environment = child.ask("any", {}, 10)["environment"]
    child.kill()

    assert environment == {}


def interpreter_that_needs_its_library_path(folder: Path) -> tuple[Path, Path]:
    """A copy of this interpreter whose C library's name is another one, and the folder that has a library of that name.

    A name as long as before, so that it can be exchanged in place.
    """
    real = Path(os.path.realpath(sys.executable))
    content = real.read_bytes()
    name, other = b"libc.so.6\0", b"libc.so.X\0"
    assert content.count(name) >= 1
    interpreter = folder / "bin" / real.name
    interpreter.parent.mkdir()
    interpreter.write_bytes(content.replace(name, other))
    interpreter.chmod(0o755)
    (folder / "bin" / "pyvenv.cfg").write_text(f"home = {real.parent}\n")
    libraries = folder / "libraries"
    libraries.mkdir()
    (libraries / "libc.so.X").symlink_to(path_of_the_c_library())
    return interpreter, libraries


def path_of_the_c_library() -> str:
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in maps if "/libc.so" in line)
