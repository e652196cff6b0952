"""The variables that are stored with a deployment group, and what delivers its secrets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from headgate.deployments.versions import VariablesRevision
from headgate.foundation.principal import Principal

# Long enough for a key or a token, and not empty.
_OF_INSTALL: Final = ("HEADGATE_", "LD_")
_STAND_IN: Final = "stand-in-of-a-secret"


def refers(value: str) -> bool:
    """True if a collector would replace a part of the value; `$$` is a dollar sign."""
    return "${" in value.replace("$$", "")


@dataclass(frozen=True, slots=True)
class GroupVariable:
    """A value in clear, or a secret as KMS encrypted it."""

    set_at: datetime
    value: str | None = None
    secret: bytes | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """The stored variables of a group by their names; `revision` counts their changes.

    `removed` are names of earlier revisions: a host may have them of its install, and leaves them out.
    """

    variables: Mapping[str, GroupVariable] = field(default_factory=dict)
    revision: int = 0
    removed: Sequence[str] = ()

    @property
    def secrets(self) -> list[str]:
        """The names of those that are secret."""
        return sorted(name for name, variable in self.variables.items() if variable.secret is not None)

    @property
    def for_check(self) -> dict[str, str]:
        """The values to check a text with; a stand-in for each secret, and for what only a host resolves."""
        return {
            name: _STAND_IN if variable.secret is not None or refers(variable.value or "") else variable.value or ""
            for name, variable in self.variables.items()
        }

    def changed_since(self, before: Environment) -> list[str]:
        """The names of the variables whose value differs, or that only one of the two has.

        A secret that was set again counts, since nobody compares the values of secrets.
        """
        names = {*self.variables, *self.removed, *before.variables}
        removed = {*self.removed} - {*before.removed}
        return sorted(name for name in names if name in removed or self._content(name) != before._content(name))

    def _content(self, name: str) -> tuple[str | None, bytes | None] | None:
        variable = self.variables.get(name)
        return (variable.value, variable.secret) if variable else None

    @property
    def of_install(self) -> list[str]:
        """The names that hosts take from an install alone: a supervisor reads them at its start, or the loader does."""
        return sorted(name for name in self.variables if name.startswith(_OF_INSTALL))

    @property
    def pinned(self) -> VariablesRevision:
        """The revision, to move hosts to. KMS encrypts the same secret each time to another text."""
        content = {
            name: variable.value if variable.secret is None else variable.secret.hex()
            for name, variable in sorted(self.variables.items())
        }
        text = json.dumps([self.revision, content, sorted(self.removed)])
        return VariablesRevision(self.revision, hashlib.sha256(text.encode()).hexdigest())

    @property
    def plain(self) -> dict[str, str]:
        """Those that are not secret, by name."""
        return {
            name: variable.value or "" for name, variable in sorted(self.variables.items()) if variable.secret is None
        }


@dataclass(frozen=True, slots=True)
class InstallCode:
    """A code that delivers the secrets of a group, `left` more times until it expires.

    `sealed` is whether only sealed for the key of a host. The rest is who composed the command.
    """

    organization_id: str
    fleet_id: str
    deployment_id: str
    sealed: bool
    left: int
    expires_at: datetime
    actor: Principal
    credential_id: str
    credential_name: str
