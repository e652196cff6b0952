"""Remembered verdicts: the collector's last answer about a text, by the text's hash and the collector's version.

A list of configurations and the overview show it: they cannot ask the collector about each. Every check of a text is
remembered, from the editor, the command line or CI; a text that nobody checked has no verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from headgate.checker import keys
from headgate.checker import verdict_store as store
from headgate.foundation import clock
from headgate.foundation.log import logger
from headgate_engine.validation.model import ValidationResult, Verdict

_Of = TypeVar("_Of")
REMEMBERED: Final = timedelta(days=90)
# Characters of what the collector says, which may quote the text.
_LONGEST: Final = 500


def digest(yaml: str) -> str:
    """The SHA-256 of a text, by which its verdict is known."""
    return hashlib.sha256(yaml.encode()).hexdigest()


def cut(message: str) -> str:
    """The part of a message that a list shows."""
    return message[:_LONGEST]


def remember(organization_id: str, yaml: str, result: ValidationResult) -> Verdict:
    """Remember a verdict that needed no values of variables, and return it; one put, whose fault goes to the log."""
    verdict = verdict_of(result)
    key = keys.verdict(organization_id, digest(yaml), result.version)
    try:
        store.put(key, verdict, verdict.at + REMEMBERED)
    except (BotoCoreError, ClientError) as error:
        logger.warning("verdict_not_remembered", kind=type(error).__name__)
    return verdict


def verdict_of(result: ValidationResult) -> Verdict:
    """The short form of a verdict of now."""
    problem = cut(result.errors[0].message) if result.errors else ""
    return Verdict(result.valid, len(result.errors), problem, clock.now())


def remembered(organization_id: str, texts: Mapping[_Of, tuple[str, str]]) -> dict[_Of, Verdict]:
    """The verdicts that are known, each text by its SHA-256 and its collector version; one batch read for a hundred."""
    stored_as = {subject: keys.verdict(organization_id, *text) for subject, text in texts.items()}
    unique = {str(key["item"]): key for key in stored_as.values()}
    known = store.verdicts(unique.values())
    return {subject: known[item] for subject, key in stored_as.items() if (item := str(key["item"])) in known}
