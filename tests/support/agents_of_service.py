"""Agents that report to a running service over HTTP, each as often as it can, until they are told to stop."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx

from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent, Post
from tests.support.rolling import Host

_PAUSE = 0.3
_ATTEMPTS = 10


def post_to(client: httpx.Client, api: httpx.Client, fleet_id: str, deployment_id: str) -> Post:
    """Sends messages to the group by `client`, whose paths are those of the service."""
    body = {"platform": "linux", "deployment_id": deployment_id}
    return _post_with(
        api.post(f"/fleets/{fleet_id}/install", json=body).json()["connection"]["token"], client, deployment_id
    )


def post_observed(client: httpx.Client, api: httpx.Client, fleet_id: str, deployment_id: str) -> Post:
    """Sends messages of agents that Headgate did not install to the group of an observed fleet."""
    return _post_with(
        api.post(f"/fleets/{fleet_id}/observe", json={"client": "extension"}).json()["token"], client, deployment_id
    )


def _post_with(token: str, client: httpx.Client, deployment_id: str) -> Post:
    headers = {"Authorization": f"Bearer {token}", "X-Deployment-Id": deployment_id}

    def post(message: bytes) -> bytes:
        # As a supervisor, it sends again what was throttled or not answered: what it said of an apply is not lost.
        for attempt in range(_ATTEMPTS):
            pause = _PAUSE * (attempt + 1)
            with suppress(httpx.TransportError):
                response = client.post("/v1/opamp", content=message, headers=headers)
                if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    response.raise_for_status()
                    return response.content
                pause = float(response.headers["Retry-After"])
            time.sleep(pause)
        raise httpx.TransportError("The service does not answer")

    return post


@contextmanager
def reporting(service: LocalService, fleet_id: str, deployment_id: str, hosts: list[Host]) -> Iterator[None]:
    """The hosts start and send heartbeats during the `with` block, also while the service is away for a moment."""
    with service.client() as api, httpx.Client(base_url=service.base_url, timeout=60) as client:
        post = post_to(client, api, fleet_id, deployment_id)
        for host in hosts:
            host.agent = Agent(post, host_name=host.agent.host_name)
            host.starts()
        ended = threading.Event()
        thread = threading.Thread(target=_beat, args=(hosts, ended))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _beat(hosts: list[Host], ended: threading.Event) -> None:
    while not ended.is_set():
        for host in hosts:
            try:
                host.beats()
            except httpx.HTTPError:
                # As a supervisor, it sends its next message when the service is back.
                time.sleep(_PAUSE)
        time.sleep(_PAUSE)
