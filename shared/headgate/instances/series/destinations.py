"""Destinations of exporters, from a configuration's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

import yaml

from headgate.configurations.documents import Unreadable, document, entries, value_of

# What exporters of the contrib distribution call the address that they send to.
_SETTINGS: Final = ("endpoint", "endpoints", "url", "brokers", "logs_endpoint", "metrics_endpoint", "traces_endpoint")
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]*))?\}")
_LONGEST: Final = 2_000


def hosts(text: str, variables: Mapping[str, str]) -> Mapping[str, str | None]:
    """The host of each exporter by its id; None if the text does not tell it, or names several.

    `variables` are those of the environment that are known.
    """
    try:
        exporters = value_of(document(text), "exporters")
    except Unreadable:
        return {}
    return {key.value.strip(): _host(settings, variables) for key, settings in entries(exporters)}


def _host(settings: yaml.Node, variables: Mapping[str, str]) -> str | None:
    named = {host_of(address, variables) for name in _SETTINGS for address in _addresses(value_of(settings, name))}
    return next(iter(named)) if len(named) == 1 else None


def _addresses(node: yaml.Node | None) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        yield node.value
    elif isinstance(node, yaml.SequenceNode):
        yield from (each.value for each in node.value if isinstance(each, yaml.ScalarNode))


def host_of(address: str, variables: Mapping[str, str]) -> str | None:
    """The host of an address, which may be a URL; None if a variable in it is not known."""

    def value(match: re.Match[str]) -> str:
        return variables.get(match[1]) or match[2] or match[0]

    # gRPC's names of addresses, such as dns:///host:4317.
    whole = _VARIABLE.sub(value, address[:_LONGEST]).strip().removeprefix("dns:///")
    if "$" in whole:
        return None
    try:
        return urlsplit(whole if "://" in whole else f"//{whole}").hostname or None
    except ValueError:
        return None
