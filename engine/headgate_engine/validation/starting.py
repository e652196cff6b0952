"""Starting what a configuration processes with, for mistakes that only a start shows."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NoChecker, Refused
from headgate_engine.errors import Unavailable
from headgate_engine.validation import crashes
from headgate_engine.validation.model import (
    TOO_COSTLY,
    CheckRequest,
    NotChecked,
    StartResult,
    TooCostly,
    ValidationResult,
)

# Nothing can be built of such a text, or building it has crashed the collector already.
_NOT_STARTED: Final = {"yaml_syntax", "wrapped_configuration", "crash"}


def start(text: CheckRequest, verdict: ValidationResult, *, asker: Asker, timeout: float | None = None) -> StartResult:
    """Start the processors and connectors in a process of their own, without files, network and other programs.

    Components with an error in the verdict are left out. Raises TooCostly, and NotChecked if nothing could be started:
    an outage, or a collector without a checker.
    """
    if any(error.code in _NOT_STARTED for error in verdict.errors):
        return StartResult()
    version = text.version
    try:
        return read(StartResult, asker.ask("start", text.question(), version=version, timeout=timeout))
    except Refused as refused:
        if refused.code == TOO_COSTLY:
            raise TooCostly(refused.message) from refused
        raise NotChecked(f"Collector {version} cannot start components for a check ({refused.code})") from refused
    except ValidationError as error:
        raise NotChecked("What starting the components has shown came in an unknown form") from error
    except NoChecker as error:
        raise NotChecked(
            f"Collector {version} is an official release, which is not started here: it gives verdicts and nothing more"
        ) from error
    except Unavailable as error:
        crash = crashes.findings(text.yaml, error, version, asker=asker)
        if crash:
            return StartResult(findings=crash)
        raise NotChecked(f"{error.detail}; nothing was started") from error
