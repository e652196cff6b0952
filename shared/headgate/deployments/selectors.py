"""Labels that select the members of a group: a host of the fleet that has them belongs to it, whichever it names.

docs/groups.md says which group wins, and what this costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headgate.deployments import selector_store, store
from headgate.deployments.model import Deployment, FieldRefused, Selectors
from headgate.deployments.service import of_fleet
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.storage.retry import retried

MOST_LABELS: Final = 8
MOST_GROUPS: Final = 50
of_fleet_by_labels = selector_store.get
"""The fleet's selectors; one read, for the fleet service."""


class SelectorTaken(errors.Conflict):
    """Two groups with the same labels: nobody could tell which one a host belongs to."""

    code = "selector_taken"
    detail = "Another group of this fleet is selected by the same labels"


class NotSelectable(errors.Conflict):
    """Labels cannot select members of this group."""

    code = "not_selectable"


@retried
def select(caller: Caller, fleet_id: str, deployment_id: str, labels: Mapping[str, str]) -> Deployment:
    """Let these labels select the group's members, none if there are none; one transaction.

    Raises FleetNotFound, DeploymentNotFound, SelectorTaken, FieldRefused, and NotSelectable for a Default group, one of
    a Kubernetes fleet, and one with a token of its own.
    """
    fleet = fleets.get(caller, fleet_id)
    if fleet.on_kubernetes:
        raise NotSelectable("What a pod runs depends on its group's role: labels move hosts of server fleets only")
    group, before = of_fleet(fleet_id, deployment_id), selector_store.get(fleet_id)
    _require_selectable(group)
    others = {each: required for each, required in before.by_group.items() if each != group.id}
    if labels and dict(labels) in others.values():
        raise SelectorTaken
    by_group = {**others, group.id: dict(labels)} if labels else others
    if len(by_group) > MOST_GROUPS:
        raise FieldRefused("labels", f"A fleet has at most {MOST_GROUPS} groups that are selected by labels")
    after = replace(group, selector=dict(labels), updated_at=clock.now(), revision=group.revision + 1)
    store.replace(group, after, selector_store.put(fleet_id, before, Selectors(by_group, before.revision + 1)))
    return after


def in_words(labels: Mapping[str, str]) -> str:
    """`role=web, zone=a`, by key."""
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _require_selectable(group: Deployment) -> None:
    if group.is_default:
        raise NotSelectable("The Default group is for hosts that no labels select")
    if group.token_generation:
        raise NotSelectable("This group has stored variables: only hosts with its own token belong to it")
