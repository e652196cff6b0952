"""Signed links to what an install fetches, each for an hour, one platform and one group. A link contains no secret."""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import urlencode

from headgate.identity import signing

LIFETIME: Final = timedelta(hours=1)

VARIABLES: Final = "variables"
SECRETS: Final = "secrets"
"""The names by which a host fetches what is stored with its group. That takes the group's token, too, and a code."""

Platform = Literal["docker", "linux", "kubernetes", "windows", "macos"]


@dataclass(frozen=True, slots=True)
class Link:
    """The target of a link, and its expiry (seconds since 1970). `generation` is that of the fleet's token."""

    platform: str
    organization_id: str
    fleet_id: str
    deployment_id: str
    expires: int
    generation: int

    def signature(self) -> str:
        return base64.urlsafe_b64encode(signing.sign("install", self._message())).decode().rstrip("=")

    def signed_by(self, signature: str, at: datetime) -> bool:
        """True if this deployment issued the link with that signature, and it has not expired."""
        try:
            signed = base64.b64decode(signature + "=" * (-len(signature) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return False
        return signing.verify("install", self._message(), signed) and at.timestamp() < self.expires

    def url(self, origin: str) -> str:
        return f"{origin}/api/v1/fleet-install/{self.platform}/{self.deployment_id}?{self.query()}"

    def file_url(self, origin: str, name: str) -> str:
        """The URL of a file, with the same signature."""
        return f"{origin}/api/v1/fleet-install/{self.platform}/{self.deployment_id}/{name}?{self.query()}"

    def program_path(self, sha256: str) -> str:
        """Path and query of the program with that hash; a host adds them to the origin that it reports to."""
        return self.file_url("", f"program-{sha256}")

    def query(self) -> str:
        parts = {
            "organization": self.organization_id,
            "fleet": self.fleet_id,
            "expires": str(self.expires),
            "generation": str(self.generation),
            "signature": self.signature(),
        }
        return urlencode(parts)

    def _message(self) -> bytes:
        # No part can contain a NUL, so that the signature is for exactly these parts.
        parts = (self.platform, self.organization_id, self.fleet_id, self.deployment_id)
        return "\0".join((*parts, str(self.expires), str(self.generation))).encode()
