"""The stored credential: one file, for its owner only."""

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
    """A bearer value and where it is good. `organization_id` is named with a session, and empty for a token."""

    url: str
    value: str
    organization_id: str = ""
    expires_at: str = ""
    # In words; empty in the file, as it is plain there.
    source: str = ""

    @property
    def headers(self) -> dict[str, str]:
        named = {"X-Service-Org": self.organization_id} if self.organization_id else {}
        return {"Authorization": f"Bearer {self.value}", **named}


def path() -> Path:
    """`$XDG_CONFIG_HOME/headgate/credentials.json`; a relative one is none, as its specification says."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".config") / "headgate" / "credentials.json"


def keep(credential: Credential) -> Path:
    """Replace what is stored, whole or not at all. Raises OSError."""
    file = path()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        json.dump({name: value for name, value in asdict(credential).items() if name != "source"}, opened)
    unfinished.replace(file)
    return file


def stored() -> Credential | None:
    """What `keep` stored; None for nothing, or for a file of another make."""
    try:
        # A home is its owner's, with the links in it.
        return Credential(**json.loads(safe_files.read_bytes(path(), links=True)))
    except (OSError, ValueError, TypeError, RecursionError, Failed):
        return None


def forget() -> bool:
    """Delete the file. Returns whether there was one. Raises OSError."""
    try:
        path().unlink()
    except FileNotFoundError:
        return False
    return True


def presented(url: str, token: str) -> Credential | None:
    """What to call the server with: the token option, else `SERVICE_API_TOKEN`, else what is stored for the server.

    `url` is empty where nobody named a server.
    """
    of_environment = os.environ.get("SERVICE_API_TOKEN", "")
    found = stored()
    if token or of_environment:
        source = "the token of --token" if token else "the token in SERVICE_API_TOKEN"
        return Credential(url or (found.url if found else ""), token or of_environment, source=source)
    if found:
        found = replace(found, source="what `headgate login` stored; run it again for another")
    return found if found and (not url or found.url == url) else None


def server(url: str) -> str:
    """The server's address as others name it too. Raises UsageError where it is none."""
    address = url.strip().rstrip("/").removesuffix("/api/v1/public")
    if address and not address.startswith(("http://", "https://")):
        raise click.UsageError(f"{address!r} is no address of a server: it begins with https:// or http://")
    if "@" in address.partition("://")[2].partition("/")[0]:
        # HTTP would send it in the place of the token.
        raise click.UsageError("a server's address holds no name and password: leave out what stands before the @")
    if not address:
        raise click.UsageError("name the server with --url or HEADGATE_URL, as in https://headgate.example.com")
    return address


def usable(credential: Credential) -> Credential:
    """The credential as a header can carry it. Raises NotAuthenticated."""
    # A secret out of a file often ends with a line break.
    value = credential.value.strip()
    if not _VISIBLE.fullmatch(value):
        raise NotAuthenticated("the token has a space, a line break or a letter that no token has")
    return replace(credential, url=server(credential.url), value=value)
