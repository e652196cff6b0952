"""Filters of the list of a fleet's instances, as query parameters."""

from typing import Annotated, cast

from fastapi import Depends, Query
from pydantic import BeforeValidator

from headgate.foundation.ids import id_pattern
from headgate.http.parameters import AtLeastOne, Flag, whole_number
from headgate.instances.service import InstanceFilter
from headgate.instances.state.model import InstanceState


async def wanted_instances(
    state: Annotated[InstanceState | None, Query(description="In this state")] = None,
    deployment_id: Annotated[
        str | None, Query(pattern=id_pattern("dep"), description="In this deployment group")
    ] = None,
    version: Annotated[
        AtLeastOne | None, BeforeValidator(whole_number), Query(description="That run this version number")
    ] = None,
    host: Annotated[
        str | None, Query(min_length=1, max_length=255, description="Whose name or host name contains this text")
    ] = None,
    label: Annotated[
        str | None,
        Query(max_length=319, pattern=r"^[^=]+=.*$", description="With this label, as `key=value`"),
    ] = None,
    drifted: Annotated[
        Flag | None,
        Query(description="On which something was changed by hand, or with `false` nothing was"),
    ] = None,
    component: Annotated[
        str | None,
        Query(
            max_length=193,
            pattern=r"^([A-Za-z0-9_]+/)?[A-Za-z0-9_.-]+$",
            description="Whose collector has this component: a type such as `filelog`, or `receiver/filelog`",
        ),
    ] = None,
    old_token: Annotated[
        Flag | None,
        Query(description="That last reported with an older token than the present one, or with `false` with that"),
    ] = None,
    without_key: Annotated[
        Flag | None,
        Query(description="Whose hosts do not sign their messages, or with `false` those that do"),
    ] = None,
) -> InstanceFilter:
    """The query as what the service takes."""
    pair = cast("tuple[str, str]", tuple(label.split("=", 1))) if label else None
    return InstanceFilter(state, deployment_id, version, host, pair, drifted, old_token, component, without_key)


WantedInstances = Annotated[InstanceFilter, Depends(wanted_instances)]
ByName = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="Called exactly so", json_schema_extra={"x-extension": True}),
]
"""A fleet by its label, a deployment group by its name."""
