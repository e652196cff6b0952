"""System calls that a process of the collector may make, as the program that Linux runs at each of its calls.

It lists what is allowed: the calls that Go programs make, measured over 366 configurations. Every other call fails with
EACCES. So the process cannot write a file, execute a program, start or signal a process, or open a socket, whichever
other means confine it (see `launch`).
"""

import errno
import os
from dataclasses import dataclass

# Placeholders for values that only the launcher knows.
PID = "pid"
EMPTY_PATH = "empty_path"

PROGRAM = 10
"""The descriptor from which the launcher starts the collector. It is closed by that."""

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_FAIL = 0x00050000

_EVERY_BIT = 0xFFFFFFFF
_X32 = 0x40000000
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

Instruction = tuple[int, int, int, int | str]
"""`struct sock_filter`: code, the two jumps, and a value, or the name of one that the launcher fills in."""


@dataclass(frozen=True, slots=True)
class Word:
    """A condition on half an argument: its bits in `mask` are `value`."""

    offset: int
    mask: int
    value: int | str


def _int(argument: int, value: int | str) -> tuple[Word, ...]:
    """For what the kernel takes as an `int`: of such an argument it ignores the upper half."""
    return (Word(_ARGUMENTS + 8 * argument, _EVERY_BIT, value),)


def _without(argument: int, bits: int) -> tuple[Word, ...]:
    return (Word(_ARGUMENTS + 8 * argument, bits, 0),)


def _pointer(argument: int, name: str) -> tuple[Word, ...]:
    low = _ARGUMENTS + 8 * argument
    return Word(low, _EVERY_BIT, f"{name}_low"), Word(low + 4, _EVERY_BIT, f"{name}_high")


@dataclass(frozen=True, slots=True)
class CallRule:
    calls: tuple[str, ...]
    when: tuple[Word, ...] = ()
    action: int = _ALLOW


# Numbers on x86_64 and on aarch64, which lacks calls that have a newer form.
_NUMBERS: dict[str, tuple[int, int | None]] = {
    # Memory
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233),
    "mincore": (27, 232), "brk": (12, 214), "membarrier": (324, 283),
    # Threads
    "futex": (202, 98), "exit": (60, 93), "exit_group": (231, 94), "gettid": (186, 178), "getpid": (39, 172),
    "getppid": (110, 173), "set_tid_address": (218, 96), "set_robust_list": (273, 99), "arch_prctl": (158, None),
    "rseq": (334, 293), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "restart_syscall": (219, 128),
    "clone": (56, 220), "clone3": (435, 435),
    # Time
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "gettimeofday": (96, 169), "time": (201, None), "setitimer": (38, 103), "getitimer": (36, 102),
    "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108), "timer_delete": (226, 111),
    # Signals
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "kill": (62, 129), "tgkill": (234, 131),
    # Descriptors
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "lseek": (8, 62), "close": (3, 57), "fstat": (5, 80), "dup": (32, 23), "dup2": (33, None),
    "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "eventfd2": (290, 19), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "getdents64": (217, 61),
    "fcntl": (72, 25), "ioctl": (16, 29),
    # Files and their names
    "open": (2, None), "openat": (257, 56), "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79),
    "access": (21, None), "faccessat": (269, 48), "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17),
    "statfs": (137, 43), "fstatfs": (138, 44), "statx": (332, 291),
    # The process itself
    "uname": (63, 160), "sysinfo": (99, 179), "getrandom": (318, 278), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158), "getrlimit": (97, 163),
    "getrusage": (98, 165), "times": (100, 153), "umask": (95, 166), "seccomp": (317, 277), "prctl": (157, 167),
    "prlimit64": (302, 261), "execveat": (322, 281),
    # Newer forms, of which programs fall back to the older ones
    "openat2": (437, 437), "faccessat2": (439, 439), "pidfd_open": (434, 434), "io_uring_setup": (425, 425),
    "epoll_pwait2": (441, 441), "close_range": (436, 436), "copy_file_range": (326, 285),
}  # fmt: skip

_DECIDED_BY_ARGUMENTS = (
    *("clone", "kill", "tgkill", "sched_getaffinity", "prlimit64", "prctl", "fcntl", "open", "openat", "execveat"),
    "ioctl",
)
_NEWER = (
    *("clone3", "openat2", "faccessat2", "pidfd_open", "io_uring_setup", "epoll_pwait2", "close_range"),
    "copy_file_range",
)

_CLONE_THREAD = 0x00010000
# New namespaces of every kind, and being traced.
_CLONE_MORE = 0x7E020000 | 0x00002000
_TO_WRITE = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000  # O_TMPFILE without O_DIRECTORY
_AT_EMPTY_PATH = 0x1000
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. Not F_SETOWN, which has signals sent to anyone.
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 1030)
# PR_SET_NAME, PR_GET_NAME, PR_SET_NO_NEW_PRIVS, PR_SET_VMA.
_OPTIONS = (15, 16, 38, 0x53564D41)

RULES = (
    CallRule(tuple(name for name in _NUMBERS if name not in _DECIDED_BY_ARGUMENTS + _NEWER)),
    # Threads, but no processes.
    CallRule(("clone",), (Word(_ARGUMENTS, _CLONE_THREAD | _CLONE_MORE, _CLONE_THREAD),)),
    CallRule(("kill", "tgkill", "sched_getaffinity", "prlimit64"), _int(0, PID)),
    CallRule(("sched_getaffinity", "prlimit64"), _int(0, 0)),
    CallRule(("kill", "tgkill"), action=_FAIL | errno.EPERM),
    *(CallRule(("prctl",), _int(0, option)) for option in _OPTIONS),
    *(CallRule(("fcntl",), _int(1, command)) for command in _DESCRIPTOR_COMMANDS),
    CallRule(("ioctl",), action=_FAIL | errno.ENOTTY),
    CallRule(("open",), _without(1, _TO_WRITE)),
    CallRule(("openat",), _without(2, _TO_WRITE)),
    # The one program, by its descriptor. A filter cannot read a path, and an absolute path would override the
    # descriptor. So the path has to be at the random address where the launcher put an empty string; its address space
    # ends with this call. A wrong guess ends the process.
    CallRule(("execveat",), (*_int(0, PROGRAM), *_pointer(1, EMPTY_PATH), *_int(4, _AT_EMPTY_PATH))),
    CallRule(("execveat",), action=_KILL),
    CallRule(_NEWER, action=_FAIL | errno.ENOSYS),
)

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def assemble(machine: str) -> list[Instruction]:
    """The filter's program for a machine, as `os.uname` names it; the first rule that fits decides.

    A call of another architecture's table, where the same numbers mean other calls, ends the process. Raises OSError
    for a machine that it does not know.
    """
    if machine not in _MACHINES:
        raise OSError(errno.ENOTSUP, f"System calls are not known on {machine}: the collector is not run unconfined")
    column, architecture = _MACHINES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for rule in RULES:
        body = _body(rule)
        for name in rule.calls:
            number = _NUMBERS[name][column]
            if number is not None:
                program += [(_EQUAL, 0, len(body), number), *body]
    program.append((_RETURN, 0, 0, _FAIL | errno.EACCES))
    return program


def _body(rule: CallRule) -> list[Instruction]:
    """Instructions after a matching number: the action if every condition holds, else the number for later rules."""
    if not rule.when:
        return [(_RETURN, 0, 0, rule.action)]
    length = 3 * len(rule.when)
    body: list[Instruction] = []
    for word in rule.when:
        over_the_rest = length - len(body) - 2
        body += [(_LOAD, 0, 0, word.offset), (_AND, 0, 0, word.mask), (_EQUAL, 0, over_the_rest, word.value)]
    return [*body, (_RETURN, 0, 0, rule.action), (_LOAD, 0, 0, _NUMBER)]
