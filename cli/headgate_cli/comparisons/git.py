"""Reading another commit of a git checkout.

Only plumbing commands are run, with arguments in a list, and with nothing that makes git start another program: no
hooks, no monitor of the file system, no external diff, no filters. A name of a commit that somebody gives reaches git
once, behind `--end-of-options`; from then on its hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate_cli.errors import Failed
from headgate_cli.safe_files import MOST_BYTES
from headgate_cli.untrusted import one_line

_SECONDS: Final = 60.0
_MOST_LISTED: Final = 64 * 1_048_576
# Settings of a checkout can name programs.
_SETTINGS: Final = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false")
# In a partial clone git would fetch what is missing, with programs that the checkout's settings name (`ext::…`,
# `core.sshCommand`, a credential helper).
_NO_TRANSPORT: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
_ENTRY: Final = re.compile(
    rb"(?P<mode>\d{6}) (?P<kind>\w+) (?P<hash>[0-9a-f]{40,64}) +(?P<size>\d+|-)\t(?P<path>.*)", re.DOTALL
)
_HASH: Final = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit. It is not `regular` if it is a link or another repository."""

    hash: str
    size: int
    regular: bool


@dataclass(frozen=True, slots=True)
class Checkout:
    """The git checkout that the working folder is in."""

    top: Path

    @classmethod
    def here(cls) -> Checkout:
        """Raises Failed outside of a checkout."""
        try:
            top = _git("rev-parse", "--show-toplevel").decode().removesuffix("\n")
        except _GitFailed as error:
            raise Failed(f"--base needs a git checkout: {error.message}") from error
        return cls(Path(top))

    def merge_base(self, ref: str) -> str:
        """The hash of the newest commit that HEAD and `ref` have in common. Raises Failed.

        A checkout of a CI often has `origin/main` and no `main`.
        """
        if not ref or ref.startswith("-") or not ref.isprintable():
            raise Failed(f"--base: {one_line(ref)!r} is not the name of a commit: write a branch, a tag or a hash")
        commit = self._commit(ref) or self._commit(f"origin/{ref}")
        if not commit:
            raise Failed(
                f"--base: this checkout has no commit {one_line(ref)}: fetch it with `git fetch origin {one_line(ref)}`"
            )
        try:
            return _hash(_git("merge-base", commit, "HEAD"))
        except _GitFailed as error:
            raise Failed(
                f"--base: HEAD and {one_line(ref)} have no commit in common here: fetch their whole history "
                "(`fetch-depth: 0` of actions/checkout)"
            ) from error

    def files_now(self, paths: Sequence[str]) -> list[str]:
        """The files of the working tree below the paths, relative to its top, but for those that git ignores."""
        listed = _git("ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--", *paths)
        return sorted({os.fsdecode(name) for name in listed.split(b"\0") if name})

    def files_of(self, commit: str, paths: Sequence[str]) -> Mapping[str, Blob]:
        """The files of a commit below the paths, relative to the checkout's top.

        Raises Failed if one of them is not here, as in a partial clone.
        """
        listed = _git("ls-tree", "-r", "-l", "-z", "--full-name", commit, "--", *paths)
        blobs = {}
        for line in listed.split(b"\0"):
            entry = _ENTRY.fullmatch(line)
            if line and not entry:
                # Its size is BAD: git does not know it.
                raise Failed(
                    f"--base: this checkout lacks files of the commit {commit[:12]}: it is a partial clone, or "
                    "damaged; clone without --filter"
                )
            if entry:
                size = int(entry["size"]) if entry["size"] != b"-" else 0
                regular = entry["kind"] == b"blob" and entry["mode"] != b"120000"
                blobs[os.fsdecode(entry["path"])] = Blob(entry["hash"].decode(), size, regular)
        return blobs

    def text(self, path: str, blob: Blob) -> str:
        """The text of a file of a commit. Raises Failed for one that is not a regular file, over 1 MB or not UTF-8."""
        if not blob.regular:
            raise Failed(f"{one_line(path)} is not a regular file there")
        if blob.size > MOST_BYTES:
            raise Failed(f"{one_line(path)} is over 1 MB there, the server's limit")
        try:
            return _git("cat-file", "blob", blob.hash).decode()
        except UnicodeDecodeError as error:
            raise Failed(f"{one_line(path)} is not UTF-8 text there") from error

    def path(self, name: str) -> str:
        """The path from the working folder of a file that is named from the top."""
        return os.path.relpath(self.top / name)

    def _commit(self, ref: str) -> str:
        try:
            return _hash(_git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"))
        except _GitFailed:
            return ""


class _GitFailed(Failed):
    """A git command ended with an error."""


def _hash(written: bytes) -> str:
    output = written.decode(errors="replace").strip()
    if not _HASH.fullmatch(output):
        raise _GitFailed("git answered in an unknown form")
    return output


def _git(*arguments: str) -> bytes:
    """Run git and return its output. Raises _GitFailed with the first line of its error, and Failed without git."""
    program = shutil.which("git")
    if program is None:
        raise Failed("--base needs git, which is not installed here")
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    # A path is a path: without this, `:(attr:…)` and `*` mean something.
    command = [program, "--no-pager", "--literal-pathspecs", *settings, *arguments]
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **_NO_TRANSPORT}
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Failed(f"git could not be run: {one_line(str(error))}") from error
    if ended.returncode:
        first, *_ = ended.stderr.decode(errors="replace").splitlines() or ["git ended with an error"]
        raise _GitFailed(one_line(first))
    if len(ended.stdout) > _MOST_LISTED:
        raise Failed("git lists too many files: name the folders to compare")
    return ended.stdout
