"""The first person of a local service, who can sign in to its pages."""

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from headgate.identity import members
from headgate_local import private_files, user_pool

_EMAIL: Final = "admin@example.com"


@dataclass(frozen=True, slots=True)
class SignIn:
    """The credentials for the sign-in page."""

    email: str
    password: str


def first_person(file: Path, organization_id: str) -> SignIn:
    """The organization's Admin from `file`. If the file does not exist, the Admin is created."""
    if file.exists():
        return SignIn(**json.loads(file.read_text(encoding="utf-8")))
    created = SignIn(_EMAIL, secrets.token_urlsafe(12))
    user_pool.add_account(created.email, created.password)
    members.add_first_admin(organization_id, created.email)
    private_files.write(file, json.dumps(asdict(created)))
    return created
