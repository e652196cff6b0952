"""Ends tokens that were renewed until no host uses the one before any more."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from headgate.deployments import own_tokens
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.foundation.log import logger
from headgate.instances import store
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headgate.fleets.model import Fleet


def end_unused(fleet: Fleet, groups: Sequence[Deployment], at: datetime) -> None:
    """End those of the fleet and its groups; all of its instances are read if there are any.

    A host that is away uses the token that it reported with last.
    """
    holders: list[Fleet | Deployment] = [fleet, *groups]
    waiting = [each for each in holders if each.previous_while_used and (each.previous_token_ends_at or at) > at]
    if not waiting:
        return
    used = {instance.identity.token_id for instance in store.each(fleet.id)}
    for holder in waiting:
        if tokens.current_id(holder.id, holder.token_generation - 1) in used:
            continue
        with suppress(LostRace):
            if isinstance(holder, Deployment):
                own_tokens.end_previous(holder, at)
            else:
                fleets.end_previous(holder, at)
            logger.info("previous_token_ended", holder=holder.id)
