"""Fleets by the API."""

from httpx2 import Response

from tests.support.members import API, Member


def create(member: Member, label: str = "Edge", type: str = "server-supervisor", **fields: object) -> Response:
    return member.http.post(f"{API}/fleets", json={"label": label, "type": type, **fields})
