"""The stored credential: one file, readable by its owner only."""

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import click

from headgate_cli import safe_files
from headgate_cli.errors import Failed, NotAuthenticated

_VISIBLE: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Credential:
    """A bearer value and the server it is for. `organization_id` is set for a session, and empty for a token."""

    url: str
    value: str
    organization_id: str = ""
    expires_at: str = ""
    # Where the value came from, in words; not stored.
    source: str = ""

    @property
    def headers(self) -> dict[str, str]:
        organization = {"X-Service-Org": self.organization_id} if self.organization_id else {}
        return {"Authorization": f"Bearer {self.value}", **organization}


def path() -> Path:
    """`$XDG_CONFIG_HOME/headgate/credentials.json`; a relative path is ignored, as XDG's specification says."""
    config_home = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (config_home if config_home.is_absolute() else Path.home() / ".config") / "headgate" / "credentials.json"


def save(credential: Credential) -> Path:
    """Replace the stored credential atomically. Raises OSError."""
    file = path()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        json.dump({name: value for name, value in asdict(credential).items() if name != "source"}, opened)
    unfinished.replace(file)
    return file


def load() -> Credential | None:
    """The stored credential; None if there is none, or if the file is not one."""
    try:
        # Links in a person's own home are trusted.
        return Credential(**json.loads(safe_files.read_bytes(path(), links=True)))
    except (OSError, ValueError, TypeError, RecursionError, Failed):
        return None


def delete() -> bool:
    """Delete the file. Returns whether it existed. Raises OSError."""
    try:
        path().unlink()
    except FileNotFoundError:
        return False
    return True


def choose(url: str, token: str) -> Credential | None:
    """The credential to send: `token`, else `SERVICE_API_TOKEN`, else the stored one if it is for the server.

    An empty `url` stands for the stored server.
    """
    environment_token = os.environ.get("SERVICE_API_TOKEN", "")
    stored = load()
    if token or environment_token:
        source = "the token of --token" if token else "the token in SERVICE_API_TOKEN"
        return Credential(url or (stored.url if stored else ""), token or environment_token, source=source)
    if stored:
        stored = replace(stored, source="the one stored by `headgate login`; run it again to replace it")
    return stored if stored and (not url or stored.url == url) else None


def server(url: str) -> str:
    """The server's address without a path. Raises UsageError if it is not one."""
    address = url.strip().rstrip("/").removesuffix("/api/v1/public")
    if address and not address.startswith(("http://", "https://")):
        raise click.UsageError(f"{address!r} is not a server address: it must start with https:// or http://")
    if "@" in address.partition("://")[2].partition("/")[0]:
        # The HTTP client would send them in place of the token.
        raise click.UsageError("a server address must not contain a user name or password: remove what is before the @")
    if not address:
        raise click.UsageError(
            "no server: name it with --url or HEADGATE_URL, for example https://headgate.example.com"
        )
    return address


def usable(credential: Credential) -> Credential:
    """The credential as a header can carry it. Raises NotAuthenticated."""
    # A secret read from a file often ends with a line break.
    value = credential.value.strip()
    if not _VISIBLE.fullmatch(value):
        raise NotAuthenticated("the token contains a space, a line break or a letter that no token has: copy it again")
    return replace(credential, url=server(credential.url), value=value)
