"""Signed URLs that the checker's function follows: to objects in this region's S3, and to nothing else."""

import http.client
import os
import re
from typing import Final
from urllib.parse import urlsplit

_SECONDS: Final = 10


class ForeignAddress(ValueError):
    """The URL does not lead to an object in this region's S3."""


def connection(url: str) -> tuple[http.client.HTTPConnection, str]:
    """A connection, and the target to request from it; it follows no redirect. Raises ForeignAddress."""
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}"
    if parts.username is not None or parts.password is not None or not parts.hostname:
        raise ForeignAddress("nothing is fetched from there")
    stand_in = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", ""))
    if stand_in.hostname:
        # Outside AWS, what stands in for it.
        if parts[:2] != stand_in[:2]:
            raise ForeignAddress("nothing is fetched from there")
        return http.client.HTTPConnection(stand_in.hostname, stand_in.port, timeout=_SECONDS), target
    region = re.escape(os.environ.get("AWS_REGION", ""))
    hosts = rf"[a-z0-9][a-z0-9.-]*\.s3(\.{region})?\.amazonaws\.com(\.cn)?"
    if parts.scheme != "https" or parts.port not in (None, 443) or not re.fullmatch(hosts, parts.hostname):
        raise ForeignAddress("nothing is fetched from there")
    return http.client.HTTPSConnection(parts.hostname, timeout=_SECONDS), target
