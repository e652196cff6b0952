"""Runs as a process of its own: confines itself as the plan on its standard input says, then becomes the collector.

It is a program rather than a `preexec_fn` because that would run Python between fork and exec of a process with many
threads, where a lock held by another thread stays locked for ever. It imports nothing of ours, so it takes 30 ms.

Its exit status is `COULD_NOT_LAUNCH` when it did not get as far as the collector; the reason is on standard error.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import sys

COULD_NOT_LAUNCH = 125
CHANNEL = 3
"""The descriptor on which the collector's `check` command finds its end of the socket pair."""

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_ALLOW = 0x7FFF0000
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
EVERY_ACCESS = 0x1FFF
OPEN_TO_READING = (
    *("/usr", "/lib", "/lib64", "/bin", "/sys", "/dev/zero", "/dev/random", "/dev/urandom"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/localtime", "/etc/os-release", "/etc/hostname"),
    *("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/ld.so.cache"),
    # Memory limits and the like are read while components are built; of other processes nothing can be read.
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/uptime", "/proc/version", "/proc/sys"),
)
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


def leave_the_network(libc: ctypes.CDLL) -> None:
    """Enter a network namespace that has no way out, by right of root or inside a user namespace of our own.

    Where neither is permitted, as in Lambda, connections are refused instead.
    """
    if libc.unshare(CLONE_NEWNET) != 0 and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        refuse_connections(libc)


class Instruction(ctypes.Structure):
    """`struct sock_filter`: one instruction of the filter that Linux runs at each system call."""

    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(Instruction)))


def refuse_connections(libc: ctypes.CDLL) -> None:
    """Have `connect` fail as it does where there is no network; needs no privileges, only PR_SET_NO_NEW_PRIVS."""
    connect = {"x86_64": 42, "aarch64": 203}.get(os.uname().machine)
    if connect is None:
        return
    load, jump_if_equal, give_back = 0x20, 0x15, 0x06
    instructions = (Instruction * 4)(
        Instruction(load, 0, 0, 0),  # the number of the system call
        Instruction(jump_if_equal, 0, 1, connect),
        Instruction(give_back, 0, 0, SECCOMP_RET_ERRNO | errno.ENETUNREACH),
        Instruction(give_back, 0, 0, SECCOMP_RET_ALLOW),
    )
    program = Program(len(instructions), instructions)
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)


class Ruleset(ctypes.Structure):
    """`struct landlock_ruleset_attr`, its first version."""

    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class PathBeneath(ctypes.Structure):
    """`struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def close_the_files(libc: ctypes.CDLL, binary: str, directory: str) -> None:
    """Leave open to reading what a program needs of its system, itself and `directory`; nothing to writing.

    A component may name files (`scrape_config_files`), and quotes in its errors what is in them. Where the kernel has
    no Landlock (before 5.13, so in Lambda) this does nothing.
    """
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(Ruleset(EVERY_ACCESS)), ctypes.sizeof(Ruleset), 0)
    if ruleset < 0:
        return
    for path in (binary, directory, sys.base_prefix, *OPEN_TO_READING):
        allow(libc, ruleset, path, EXECUTE | READ_FILE | READ_DIR)
    allow(libc, ruleset, os.devnull, WRITE_FILE | READ_FILE)
    if libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError("Landlock does not restrict this process")
    os.close(ruleset)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Add a rule for what is at and below `path`; none where nothing is."""
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 -- pathlib doubles the launcher's start
        access &= EXECUTE | READ_FILE | WRITE_FILE
    rule = PathBeneath(access, at)
    libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(at)


def confine(parent: int, data_bytes: int, binary: str, directory: str) -> None:
    """Die with the parent, gain no privileges, dump no core, hold no more than `data_bytes` of writable memory.

    And reach neither the network nor files that are nobody's business.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError("the parent is gone")
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    leave_the_network(libc)
    close_the_files(libc, binary, directory)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Not RLIMIT_AS: Go reserves gigabytes of addresses that it never touches. What is reserved is not data.
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))


def main() -> int:
    plan = json.load(sys.stdin.buffer)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    confine(plan["parent"], plan["data_bytes"], plan["argv"][0], plan["directory"])
    os.chdir(plan["directory"])
    if plan["channel"] is not None and plan["channel"] != CHANNEL:
        os.dup2(plan["channel"], CHANNEL)
        os.close(plan["channel"])
    os.execve(plan["argv"][0], plan["argv"], plan["env"])  # noqa: S606 -- becoming the collector is its purpose


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"could not launch the collector: {error}", file=sys.stderr)
        sys.exit(COULD_NOT_LAUNCH)
