"""What the collector says of texts before they are saved, published or assigned: an error stops the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from headgate_cli.api import Api, ServerError
from headgate_cli.checks import findings
from headgate_cli.errors import FAILED, Ended, Failed, NotAuthenticated
from headgate_cli.output import say
from headgate_cli.untrusted import one_line

force = click.option("--force", is_flag=True, help="Go on whatever the collector says of it.")
_GO_ON: Final = "--force goes on all the same"

_NOT_INSTALLED: Final = "collector_version_not_installed"


def require_sound(api: Api, called: str, checked: tuple[str, str], *, undone: str, forced: bool) -> None:
    """As `require_valid`, for a stored version that is to be published or assigned.

    A collector version that the server does not have is a warning: its hosts may have it, and no second try finds it.
    """
    require_valid(api, {called: checked}, undone=undone, way_out=_GO_ON, forced=forced, unchecked=_NOT_INSTALLED)


def require_valid(
    api: Api,
    texts: Mapping[str, tuple[str, str]],
    *,
    undone: str,
    way_out: str = "",
    forced: bool = False,
    unchecked: str = "",
) -> None:
    """Show what is wrong; one request a text. Texts and collector versions come by what to call them.

    Raises Ended for errors and where a text could not be checked, unless `forced`; `undone` says what was not done
    then. A refusal with the code `unchecked` is a warning.
    """
    found = []
    stops = False
    for called, (content, version) in texts.items():
        try:
            answer = api.post("/validate", {"yaml": content} | ({"version": version} if version else {}))
        except NotAuthenticated:
            raise
        except ServerError as error:
            if unchecked and error.code == unchecked:
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
