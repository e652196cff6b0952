"""Variables that are stored with a group, for the environment of its collectors; secrets among them are encrypted.

Any writer sets them, any member sees their names, and secrets leave the service only for a host that is installed: see
`deliveries`. docs/fleets-explained.md and 0206-deliveries-of-secrets.md say why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from headgate.deployments import own_tokens, variable_store
from headgate.deployments.environment import Environment, GroupVariable
from headgate.deployments.model import Deployment
from headgate.deployments.service import of_fleet
from headgate.deployments.versions import VariablesRevision
from headgate.fleets import service as fleets
from headgate.fleets.model import FleetObserved
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.storage import sealed
from headgate.storage.retry import retry
from headgate.storage.table import Write

MOST: Final = 50
MOST_REMOVED: Final = 200
"""Names that hosts are told to leave out."""
MOST_SECRETS: Final = 20
"""Each is a call to KMS, when it is set and whenever a host is installed."""


class TooManyVariables(errors.Invalid):
    """The group would have more variables, or secrets, than it may."""

    code = "too_many_variables"


_FORGETTING: Final = (
    ". Hosts leave them out of the variables of their install: `forget_removed` forgets them, and a host that was "
    "installed with such a variable has it again until it is installed anew"
)
# Revisions that a process remembers: a single host names up to eleven with each error. 200 KB at most each.
_MOST_OPENED: Final = 128


def forget() -> None:
    """Forget what this process has opened."""
    _opened_revision.cache_clear()


class RevisionNotStored(errors.Invalid):
    """Hosts can be moved to the newest revision, and to the last ones that hosts were moved to."""

    code = "variables_revision_not_stored"
    at = ("body", "variables_revision")

    def __init__(self, n: int, newest: int) -> None:
        super().__init__(
            f"Revision {n} of the group's variables is not stored; the newest is {newest}"
            if newest
            else "No variables are stored with this group: store some first, or leave this out"
        )


class SelectedByLabels(errors.Conflict):
    """Labels are a host's word, which is not enough for secrets."""

    code = "selected_by_labels"
    detail = "Labels select the hosts of this group: store variables with a group that has no selector"


class NotReadable(errors.Conflict):
    """A secret was encrypted by the key of another deployment of Headgate: an import brought it here."""

    code = "secret_not_readable"

    def __init__(self, name: str) -> None:
        super().__init__(f"The secret {name} was stored by another deployment of Headgate: set it again")


def get(caller: Caller, fleet_id: str, deployment_id: str) -> Environment:
    """Three reads. Raises FleetNotFound, DeploymentNotFound."""
    fleets.get(caller, fleet_id)
    of_fleet(fleet_id, deployment_id)
    return variable_store.get(fleet_id, deployment_id)


def change(
    caller: Caller,
    fleet_id: str,
    deployment_id: str,
    values: Mapping[str, str | None],
    secrets: Mapping[str, str | None],
    *,
    forget_removed: bool = False,
) -> Environment:
    """Set variables, and remove those that are None; the first one issues the group's own token. One transaction.

    With `forget_removed`, hosts no longer leave out names that earlier changes removed. Raises FleetNotFound,
    DeploymentNotFound, TooManyVariables, SelectedByLabels; FleetObserved if it sets any that no collector would get.
    """
    fleet = fleets.get(caller, fleet_id)
    of_fleet(fleet_id, deployment_id)
    _require_few("secrets", sum(value is not None for value in secrets.values()), MOST_SECRETS)
    at = clock.now()
    changes: dict[str, GroupVariable | None] = {
        name: None if value is None else GroupVariable(at, value=value) for name, value in values.items()
    }
    changes |= {
        name: None
        if value is None
        else GroupVariable(at, secret=sealed.seal(value, deployment_id=deployment_id, variable=name))
        for name, value in secrets.items()
    }

    def once() -> Environment:
        group, before = of_fleet(fleet_id, deployment_id), variable_store.get(fleet_id, deployment_id)
        changed = {name: variable for name, variable in {**before.variables, **changes}.items() if variable}
        _require_few("variables", len(changed), MOST)
        _require_few("secrets", sum(each.secret is not None for each in changed.values()), MOST_SECRETS)
        former = () if forget_removed else before.removed
        removed = sorted({*former, *before.variables} - set(changed))
        _require_few("removed names", len(removed), MOST_REMOVED, _FORGETTING)
        after = Environment(changed, before.revision + 1, removed)
        if group.selector:
            raise SelectedByLabels
        if group.observed and any(changes.values()):
            raise FleetObserved
        if group.token_generation or not changed:
            variable_store.put(group, before, after)
        else:
            own = replace(group, revision=group.revision + 1, updated_at=at)
            variable_store.put_with_token(group, *own_tokens.issued(fleet, own, at), before, after)
        return after

    return retry(once)


def of_group(group: Deployment, pinned: VariablesRevision | None = None) -> Environment:
    """Returns that revision, or the one of the group's last rollout, or else the newest; one read, or two."""
    pinned = pinned or group.variables
    revision = stored_revision(group, pinned.revision) if pinned else None
    return revision or variable_store.get(group.fleet_id, group.id)


def stored_revision(group: Deployment, n: int) -> Environment | None:
    """A revision that hosts were moved to; one read. None if it is not stored any more."""
    return variable_store.revision(group.fleet_id, group.id, n)


def revision(group: Deployment, n: int) -> Environment:
    """A revision that a rollout can move hosts to: the newest, or one that hosts were moved to; two reads at most.

    Raises RevisionNotStored.
    """
    newest = variable_store.get(group.fleet_id, group.id)
    environment = newest if newest.revision == n else stored_revision(group, n)
    if environment is None or n == 0:
        raise RevisionNotStored(n, newest.revision)
    return environment


def pinning(group: Deployment, environment: Environment) -> list[Write]:
    """The writes that store a revision for hosts to be moved to. For the transaction that changes the group."""
    known = (version.variables for version in group.known_healthy)
    used = {each.revision for each in (group.variables, *known) if each}
    return variable_store.pinning(group, environment, used)


@dataclass(frozen=True, slots=True)
class OpenedRevision:
    """A revision in clear: its content for hosts, the values of its secrets, and the names of those that hosts get.

    There is no content if it is not stored any more, or another deployment of Headgate stored a secret of it.
    """

    content: Mapping[str, object] | None = None
    secrets: Sequence[str] = ()
    secret_names: Sequence[str] = ()


def opened_revision(group: Deployment, pinned: VariablesRevision) -> OpenedRevision:
    """Open a revision for hosts; a read and a call to KMS for each secret, the first time in a process."""
    return _opened_revision(group.fleet_id, group.id, pinned)


# A revision never changes and, once it is deleted, never comes back.
@lru_cache(_MOST_OPENED)
def _opened_revision(fleet_id: str, deployment_id: str, pinned: VariablesRevision) -> OpenedRevision:
    environment = variable_store.revision(fleet_id, deployment_id, pinned.revision)
    if environment is None or environment.pinned != pinned:
        return OpenedRevision()
    try:
        secrets = opened(deployment_id, environment)
    except NotReadable:
        return OpenedRevision()
    values = environment.plain | secrets
    for_collector = {name: value for name, value in values.items() if name not in environment.of_install}
    content = {"variables": for_collector, "removed": list(environment.removed)}
    return OpenedRevision(content, list(secrets.values()), [name for name in secrets if name in for_collector])


def opened(deployment_id: str, environment: Environment) -> dict[str, str]:
    """The secrets in clear, for a host of the group; a call for each. Raises NotReadable."""
    values = {}
    for name in environment.secrets:
        try:
            secret = environment.variables[name].secret or b""
            values[name] = sealed.unseal(secret, deployment_id=deployment_id, variable=name)
        except sealed.Unsealable as error:
            raise NotReadable(name) from error
    return values


def _require_few(what: str, n: int, most: int, way_out: str = "") -> None:
    if n > most:
        message = f"A group has at most {most} stored {what}; these would be {n}{way_out}"
        raise TooManyVariables(message, at=("body", what))
