"""The texts of assigned versions: what is sent, and what a host reports as applied compared with what was assigned."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from headgate.configurations import published
from headgate.foundation import errors
from headgate.instances.desired.model import Desired
from headgate.instances.desired.offers import offer, with_offer
from headgate.instances.model import Instance
from headgate.instances.state import transitions


def checked(instance: Instance, desired: Desired, at: datetime) -> Instance:
    """The instance with what it reports as applied compared with the text that was assigned.

    A supervisor runs a collector without pipelines, and says that it applied them: that has failed.
    """
    if not transitions.to_check(instance, desired):
        return instance
    text = _facts(desired)
    if text.runs_nothing:
        return transitions.with_failure(instance, desired, desired, transitions.WITHOUT_PIPELINES, at)
    return transitions.with_text(instance, desired, text.sha256, at)


def with_next_offer(instance: Instance, desired: Desired, at: datetime) -> tuple[Instance, Desired | None]:
    """What is to be sent, and the instance that knows of it. A config without pipelines fails without being sent."""
    sent = offer(instance, desired)
    while sent is not None:
        text = _facts(sent)
        if not text.runs_nothing:
            return with_offer(instance, sent, text.sha256, at), sent
        instance = transitions.with_failure(instance, sent, desired, transitions.WITHOUT_PIPELINES, at)
        sent = offer(instance, desired)
    return instance, None


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a text: its SHA-256 in hex, empty for no text, and whether a collector with it runs nothing.

    No text at all is what stops a collector on purpose.
    """

    sha256: str
    runs_nothing: bool


def _facts(config: Desired) -> _Facts:
    assignment = config.assignment
    return _facts_of(assignment.configuration_id, assignment.version_number) if assignment else _Facts("", False)


@lru_cache(maxsize=1_000)
def _facts_of(configuration_id: str, n: int) -> _Facts:
    # Imported here: the parser would slow every cold start, and most messages do not need it.
    from headgate.opamp.pipelines import runs_nothing

    text = _version_text(configuration_id, n)
    return _Facts(hashlib.sha256(text.encode()).hexdigest(), runs_nothing(text))


def text_of(config: Desired) -> str | None:
    """The YAML to run; None if nothing is assigned."""
    assignment = config.assignment
    return None if assignment is None else _version_text(assignment.configuration_id, assignment.version_number)


@lru_cache(maxsize=16)
def _version_text(configuration_id: str, n: int) -> str:
    """Cached: a published version never changes, and a rollout sends it to many."""
    text = published.text(configuration_id, n)
    if text is None:
        raise errors.Unavailable("The assigned version could not be read; try again shortly")
    return text
