"""On whose behalf the collector is asked: what keeps organizations apart and credentials fair."""

from dataclasses import dataclass
from typing import Protocol, Self


class _Authenticated(Protocol):
    """A caller, as far as it matters here."""

    @property
    def organization_id(self) -> str: ...

    @property
    def credential_id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Asker:
    """One organization's text never meets another's process; one credential's questions never keep others waiting.

    `credential_id` names a token, a session, or a test run, which stands for itself.
    """

    organization_id: str
    credential_id: str

    @classmethod
    def of(cls, caller: _Authenticated) -> Self:
        return cls(caller.organization_id, caller.credential_id)
