"""Deployment groups by the API."""

from httpx2 import Response

from tests.support.fleets import create as create_fleet
from tests.support.members import API, Member


def server(member: Member) -> str:
    return f"{API}/fleets/{create_fleet(member).json()['id']}/deployments"


def kubernetes(member: Member) -> str:
    return f"{API}/fleets/{create_fleet(member, type='kubernetes-supervisor').json()['id']}/deployments"


def add(member: Member, at: str, configuration_id: str, name: str = "g", n: int = 1, **fields: object) -> Response:
    body = {"name": name, "configuration_id": configuration_id, "version_number": n, **fields}
    return member.http.post(at, json=body)
