"""The address of the client."""

from fastapi import Request


def client_address(request: Request) -> str:
    """The network address of the client, as API Gateway reports it; headers of the client are not trusted."""
    return request.client.host if request.client else "unknown"
