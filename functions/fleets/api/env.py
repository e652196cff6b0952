"""The endpoints of the variables that are stored with a deployment group, and of the group's own token."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from fastapi import Request
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from fleets.api.deployments_wire import DeploymentOut
from fleets.api.rollouts_wire import NotMovedOut
from fleets.api.routing import fleet_router
from fleets.api.wire import RenewToken, TokenStatusOut
from headgate.deployments import own_tokens, variables
from headgate.deployments.environment import Environment
from headgate.deployments.variables import MOST
from headgate.http.auditing import add_details
from headgate.http.credentials import Reader, SessionAdmin, Writer
from headgate.http.parameters import DeploymentId, FleetId
from headgate.http.problems import documented
from headgate.http.routing import ONCE, application_router, recorded
from headgate.http.wire import Answer, at
from headgate.instances import token_status
from headgate.instances.counting import fleets as counting
from headgate.rollouts.upgrading import variable_hosts
from headgate.storage.sealed import MAX_BYTES
from headgate_engine.wire.inputs import Input, VariableName
from headgate_engine.wire.times import Time

router = fleet_router()
by_hand = application_router()

_GROUP: Final = "/{fleet_id}/deployments/{deployment_id}"


def _one_line(value: str) -> str:
    if any(ord(character) < 0x20 or character in "\x7f\x85\u2028\u2029" for character in value):
        raise ValueError("This cannot contain line breaks or other control characters")
    if len(value.encode()) > MAX_BYTES:
        raise ValueError(f"This may have up to {MAX_BYTES:,} bytes in UTF-8")
    return value


Value = Annotated[str, StringConstraints(max_length=MAX_BYTES), AfterValidator(_one_line)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=MAX_BYTES), AfterValidator(_one_line)]


class PatchEnv(Input):
    """Sets the variables that are given, and removes those that are null. A secret is never shown again.

    With `forget_removed`, hosts no longer leave out the names that earlier changes removed.
    """

    variables: dict[VariableName, Value | None] = Field(default_factory=dict, max_length=MOST)
    secrets: dict[VariableName, Secret | None] = Field(default_factory=dict, max_length=MOST)
    forget_removed: bool = False

    @model_validator(mode="after")
    def _some_and_apart(self) -> Self:
        if not (self.variables or self.secrets or self.forget_removed):
            raise ValueError("At least one of variables, secrets, forget_removed is needed")
        both = sorted(self.variables.keys() & self.secrets.keys())
        if both:
            raise ValueError(f"The variable {both[0]} is in `variables` and in `secrets`; give it once")
        return self


class VariableOut(BaseModel):
    """A stored variable; `value` is null for a secret."""

    name: str
    secret: bool
    value: str | None
    set_at: Time


class EnvOut(BaseModel):
    """The stored variables by name, and their revision: 0 if there were never any.

    `removed` are names that hosts leave out of the variables of their install.
    """

    revision: int
    items: list[VariableOut]
    removed: list[str]

    @classmethod
    def of(cls, stored: Environment) -> Self:
        return cls(
            revision=stored.revision,
            removed=list(stored.removed),
            items=[
                VariableOut(name=name, secret=variable.secret is not None, value=variable.value, set_at=variable.set_at)
                for name, variable in sorted(stored.variables.items())
            ],
        )


class RunningVariablesOut(BaseModel):
    """The number of hosts whose collector's process has that revision; null for the variables of its install."""

    revision: int | None
    hosts: int


class EnvHostsOut(Answer):
    """The hosts of the group that report, by the revision that runs there.

    `rolled_out` is the revision of the group's last completed rollout of variables, `newest` the stored one. Hosts that
    are `unknown` do not say. The first twenty hosts that no revision can be brought to are in `not_moved`.
    """

    newest: int
    rolled_out: int | None
    hosts: Annotated[int, at("total")]
    running: list[RunningVariablesOut]
    unknown: int
    unreached: int
    not_moved: Annotated[list[NotMovedOut], at("named")]


@router.get(f"{_GROUP}/env")
def get_deployment_variables(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> EnvOut:
    """The variables that are stored with the group. Secrets are named, and their values are not shown."""
    return EnvOut.of(variables.get(caller, fleet_id, deployment_id))


@router.patch(f"{_GROUP}/env", **recorded("deployment.env_changed"))
def change_deployment_variables(
    fleet_id: FleetId, deployment_id: DeploymentId, body: PatchEnv, caller: Writer, request: Request
) -> EnvOut:
    """Set or remove stored variables. Hosts of the group get them by an install, or by a rollout of the revision.

    The first one gives the group a token of its own: install commands contain it from then on. Once a revision was
    rolled out, hosts are installed with that one.
    """
    stored = variables.change(
        caller, fleet_id, deployment_id, body.variables, body.secrets, forget_removed=body.forget_removed
    )
    add_details(request, named_changes({**body.variables, **body.secrets}))
    return EnvOut.of(stored)


@router.get(f"{_GROUP}/env/hosts")
def get_variables_of_hosts(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> EnvHostsOut:
    """The revisions of the stored variables that run on hosts, and the hosts that a rollout cannot reach."""
    group, stored, hosts = variable_hosts(caller, fleet_id, deployment_id)
    counted = sorted(hosts.running.items(), key=lambda each: each[0] or 0, reverse=True)
    return EnvHostsOut.of(
        hosts,
        newest=stored.revision,
        rolled_out=group.variables.revision if group.variables else None,
        running=[RunningVariablesOut(revision=revision, hosts=n) for revision, n in counted],
    )


@router.get(f"{_GROUP}/token", responses=documented(409))
def get_deployment_token(fleet_id: FleetId, deployment_id: DeploymentId, caller: Reader) -> TokenStatusOut:
    """List the hosts that still use a former token of the group. 409 `no_own_token` if it has none of its own."""
    return TokenStatusOut.of(token_status.of_group(caller, fleet_id, deployment_id))


@by_hand.post("/fleets/{fleet_id}/deployments/{deployment_id}/token", **recorded("deployment.token_renewed"))
@router.post(f"{_GROUP}/token", **recorded("deployment.token_renewed", 409, marks=ONCE))
def renew_deployment_token(
    fleet_id: FleetId, deployment_id: DeploymentId, body: RenewToken, caller: SessionAdmin
) -> DeploymentOut:
    """Issue the next token of a group that has one of its own. Sessions of Admins only.

    With grace `none`, the previous one ends at once. 409 `no_own_token` if the group has none.
    """
    counters = counting.before_change(caller, fleet_id, deployment_id)
    return DeploymentOut.counted(counters.counted(own_tokens.renew(caller, fleet_id, deployment_id, body.grace)))


def named_changes(changes: Mapping[str, str | None]) -> dict[str, str]:
    """For the record of the change: names alone."""
    kinds = {
        "set": sorted(name for name, value in changes.items() if value is not None),
        "removed": sorted(name for name, value in changes.items() if value is None),
    }
    return {kind: ", ".join(names) for kind, names in kinds.items() if names}
