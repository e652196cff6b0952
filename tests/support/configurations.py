"""Configurations and versions by the API."""

from httpx2 import Response

from tests.support.members import API, Member

YAML = "receivers:\n  otlp:\n    protocols: {grpc: }\n"


def create(member: Member, name: str = "Edge", yaml: str = YAML, **fields: str) -> str:
    response = member.http.post(f"{API}/configurations", json={"name": name, "yaml": yaml, **fields})
    assert response.status_code == 201, response.text
    return response.json()["id"]


def publish(member: Member, configuration_id: str, n: int = 1) -> Response:
    return member.http.post(f"{API}/configurations/{configuration_id}/versions/{n}/publish")


def append(member: Member, configuration_id: str, yaml: str, **fields: str) -> Response:
    return member.http.post(f"{API}/configurations/{configuration_id}/versions", json={"yaml": yaml, **fields})


def patch(member: Member, configuration_id: str, n: int, **fields: object) -> Response:
    return member.http.patch(f"{API}/configurations/{configuration_id}/versions/{n}", json=fields)


def get(member: Member, path: str) -> Response:
    return member.http.get(f"{API}/configurations{path}")
