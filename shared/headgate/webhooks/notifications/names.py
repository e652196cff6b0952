"""Names of things and addresses of their pages: read once for all events of a sweep."""

from __future__ import annotations

from headgate.configurations import published as configurations
from headgate.deployments import service as deployments
from headgate.deployments.model import DeploymentNotFound
from headgate.events.messages import Json
from headgate.fleets import service as fleets
from headgate.fleets.model import FleetNotFound


class Names:
    """`public_url` is the origin of the pages. What is gone has no name."""

    def __init__(self, public_url: str) -> None:
        self._public_url = public_url.rstrip("/")
        self._known: dict[tuple[str, str], str | None] = {}

    @property
    def public_url(self) -> str:
        return self._public_url

    def organization_link(self, organization_id: str) -> str:
        return f"{self._public_url}/organizations/{organization_id}"

    def fleet(self, organization_id: str, fleet_id: str) -> dict[str, Json]:
        """One read, the first time."""
        key = (organization_id, fleet_id)
        if key not in self._known:
            try:
                self._known[key] = fleets.of_organization(organization_id, fleet_id).label
            except FleetNotFound:
                self._known[key] = None
        return self._named(fleet_id, self._known[key], f"{self.organization_link(organization_id)}/fleets/{fleet_id}")

    def deployment(self, fleet_id: str, deployment_id: str) -> dict[str, Json]:
        """One read, the first time."""
        key = (fleet_id, deployment_id)
        if key not in self._known:
            try:
                self._known[key] = deployments.of_fleet(fleet_id, deployment_id).name
            except DeploymentNotFound:
                self._known[key] = None
        return self._named(deployment_id, self._known[key])

    def configuration(self, organization_id: str, configuration_id: str) -> dict[str, Json]:
        """One read, the first time."""
        key = (organization_id, configuration_id)
        if key not in self._known:
            self._known[key] = configurations.name(organization_id, configuration_id)
        link = f"{self.organization_link(organization_id)}/configurations/{configuration_id}"
        return self._named(configuration_id, self._known[key], link)

    @staticmethod
    def _named(known_id: str, name: str | None, link: str | None = None) -> dict[str, Json]:
        described: dict[str, Json] = {"id": known_id, "name": name, "link": link}
        return {key: value for key, value in described.items() if value is not None}
