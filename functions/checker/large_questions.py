"""Fetches a question that was too large for an invocation from S3, by a signed URL."""

import http.client
import os
import re
from typing import Final
from urllib.parse import urlsplit

from headgate.checker import messages
from headgate.checker.messages import Message

_SECONDS: Final = 10


class ForeignAddress(ValueError):
    """The URL does not lead to an object in this region's S3."""


def fetch(url: str) -> Message:
    """The question at a signed URL: one GET, without redirects. Raises ForeignAddress, OSError, Malformed."""
    connection, target = _connection(url)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise OSError(f"S3 answered {response.status}")
        text = response.read(messages.MAX_BYTES + 1)
    except http.client.HTTPException as error:
        raise OSError("S3 broke off its answer") from error
    finally:
        connection.close()
    if len(text) > messages.MAX_BYTES or response.length not in (None, 0):
        raise OSError("S3 answered more or less than the question")
    return messages.parsed(text)


def _connection(url: str) -> tuple[http.client.HTTPConnection, str]:
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}"
    if parts.username is not None or parts.password is not None or not parts.hostname:
        raise ForeignAddress("a question is not fetched from there")
    stand_in = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", ""))
    if stand_in.hostname:
        # Outside AWS, what stands in for it.
        if parts[:2] != stand_in[:2]:
            raise ForeignAddress("a question is not fetched from there")
        return http.client.HTTPConnection(stand_in.hostname, stand_in.port, timeout=_SECONDS), target
    region = re.escape(os.environ.get("AWS_REGION", ""))
    hosts = rf"[a-z0-9][a-z0-9.-]*\.s3(\.{region})?\.amazonaws\.com(\.cn)?"
    if parts.scheme != "https" or parts.port not in (None, 443) or not re.fullmatch(hosts, parts.hostname):
        raise ForeignAddress("a question is not fetched from there")
    return http.client.HTTPSConnection(parts.hostname, timeout=_SECONDS), target
