"""What the collector says of texts before they are saved, published or assigned: an error stops the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.checks import findings
from headgate_cli.errors import FAILED, Ended, Failed, NotAuthenticated
from headgate_cli.foreign import one_line
from headgate_cli.output import say

force = click.option("--force", is_flag=True, help="Go on whatever the collector says of it.")
GO_ON: Final = "--force goes on all the same"

_NOT_INSTALLED: Final = "collector_version_not_installed"


def require_valid(
    api: Api, texts: Mapping[str, tuple[str, str]], *, undone: str, way_out: str = "", forced: bool = False
) -> None:
    """Show what is wrong; one request a text. Texts and collector versions come by what to call them.

    Raises Ended for errors and where a text could not be checked, unless `forced`; `undone` says what was not done
    then. A collector version that the server does not have is a warning: no second try would find it.
    """
    found = []
    stops = False
    for called, (content, version) in texts.items():
        try:
            answer = api.post("/validate", {"yaml": content} | ({"version": version} if version else {}))
        except NotAuthenticated:
            raise
        except ServerError as error:
            if error.code == _NOT_INSTALLED:
                warning = click.style("warning:", fg="yellow", bold=True)
                say(f"{warning} {one_line(called)} is not checked: {error.message}")
                continue
            stops = _could_not(called, error)
        except Failed as error:
            stops = _could_not(called, error)
        else:
            stops = stops or answer.get("valid") is not True
            found += findings.of_validation(called, answer)
            continue
        if not forced:
            break
    if found:
        say(findings.as_text(found, {called: content for called, (content, _) in texts.items()}))
    if stops and not forced:
        say(f"{undone}; {way_out}" if way_out else undone)
        raise Ended(FAILED)


def _could_not(called: str, error: Failed) -> bool:
    say(f"headgate: could not validate {one_line(called)}: {error.message}")
    return True
