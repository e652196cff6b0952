"""A user or a service account, as the owner or author of something."""

from dataclasses import dataclass
from typing import Literal

PrincipalKind = Literal["service_account", "user"]


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, or a service account whichever of its tokens was used. `name` is as it was at the time."""

    kind: PrincipalKind
    id: str
    name: str
