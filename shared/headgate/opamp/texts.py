"""The texts of assigned versions: what is sent, and what is known of them."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from headgate.configurations import published
from headgate.foundation import errors
from headgate.instances.desired.model import Desired
from headgate.opamp.decision import ConfigText


def known(config: Desired) -> ConfigText:
    """The known facts of a config's text; a read for one that this process does not know."""
    assignment = config.assignment
    return _known(assignment.configuration_id, assignment.version_number) if assignment else ConfigText("", False)


@lru_cache(maxsize=1_000)
def _known(configuration_id: str, n: int) -> ConfigText:
    # Imported here: the parser would slow every cold start, and most messages do not need it.
    from headgate.opamp.pipelines import runs_nothing

    text = _version_text(configuration_id, n)
    return ConfigText(hashlib.sha256(text.encode()).hexdigest(), runs_nothing(text))


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
