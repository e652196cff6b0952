"""Runs as a process of its own: gives up what the collector does not need, then becomes the collector's `check`.

The arguments are the descriptor of the channel, the bytes of memory, the number of the parent, and the collector's
path. It is a program rather than a `preexec_fn`, because that would run Python between fork and exec of a process that
may have other threads; and it has one thread, so that it may enter a user namespace.

Its exit status is `COULD_NOT_LAUNCH` if it did not get as far as the collector; the reason is on standard error.
"""

import ctypes
import os
import resource
import signal
import sys

COULD_NOT_LAUNCH = 125
CHANNEL = 3

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


def main() -> None:
    channel, memory, parent = (int(argument) for argument in sys.argv[1:4])
    collector = sys.argv[4]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError("new privileges cannot be given up")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Not RLIMIT_AS: Go reserves gigabytes of addresses that it never uses, and RLIMIT_DATA does not count those.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # A network without interfaces, where the machine permits it. The collector's own filter of system calls, which
    # permits no socket, is there in any case.
    own = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    libc.unshare(own if os.geteuid() == 0 else own | CLONE_NEWUSER)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError("the parent is gone")
    os.dup2(channel, CHANNEL)
    os.closerange(CHANNEL + 1, 4096)
    # The name is the operator's --collector or one in our own cache.
    os.execve(collector, [collector, "check", "--fd", str(CHANNEL)], {})


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"could not launch the collector: {getattr(error, 'strerror', None) or error}\n")
        sys.exit(COULD_NOT_LAUNCH)
