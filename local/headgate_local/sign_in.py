"""The first person of a local service, so that its pages can be seen right away."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from headgate.identity import members
from headgate_local import user_pool

_EMAIL: Final = "admin@example.com"


@dataclass(frozen=True, slots=True)
class SignIn:
    """What to enter at the sign-in page."""

    email: str
    password: str


def first_person(file: Path, organization_id: str) -> SignIn:
    """An Admin of the organization; made if `file` does not remember one."""
    if file.exists():
        return SignIn(**json.loads(file.read_text(encoding="utf-8")))
    made = SignIn(_EMAIL, secrets.token_urlsafe(12))
    user_pool.add_account(made.email, made.password)
    members.add_first_admin(organization_id, made.email)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        json.dump(asdict(made), opened)
    return made
