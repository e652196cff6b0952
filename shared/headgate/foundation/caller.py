"""The caller of a request."""

from dataclasses import dataclass
from typing import Literal

from headgate.foundation import errors
from headgate.foundation.principal import Principal

Access = Literal["read", "read_write"]
Role = Literal["contributor", "admin"]


class AdminRequired(errors.Forbidden):
    """A Contributor at what only Admins do."""

    code = "admin_required"
    detail = "This needs the Admin role"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated request: which principal, in which organization, with which access.

    `name` is the token's name or the user's email address; `credential_id` names the token or session, never its value.
    `people` are the ids of the people behind the credential: who is signed in, or who created or holds the token; None
    if its creator was not recorded.
    """

    organization_id: str
    organization_name: str
    principal: Principal
    name: str
    role: Role
    access: Access
    credential_id: str
    people: tuple[str, ...] | None = None

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"

    @property
    def can_write(self) -> bool:
        return self.access == "read_write"

    def require_admin(self) -> None:
        """Raises AdminRequired."""
        if not self.is_admin:
            raise AdminRequired
