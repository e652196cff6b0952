"""A host whose supervisor signs its messages."""

import base64
from dataclasses import dataclass, field
from typing import Any

from httpx2 import Response
from nacl.signing import SigningKey

from headgate.foundation.hashing import hash_of
from tests.support.fleet_of_agents import Fleet
from tests.support.opamp_agent import Agent


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def signed(key: SigningKey, token: str, group: str, place: str, body: bytes) -> str:
    """The header of a message, as layers/supervisor/internal/identity writes it."""
    message = "\n".join(("headgate-host-message-v1", hash_of(token), group, place, "")).encode() + body
    return f"v1.{_encoded(bytes(key.verify_key))}.{place}.{_encoded(key.sign(message).signature)}"


@dataclass
class SigningHost:
    """Posts messages that it signs. `sent` are all that it sent, each with its signature."""

    fleet: Fleet
    token: str
    group: str
    key: SigningKey = field(default_factory=SigningKey.generate)
    start: int = 1
    number: int = 0
    sent: list[tuple[bytes, str]] = field(default_factory=list)

    @classmethod
    def of(cls, fleet: Fleet, group: str | None = None, token: str | None = None, **fields: Any) -> "SigningHost":
        return cls(fleet, token or fleet.token, group or fleet.deployment_id, **fields)

    def signature(self, body: bytes) -> str:
        self.number += 1
        return signed(self.key, self.token, self.group, f"{self.start}.{self.number}", body)

    def posts(self, body: bytes, signature: str | None = None) -> Response:
        """Send the message with a signature of its own, or with that one."""
        header = self.signature(body) if signature is None else signature
        self.sent.append((body, header))
        return self.fleet.post(body, token=self.token, group=self.group, **{"x-host-signature": header})

    def agent(self, **fields: Any) -> Agent:
        def post(body: bytes) -> bytes:
            response = self.posts(body)
            assert response.status_code == 200, response.text
            return response.content

        return Agent(post, **fields)
