"""Requests a second of the local service, and the DynamoDB round trips behind each endpoint."""

import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
from moto import mock_aws

from configurations.app import router as configurations
from headgate.foundation.settings import settings
from headgate.http.app import create_app
from headgate.identity import service as identity
from headgate.storage import aws
from headgate_local import template
from identity.app import router as identities
from tests.support.in_process import TestClient
from tests.support.service import running_service

SECONDS = 4.0
CLIENTS = 8
YAML = (Path(__file__).parent / "hundred_lines.yaml").read_text()
API = "/api/v1/public"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder) / "data") as service:
        requests_a_second(service.base_url, service.read_write_token)
    with everything_here() as client:
        round_trips(client)


def requests_a_second(base_url: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=base_url, headers=headers) as client:
        created = client.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}).json()["id"]
    print(f"\n{'read, ' + str(CLIENTS) + ' clients at once':<44} {'req/s':>8} {'ratio':>8}")
    baseline = rate(base_url, headers, f"{API}/openapi.json")
    print(f"{'GET /openapi.json (base: no DynamoDB)':<44} {baseline:>8.0f} {1:>7.2f}x")
    for path in ("/identity", "/configurations", f"/configurations/{created}", f"/configurations/{created}/versions/1"):
        reached = rate(base_url, headers, API + path)
        print(f"{'GET ' + path.replace(created, '{id}'):<44} {reached:>8.0f} {reached / baseline:>7.2f}x")


def rate(base_url: str, headers: dict[str, str], path: str) -> float:
    until = time.perf_counter() + SECONDS

    def client(_: int) -> int:
        done = 0
        with httpx.Client(base_url=base_url, headers=headers) as http:
            while time.perf_counter() < until:
                assert http.get(path).status_code == 200
                done += 1
        return done

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(client, range(CLIENTS))) / SECONDS


@contextmanager
def everything_here() -> Iterator[TestClient]:
    """The functions and moto in this process, where calls can be counted."""
    described = template.read()
    environment = described.environment() | {"HEADGATE_RATE_LIMIT_PER_MINUTE": "1000000"}
    credentials = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ.update(environment | credentials)
    settings.cache_clear()
    with mock_aws():
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        for bucket in described.buckets():
            aws.s3().create_bucket(Bucket=bucket.name)
        organization = identity.create_organization("Bench")
        account = identity.create_service_account(organization.id, "bench")
        _, token = identity.create_token(organization.id, account.id, name="bench", access="read_write")
        with TestClient(create_app("Bench", [identities, configurations])) as client:
            client.headers["Authorization"] = f"Bearer {token}"
            yield client


def round_trips(client: TestClient) -> None:
    calls: list[str] = []
    aws.dynamodb().meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name))
    created = client.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}).json()["id"]
    print(f"\n{'DynamoDB round trips':<60} {'calls':>5}  of which")
    for method, path, body in (
        ("GET", "/identity", None),
        ("GET", "/configurations", None),
        ("GET", f"/configurations/{created}", None),
        ("GET", f"/configurations/{created}/versions", None),
        ("GET", f"/configurations/{created}/versions/1", None),
        ("POST", "/configurations", {"name": "Core", "yaml": YAML}),
        ("PATCH", f"/configurations/{created}", {"name": "Edge 2"}),
        ("POST", f"/configurations/{created}/versions", {"yaml": YAML}),
        ("PATCH", f"/configurations/{created}/versions/2", {"yaml": "a: b"}),
        ("POST", f"/configurations/{created}/versions/2/publish", None),
    ):
        calls.clear()
        client.request(method, API + path, json=body).raise_for_status()
        print(f"{method + ' ' + path.replace(created, '{id}'):<60} {len(calls):>5}  {', '.join(calls)}")


if __name__ == "__main__":
    main()
