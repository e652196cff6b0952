"""Which of a fleet's instances a list shows, as query parameters."""

from typing import Annotated, cast

from fastapi import Depends, Query
from pydantic import BeforeValidator

from headgate.foundation.ids import id_pattern
from headgate.http.parameters import true_or_false, whole_number
from headgate.instances.model import InstanceState
from headgate.instances.service import Wanted


def wanted_instances(
    state: Annotated[InstanceState | None, Query(description="In this state")] = None,
    deployment_id: Annotated[
        str | None, Query(pattern=id_pattern("dep"), description="Of this deployment group")
    ] = None,
    version: Annotated[
        int | None, BeforeValidator(whole_number), Query(ge=1, description="That run this version number")
    ] = None,
    host: Annotated[
        str | None, Query(min_length=1, max_length=255, description="Whose name or host name contains this text")
    ] = None,
    label: Annotated[
        str | None,
        Query(max_length=319, pattern=r"^[^=]+=.*$", description="With this label, as `key=value`"),
    ] = None,
    drifted: Annotated[
        bool | None,
        BeforeValidator(true_or_false),
        Query(description="On which something was changed by hand, or with `false` nothing was"),
    ] = None,
) -> Wanted:
    """The query as what the service takes."""
    pair = cast("tuple[str, str]", tuple(label.split("=", 1))) if label else None
    return Wanted(state, deployment_id, version, host, pair, drifted)


WantedInstances = Annotated[Wanted, Depends(wanted_instances)]
