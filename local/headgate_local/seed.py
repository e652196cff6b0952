"""The one organization of a local service, and two tokens for it that stay the same."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from headgate.identity import service as identity
from headgate_local.errors import CannotStart


@dataclass(frozen=True, slots=True)
class Seed:
    organization_id: str
    read_write_token: str
    read_only_token: str


def seed(file: Path, *, fresh: bool) -> Seed:
    """The tokens of this data folder. Made when it is `fresh`, and remembered in `file`, for its owner only.

    The tables hold hashes of them, so this file is the only place where their values can be had again. Raises
    CannotStart if it does not hold them.
    """
    if not fresh and file.exists():
        try:
            return Seed(**json.loads(file.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise CannotStart(
                f"{file} is damaged: restore it from a backup, or remove it to have a new organization and new tokens"
            ) from None
    organization = identity.create_organization("Local")
    account = identity.create_service_account(organization.id, "local")
    _, read_write = identity.create_token(organization.id, account.id, name="local read-write", access="read_write")
    _, read_only = identity.create_token(organization.id, account.id, name="local read-only", access="read")
    made = Seed(organization.id, read_write, read_only)
    temporary = file.with_suffix(".unfinished")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        json.dump(asdict(made), opened)
    temporary.rename(file)
    return made
