"""Versions that a group may be assigned, and the labels of its hosts, as commands name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from headgate_cli.api import Api
from headgate_cli.checks import gate
from headgate_cli.configurations import lookup as configurations
from headgate_cli.configurations.lookup import Latest
from headgate_cli.errors import Failed
from headgate_cli.shapes import EnvOut
from headgate_cli.untrusted import one_line, quoted

# Stands for the value of a secret: as long as a key or a token.
STAND_IN: Final = "stand-in-of-a-secret"


def chosen(api: Api, configuration: str, n: int | None) -> tuple[Latest, int]:
    """The configuration that is named, and the number of its version: the newest published one if it is not named."""
    configuration, n = configurations.one_version(configuration, n)
    latest = configurations.latest(api, configurations.find(api, configuration))
    if not n and not latest.published:
        raise Failed(
            f"{one_line(latest.name)} has no published version: publish one with "
            f"`headgate config publish {one_line(latest.id)}`"
        )
    return latest, n or latest.published


def validated(
    api: Api, configuration: str, n: int | None, *, undone: str, forced: bool, group: str = ""
) -> dict[str, object]:
    """The fields that name the version in a request, once it is valid: what was validated is what is assigned.

    `group` is the path of a group whose stored variables count.
    """
    latest, n = chosen(api, configuration, n)
    content = configurations.text_of(api, latest, n)
    env = [*env_of(api, group).items()] if group else []
    gate.require_valid_version(api, f"{latest.name} v{n}", content, undone=undone, forced=forced, env=env)
    return {"configuration_id": latest.id, "version_number": n}


def env_of(api: Api, group: str) -> Mapping[str, str]:
    """The variables that are stored with a group, with a stand-in for each secret, which the server does not tell."""
    return {
        variable["name"]: STAND_IN if variable["secret"] else variable["value"] or ""
        for variable in api.get(EnvOut, f"{group}/env")["items"]
    }


def label(pair: str, hint: str = "'--label'") -> tuple[str, str]:
    """The key and the value of a label. Raises BadParameter."""
    key, equals, value = pair.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{quoted(pair)} is not KEY=VALUE", param_hint=hint)
    return key, value
