"""The addresses of the service and of the client."""

from fastapi import Request

from headgate.settings import settings


def public_url(request: Request) -> str:
    """The public address of the service, without a slash at the end.

    Without a setting it comes from the request: a stack's address is known only after its creation, and API Gateway
    forwards requests for its own hosts only.
    """
    return settings().public_url.rstrip("/") or str(request.base_url).rstrip("/")


def client_address(request: Request) -> str:
    """The network address of the client, as API Gateway reports it; headers of the client are not trusted."""
    return request.client.host if request.client else "unknown"
