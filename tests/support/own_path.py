"""What tests find of the machine that they run on: the same on every one.

A container engine, a command line of AWS or Kubernetes, somebody's git hooks or a proxy would change what our commands
do: they would ask a real registry, or reach the service of a test through the proxy.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HIDDEN: Final = frozenset({"aws", "docker", "finch", "helm", "kubectl", "nerdctl", "podman", "sam"})
_LOOPBACK: Final = "localhost,127.0.0.1,::1"


@contextmanager
def own_environment() -> Iterator[None]:
    """Have it in this process's environment until the end of the block, and so in that of every program from here."""
    with tempfile.TemporaryDirectory(prefix="headgate-path-") as folder:
        # Check processes run as users of their own, and what is done to them as those.
        Path(folder).chmod(0o755)
        before = dict(os.environ)
        os.environ["PATH"] = own_path(os.environ.get("PATH", os.defpath), Path(folder))
        # A program that needs the proxy for the internet still has it.
        for name in ("no_proxy", "NO_PROXY"):
            os.environ[name] = ",".join(filter(None, (_LOOPBACK, os.environ.get(name))))
        os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before


def own_path(path: str, folder: Path) -> str:
    """The same PATH without these programs: a folder that has one gives way to links to all others in it."""
    folders = [Path(one) for one in path.split(os.pathsep) if one]
    return os.pathsep.join(str(_cleared(one, folder / str(number))) for number, one in enumerate(folders))


def _cleared(found: Path, links: Path) -> Path:
    names = {entry.name for entry in os.scandir(found)} if found.is_dir() else set()
    if not names & HIDDEN:
        return found
    links.mkdir()
    for name in names - HIDDEN:
        (links / name).symlink_to(found.resolve() / name)
    return links
