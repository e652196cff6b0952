"""The organization of a local service, and its two tokens, which stay the same."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headgate.identity import service as identity
from headgate_local import private_files
from headgate_local.errors import CannotStart


@dataclass(frozen=True, slots=True)
class Seed:
    organization_id: str
    read_write_token: str
    read_only_token: str


def seed(file: Path, *, fresh: bool) -> Seed:
    """The tokens of this data folder, from `file`. If the folder is `fresh` or has no such file, they are created.

    The tables have only hashes of tokens, so their values are only in this file. Raises CannotStart if it is damaged.
    """
    if not fresh and file.exists():
        try:
            return Seed(**json.loads(file.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise CannotStart(
                f"{file} is damaged: restore it from a backup, or remove it to get a new organization and new tokens"
            ) from None
    organization = identity.create_organization("Local")
    account = identity.create_service_account(organization.id, "local")
    _, read_write = identity.create_token(organization.id, account.id, name="local read-write", access="read_write")
    _, read_only = identity.create_token(organization.id, account.id, name="local read-only", access="read")
    created = Seed(organization.id, read_write, read_only)
    private_files.write(file, json.dumps(asdict(created)))
    return created
