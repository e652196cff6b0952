#!/usr/bin/env python3
"""Start a program as Lambda starts a function: under a filter that is in force already and refuses further ones.

    like_lambda.py [--allow NAME,NAME] PROGRAM [ARGUMENT ...]

These calls fail with EPERM: prctl, seccomp, ptrace, chroot, pivot_root, mount, umount2, unshare, setns, bpf, keyctl and
Landlock's. `--allow prctl` leaves a call usable, for kernels that permit it. Public reports of functions on Lambda say
which are refused (chromedp#1074, Sparticuz/chromium#80, ClickHouse#43589). x86-64 and arm64; needs no root.
"""

import ctypes
import os
import struct
import sys

NUMBERS = {
    "x86_64": {
        **{"prctl": 157, "seccomp": 317, "ptrace": 101, "chroot": 161, "pivot_root": 155, "mount": 165, "umount2": 166},
        **{"unshare": 272, "setns": 308, "bpf": 321, "keyctl": 250, "landlock_create_ruleset": 444},
        **{"landlock_add_rule": 445, "landlock_restrict_self": 446},
    },
    "aarch64": {
        **{"prctl": 167, "seccomp": 277, "ptrace": 117, "chroot": 51, "pivot_root": 41, "mount": 40, "umount2": 39},
        **{"unshare": 97, "setns": 268, "bpf": 280, "keyctl": 219, "landlock_create_ruleset": 444},
        **{"landlock_add_rule": 445, "landlock_restrict_self": 446},
    },
}
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL_WITH_EPERM = 0x7FFF0000, 0x00050001
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def refusing(numbers: list[int]) -> bytes:
    """A filter that fails these system calls with EPERM and allows all others."""
    code = struct.pack("HBBI", LOAD_NUMBER, 0, 0, 0)
    for number in numbers:
        code += struct.pack("HBBI", JUMP_IF_EQUAL, 0, 1, number) + struct.pack("HBBI", RETURN, 0, 0, FAIL_WITH_EPERM)
    return code + struct.pack("HBBI", RETURN, 0, 0, ALLOW)


def main(arguments: list[str]) -> None:
    numbers = NUMBERS[os.uname().machine]
    allowed: set[str] = set()
    if arguments[:1] == ["--allow"]:
        allowed, arguments = set(arguments[1].split(",")), arguments[2:]
    if not arguments or not allowed <= numbers.keys():
        sys.exit(__doc__)
    code = refusing([number for name, number in numbers.items() if name not in allowed])
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(code) // 8, code)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0
    ):
        sys.exit(f"like_lambda: {os.strerror(ctypes.get_errno())}")
    os.execvp(arguments[0], arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
