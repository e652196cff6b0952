"""The kinds of records in the fleets table that an archive may hold."""

from __future__ import annotations

from typing import Final

from headgate.backup import checks, places
from headgate.backup.checks import text
from headgate.backup.kind import NAME, Kind, named
from headgate.deployments import mapping as deployments
from headgate.fleets import keys as fleet_keys
from headgate.fleets import mapping as fleets
from headgate.instances import mapping as instances
from headgate.storage import items

KINDS_OF_FLEETS: Final = (
    Kind(
        "Fleet",
        "fleets",
        "organization#",
        fleet_keys.FLEETS,
        lambda index, item: fleet_keys.fleet(index.organization_id, items.text(item, "fleet_id")),
        {},
    ).storing(fleets.FLEETS),
    Kind(
        "Label of a fleet",
        "fleets",
        "organization#",
        "label#",
        lambda index, item: fleet_keys.label(index.organization_id, index.fleets[items.text(item, "fleet_id")]),
        named("fleet_id"),
    ),
    Kind(
        "Number of fleets",
        "fleets",
        "organization#",
        "count",
        lambda index, _: fleet_keys.count(index.organization_id),
        named("fleets"),
    ),
    Kind(
        "What samples leave out",
        "fleets",
        "organization#",
        "redaction",
        lambda index, _: fleet_keys.redaction(index.organization_id),
        named("kinds", "patterns", "keys", "revision"),
    ),
    Kind(
        "Prices of destinations",
        "fleets",
        "organization#",
        "prices",
        lambda index, _: fleet_keys.prices(index.organization_id),
        named("currency", "revision", prices=checks.entries),
        {"updated_at": checks.time, "updated_by": checks.principal},
    ),
    Kind("Fleet token", "fleets", "token#", "token", places.fleet_token, {}).storing(fleets.TOKENS),
    Kind("Deployment", "fleets", "fleet#", fleet_keys.DEPLOYMENTS, places.group, named("revision")).storing(
        deployments.GROUPS
    ),
    Kind(
        "Variables of a deployment",
        "fleets",
        "fleet#",
        "env#",
        lambda index, item: fleet_keys.env(places.fleet_of(index, item), items.text(item, "deployment_id")),
        named("fleet_id", "deployment_id", "revision"),
    ).storing(deployments.ENVIRONMENTS),
    Kind(
        "Revision of a deployment's variables",
        "fleets",
        "fleet#",
        fleet_keys.ENV_REVISIONS,
        lambda index, item: fleet_keys.env_revision(
            places.fleet_of(index, item), items.text(item, "deployment_id"), items.number(item, "revision")
        ),
        named("fleet_id", "deployment_id", "revision"),
    ).storing(deployments.ENVIRONMENTS),
    Kind(
        "Labels that select hosts",
        "fleets",
        "fleet#",
        "selectors",
        lambda index, item: fleet_keys.selectors(places.fleet_of(index, item)),
        named("fleet_id", "revision"),
    ).storing(deployments.SELECTORS),
    Kind(
        "Name of a deployment",
        "fleets",
        "fleet#",
        fleet_keys.NAMES,
        places.name_marker,
        named("deployment_id"),
    ),
    Kind(
        "Event of a deployment",
        "fleets",
        "history#",
        fleet_keys.DEPLOYMENT_EVENTS,
        places.deployment_event,
        named("expires"),
    ).storing(deployments.EVENTS),
    Kind(
        "Instance",
        "fleets",
        "fleet#",
        fleet_keys.INSTANCES,
        lambda index, item: fleet_keys.instance(places.fleet_of(index, item), items.text(item, "instance_id")),
        named("revision", state=NAME),
        named("expires"),
    ).storing(instances.INSTANCES),
    Kind(
        "Components of a fleet's collectors",
        "fleets",
        "fleet#",
        "components",
        lambda index, item: fleet_keys.components(places.fleet_of(index, item)),
        named("revision", lists=checks.mapping),
    ),
    Kind(
        "Configuration of observed collectors",
        "fleets",
        "fleet#",
        fleet_keys.EFFECTIVE,
        lambda index, item: fleet_keys.effective(places.fleet_of(index, item), items.text(item, "sha256")),
        named("sha256", "expires", text=checks.packed, stored_at=checks.time),
    ),
    Kind(
        "Health of a collector's parts",
        "fleets",
        "fleet#",
        fleet_keys.HEALTH,
        lambda index, item: fleet_keys.health(places.fleet_of(index, item), items.text(item, "instance_id")),
        named("instance_id", "expires", tree=checks.packed),
    ),
    Kind(
        "Event of an instance",
        "fleets",
        "history#",
        fleet_keys.INSTANCE_EVENTS,
        places.instance_event,
        named("expires", event=NAME, state=NAME),
    ).storing(instances.EVENTS),
    Kind(
        "Rollout",
        "fleets",
        "rollouts#dep_",
        fleet_keys.ROLLOUTS,
        places.rollout,
        named("revision", rollout=text()),
        named("expires"),
    ),
)
