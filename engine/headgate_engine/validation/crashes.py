"""Crashes of the collector that a text brings about: errors of that text on that version, and no outage."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerFailed, Refused
from headgate_engine.errors import Unavailable
from headgate_engine.validation.model import Finding


def findings(yaml: str, error: Exception, version: str | None, *, asker: Asker) -> Sequence[Finding]:
    """The finding about the component in which a process has crashed on a text; none for any other failure.

    `version` is the collector that reads the report, None for the default one.
    """
    if not isinstance(error, CheckerFailed) or not error.crash:
        return ()
    try:
        answer = asker.ask("crashed", {"yaml": yaml, "report": error.crash}, version=version)
        return read(list[Finding], answer.get("findings"))
    except (Refused, Unavailable, ValidationError):
        return ()
