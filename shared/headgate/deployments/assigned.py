"""The version that a deployment group is to run, for those who only read it."""

from headgate.configurations import service as configurations
from headgate.configurations.model import Version
from headgate.deployments import service as deployments
from headgate.deployments.model import NothingAssigned
from headgate.foundation.caller import Caller


def version(caller: Caller, fleet_id: str, deployment_id: str) -> Version:
    """The assigned version with its text; three reads. Raises FleetNotFound, DeploymentNotFound, NothingAssigned."""
    assignment = deployments.get(caller, fleet_id, deployment_id).assignment
    if assignment is None:
        raise NothingAssigned
    return configurations.get_version(caller, assignment.configuration_id, assignment.version_number)
