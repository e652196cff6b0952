"""Runs as a process of its own: confines itself as the plan on its standard input says, then becomes the collector.

It is a program rather than a `preexec_fn` because that would run Python between fork and exec of a process with many
threads, where a lock held by another thread stays locked for ever. It imports nothing else of Headgate, and neither
`json` nor `signal`, which take as long as all the rest: so it starts in 15 ms. It has one thread, so that it may enter
namespaces.

It tries each means of confinement, for machines permit different ones. Only the filter of system calls is required:
without it no collector starts, unless the plan says that the platform confines it. The names of the means that hold are
written to the plan's `report`, in a line.

Its exit status is `COULD_NOT_LAUNCH` when it did not get as far as the collector; the reason is on standard error.
"""

import ctypes
import errno
import fcntl
import marshal
import os
import resource
import sys

COULD_NOT_LAUNCH = 125
CHANNEL = 3
"""The descriptor on which the collector's `check` command finds its end of the socket pair."""
MEMORY = 4
"""The descriptor on which it reads how much memory it holds: in a root directory of its own there is no /proc."""

SIGKILL = 9
PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SECCOMP = {"x86_64": 317, "aarch64": 277}
SECCOMP_SET_MODE_FILTER = 1
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
EVERY_ACCESS = 0x1FFF
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
OWN_NAMESPACES = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
FIRST_USER = 300_000
# A name that no default of a component contains: the schema leaves out what repeats the host's name.
HOST = b"headgate-sandbox"
NOBODY = 65534
EXECVEAT = {"x86_64": 322, "aarch64": 281}
AT_EMPTY_PATH = 0x1000
INHERITED = "/proc/self/fd/"
"""A collector without a path: what follows is the number of the descriptor that this process inherits."""
MAP_PRIVATE_ANONYMOUS = 0x22
PAGE = 4096

OPEN_TO_READING = (
    # The machine's root certificates and time zones, and the total memory by which a memory_limiter's percentages go.
    *("/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs", "/etc/pki/tls/cacert.pem"),
    *("/etc/pki/ca-trust/extracted", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/proc/meminfo", "/proc/self/mountinfo", "/proc/self/cgroup"),
)


def own_namespaces(libc: ctypes.CDLL) -> bool:
    """Enter a network without interfaces and a host name of its own, as root or in a user namespace."""
    flags = OWN_NAMESPACES if os.geteuid() == 0 else OWN_NAMESPACES | CLONE_NEWUSER
    if libc.unshare(flags) != 0:
        return False
    libc.sethostname(HOST, len(HOST))
    return True


def own_root(root: str) -> bool:
    """Make the prepared folder the root directory, if this is permitted."""
    try:
        os.chroot(root)
    except PermissionError:
        return False
    os.chdir("/run")
    return True


def other_user() -> bool:
    """Become a user who owns nothing, a different one for each process, if this is permitted."""
    if os.geteuid() != 0:
        return False
    for user in (FIRST_USER + os.getpid(), NOBODY):  # a container may have 65,536 users only
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EINVAL):
                raise
        else:
            return True
    return False


class Ruleset(ctypes.Structure):
    """`struct landlock_ruleset_attr`, its first version."""

    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class PathBeneath(ctypes.Structure):
    """`struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def own_files(libc: ctypes.CDLL, binary: str, root: str) -> bool:
    """Permit reading the paths that a collector needs, its binary and its folder, and no writing.

    The kernel may have no Landlock, as before 5.13 and in Lambda.
    """
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(Ruleset(EVERY_ACCESS)), ctypes.sizeof(Ruleset), 0)
    if ruleset < 0:
        return False
    allow(libc, ruleset, binary, EXECUTE | READ_FILE)
    for path in (root, *OPEN_TO_READING, *limits_of_memory()):
        allow(libc, ruleset, path, READ_FILE | READ_DIR)
    if libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError("Landlock does not restrict this process")
    os.close(ruleset)
    return True


def allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Add a rule for `path` and everything below it, if it exists."""
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    if not os.path.isdir(path):  # noqa: PTH112  to import pathlib doubles the launcher's start
        access &= EXECUTE | READ_FILE
    rule = PathBeneath(access, at)
    if libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0) != 0:
        raise OSError(f"Landlock does not take a rule for {path}")
    os.close(at)


def limits_of_memory() -> list[str]:
    """The files that say how much memory this process's control group may use."""
    with open("/proc/self/cgroup") as groups:  # noqa: PTH123  to import pathlib doubles the launcher's start
        memberships = [line.rstrip("\n").split(":", 2) for line in groups]
    limits = ["/sys/fs/cgroup/memory.max"]
    for number, controllers, path in memberships:
        if number == "0":
            limits.append(f"/sys/fs/cgroup{path}/memory.max")
        if "memory" in controllers.split(","):
            limits.append(f"/sys/fs/cgroup/memory{path}/memory.limit_in_bytes")
    return limits


def only_own_files(libc: ctypes.CDLL, binary: str, root: str, platform: bool) -> bool:
    """Permit reading as `own_files` does. Where the platform confines, a part of Landlock may be refused."""
    try:
        return own_files(libc, binary, root)
    except OSError:
        if not platform:
            raise
        return False


def own_means(
    libc: ctypes.CDLL, means: list[str], root: str, binary: str, *, needs_files_held: bool, platform: bool
) -> list[str]:
    """Use the strongest of these means that the machine permits. Returns their names."""
    held = []
    if "namespaces" in means and own_namespaces(libc):
        held.append("namespaces")
    if "root" in means and own_root(root):
        held.append("root directory")
    else:
        os.chdir(root + "/run")
        if "landlock" in means and only_own_files(libc, binary, root, platform):
            held.append("Landlock")
        elif needs_files_held and not platform:
            raise OSError("nothing on this machine holds it to its own files")
    if "user" in means and other_user():
        held.append("user")
    return held


class Instruction(ctypes.Structure):
    """`struct sock_filter`: one instruction of the filter that Linux runs at each system call."""

    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class CheckProgram(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(Instruction)))


def filter_system_calls(libc: ctypes.CDLL, instructions: list[list[int | str]], empty_path: int) -> bool:
    """Install the plan's filter (see `system_calls`), with the values that only this process knows.

    Returns False if the machine refuses both calls that install filters.
    """
    known = {"pid": os.getpid(), "empty_path_low": empty_path & 0xFFFFFFFF, "empty_path_high": empty_path >> 32}
    filled = (Instruction * len(instructions))(
        *(Instruction(*(known[word] if isinstance(word, str) else word for word in words)) for words in instructions)
    )
    program = CheckProgram(len(filled), filled)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0:
        return True
    # A platform may refuse the one and permit the other.
    number = SECCOMP[os.uname().machine]
    return bool(libc.syscall(number, SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(program)) == 0)


def empty_path(libc: ctypes.CDLL) -> int:
    """A random address that holds an empty string, by which the filter recognizes the one permitted path."""
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    drawn = int.from_bytes(os.urandom(8), "little")
    # Inside the address space of every machine (aarch64 may have 39 bits), and far from its ends.
    page: int | None = libc.mmap((1 << 36) + drawn % (1 << 37) // PAGE * PAGE, PAGE, 1, MAP_PRIVATE_ANONYMOUS, -1, 0)
    if page is None or page == ctypes.c_void_p(-1).value:
        raise OSError("no memory could be had")
    return page + (drawn >> 40) % PAGE


def become(libc: ctypes.CDLL, program: int, argv: list[str], env: dict[str, str], path: int) -> None:
    """Become the program behind the descriptor; in the new root directory it has no path."""
    number = EXECVEAT[os.uname().machine]
    variables = strings([f"{name}={value}" for name, value in env.items()])
    libc.syscall(number, program, ctypes.c_void_p(path), strings(argv), variables, AT_EMPTY_PATH)
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def strings(texts: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    """An array for C, with a null at its end."""
    if any("\0" in text for text in texts):
        raise ValueError("embedded null byte")
    return (ctypes.c_char_p * (len(texts) + 1))(*(text.encode() for text in texts), None)


def out_of_the_way(descriptor: int) -> int:
    """Move the descriptor to a number that is not in use here; it closes when the collector starts."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(descriptor)
    return moved


def main() -> None:
    # json and signal took 10 of the 24 ms of this process.
    plan = marshal.load(sys.stdin.buffer)  # noqa: S302  only the process that started this one writes to the pipe
    libc = ctypes.CDLL(None, use_errno=True)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    report = out_of_the_way(plan["report"])
    channel = None if plan["channel"] is None else out_of_the_way(plan["channel"])
    if plan["argv"][0].startswith(INHERITED):
        plan["argv"][0] = INHERITED + str(out_of_the_way(int(plan["argv"][0].removeprefix(INHERITED))))
    if channel is not None:
        memory = out_of_the_way(os.open("/proc/self/statm", os.O_RDONLY))
        os.dup2(channel, CHANNEL)
        os.dup2(memory, MEMORY)
    # Opened before any right is given up, so that the other user needs no access to the folders above it.
    os.dup2(out_of_the_way(os.open(plan["argv"][0], os.O_PATH)), plan["program"], inheritable=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Not RLIMIT_AS: Go reserves gigabytes of addresses that it never uses, and RLIMIT_DATA does not count those.
    resource.setrlimit(resource.RLIMIT_DATA, (plan["data_bytes"], plan["data_bytes"]))
    platform = plan["platform"]
    # First: without it, only root may use Landlock or install a filter.
    unprivileged = libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    if not unprivileged and not platform:
        raise OSError("new privileges cannot be given up")
    held = ["platform"] if platform else []
    held += own_means(
        libc,
        plan["means"],
        plan["root"],
        plan["argv"][0],
        needs_files_held=plan["needs_files_held"],
        platform=platform,
    )
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL)  # after the change of user, which resets it
    if os.getppid() != plan["parent"]:
        raise OSError("the parent is gone")
    path = empty_path(libc)
    if filter_system_calls(libc, plan["filter"], path):
        held.append("system calls")
    elif not platform:
        raise OSError(f"its system calls cannot be filtered: {os.strerror(ctypes.get_errno())}")
    os.write(report, ", ".join(held).encode())
    become(libc, plan["program"], plan["argv"], plan["env"], path)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        # Nothing else: if the filter is in place already, Python cannot exit in its usual way.
        os.write(2, f"could not launch the collector: {error}\n".encode())
        os._exit(COULD_NOT_LAUNCH)
