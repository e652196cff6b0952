"""Names of things and addresses of their pages: read once for all events of a sweep."""

from __future__ import annotations

from collections.abc import Callable

from headgate.configurations import published as configurations
from headgate.deployments import service as deployments
from headgate.events.messages import Json
from headgate.fleets import service as fleets
from headgate.foundation.errors import NotFound


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
        link = f"{self.organization_link(organization_id)}/fleets/{fleet_id}"
        return self._named(organization_id, fleet_id, lambda *ids: fleets.of_organization(*ids).label, link)

    def deployment(self, fleet_id: str, deployment_id: str) -> dict[str, Json]:
        """One read, the first time."""
        return self._named(fleet_id, deployment_id, lambda *ids: deployments.of_fleet(*ids).name)

    def configuration(self, organization_id: str, configuration_id: str) -> dict[str, Json]:
        """One read, the first time."""
        link = f"{self.organization_link(organization_id)}/configurations/{configuration_id}"
        return self._named(organization_id, configuration_id, configurations.name, link)

    def _named(
        self, holder_id: str, thing_id: str, read: Callable[[str, str], str | None], link: str | None = None
    ) -> dict[str, Json]:
        key = (holder_id, thing_id)
        if key not in self._known:
            try:
                self._known[key] = read(*key)
            except NotFound:
                self._known[key] = None
        described: dict[str, Json] = {"id": thing_id, "name": self._known[key], "link": link}
        return {name: value for name, value in described.items() if value is not None}
