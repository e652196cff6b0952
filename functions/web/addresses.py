"""Where this deployment is, and who asks."""

from fastapi import Request

from headgate.settings import settings


def public_url(request: Request) -> str:
    """The address of the deployment without a slash at the end.

    By the request where no setting says it: a stack's own address is known only once the stack exists, and API Gateway
    hands on requests for its own hosts alone.
    """
    return settings().public_url.rstrip("/") or str(request.base_url).rstrip("/")


def client_address(request: Request) -> str:
    """The network address that the request came from: API Gateway's word for it, not a header of the sender's."""
    return request.client.host if request.client else "unknown"
