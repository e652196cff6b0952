"""Who asks the collector, which keeps organizations apart and serves credentials fairly."""

from dataclasses import dataclass
from typing import Protocol, Self


class _Authenticated(Protocol):
    """The part of a caller that is needed here."""

    @property
    def organization_id(self) -> str: ...

    @property
    def credential_id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Asker:
    """A process reads the texts of one organization only, and no credential's questions delay those of others for long.

    `credential_id` names a token, a session, or a test run, which stands for itself.
    """

    organization_id: str
    credential_id: str

    @classmethod
    def of(cls, caller: _Authenticated) -> Self:
        return cls(caller.organization_id, caller.credential_id)
