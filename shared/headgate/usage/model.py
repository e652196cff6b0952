"""A use of a configuration, and the error of what a use forbids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from headgate.foundation import errors
from headgate.instances.state.model import InstanceState

Kind = Literal["assigned", "rollout", "override"]

MOST_NAMED: Final = 100
"""A refusal names no more uses."""


@dataclass(frozen=True, slots=True)
class ConfigurationUse:
    """A group that is assigned a version or that a rollout takes to one, or an instance with an override.

    `host` names the instance; `until` is when its override ends.
    """

    kind: Kind
    configuration_id: str
    version_number: int
    fleet_id: str
    fleet_label: str
    deployment_id: str
    deployment_name: str
    instance_id: str | None = None
    host: str | None = None
    until: datetime | None = None

    def sentence(self) -> str:
        group = f"the group {self.deployment_name} of the fleet {self.fleet_label}"
        match self.kind:
            case "assigned":
                return f"{group} is assigned version {self.version_number}"
            case "rollout":
                return f"a rollout takes {group} to version {self.version_number}"
            case "override":
                return f"an override makes {self.host or self.instance_id} in {group} run version {self.version_number}"


@dataclass(frozen=True, slots=True)
class CountedUse:
    """A use by a group, and the group's collectors that were last offered this version, by state."""

    use: ConfigurationUse
    instances: Mapping[InstanceState, int]


class ConfigurationInUse(errors.Conflict):
    """Hosts are to run it. `errors` names the uses."""

    code = "configuration_in_use"

    def __init__(self, uses: Sequence[ConfigurationUse]) -> None:
        more = f" (and {len(uses) - 1} more)" if len(uses) > 1 else ""
        super().__init__(
            f"This configuration is in use: {uses[0].sentence()}{more}. Assign another version there, or end the "
            "rollout or the override, and archive it then"
        )
        named = uses[:MOST_NAMED]
        self.errors = [errors.FieldError(("path", "configuration_id"), use.sentence(), code=use.kind) for use in named]
