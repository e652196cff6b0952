"""Addresses of webhooks: over HTTPS, to a name, and to global addresses only.

An address that holds another one, or is translated to one by a network (IPv4-mapped, NAT64, 6to4, Teredo), is refused
as a whole: nobody has a receiver there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from headgate.foundation import errors

MAX_URL: Final = 2_000
_NAME: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])", re.ASCII)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
# Protocol assignments, in part global by the registry, and 6to4's relays, an entrance to other addresses.
_REFUSED_4: Final = (ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"))
_LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_UNICAST_6: Final = ip_network("2000::/3")
# Within it: protocol assignments with Teredo, 6to4, documentation (RFC 9637, newer than some registries in Python).
_REFUSED_6: Final = (ip_network("2001::/23"), ip_network("2002::/16"), ip_network("3fff::/20"))


class UrlRefused(errors.InvalidAt):
    """An address that no webhook may have."""

    code = "webhook_url_refused"
    at = ("body", "url")


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a webhook's URL; `target` is its path with the query."""

    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        return f"https://{self.host}" + ("" if self.port == 443 else f":{self.port}")


def parse(url: str, *, loopback: bool = False) -> Address:
    """The parts of a URL. Raises UrlRefused. With `loopback`, `localhost` is a name."""
    if len(url) > MAX_URL or not _PRINTABLE.fullmatch(url):
        raise UrlRefused(f"This must be up to {MAX_URL:,} visible ASCII characters")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError as error:
        raise UrlRefused("This is not a URL: use one such as https://hooks.example.com/services/1") from error
    if parts.scheme != "https":
        raise UrlRefused("This must begin with https://")
    if "@" in parts.netloc:
        raise UrlRefused("A user name or password in the address is not supported: put the credential in the path")
    if parts.fragment:
        raise UrlRefused("Leave out the part after #: a server never sees it")
    if not (_NAME.fullmatch(host) and len(host) <= 253) and not (loopback and host == "localhost"):
        raise UrlRefused("This must name the receiver by its domain name, as in https://hooks.example.com/services/1")
    return Address(host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def allowed(text: str, *, loopback: bool = False) -> bool:
    """True if a webhook may be sent to this IP address: a global one, and with `loopback` this machine's own."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    # Not `is_loopback`: newer versions of Python look into IPv4-mapped addresses.
    if any(address in network for network in _LOOPBACK):
        return loopback
    return _global_4(address) if isinstance(address, IPv4Address) else _global_6(address)


def _global_4(address: IPv4Address) -> bool:
    ordinary = address.is_global and not address.is_multicast and not address.is_reserved
    return ordinary and not any(address in network for network in _REFUSED_4)


def _global_6(address: IPv6Address) -> bool:
    unicast = address.scope_id is None and address in _UNICAST_6
    return unicast and address.is_global and not any(address in network for network in _REFUSED_6)
