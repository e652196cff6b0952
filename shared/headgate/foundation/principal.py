"""A user or a service account, as the owner or author of something, and whoever a change is recorded of."""

from dataclasses import dataclass
from typing import Literal

PrincipalKind = Literal["service_account", "user"]
ActorKind = Literal["service_account", "user", "instance"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A principal, or a collector instance whose host acted by itself. `name` is as it was at the time."""

    kind: ActorKind
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Principal(Actor):
    """A user, or a service account whichever of its tokens was used."""

    kind: PrincipalKind
