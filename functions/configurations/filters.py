"""Filters of the list of configurations, as query parameters."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic.config import JsonDict

from headgate.configurations.model import Archived
from headgate.configurations.search import ConfigurationFilter

_BEYOND: JsonDict = {"x-extension": True}


async def wanted_configurations(
    name: Annotated[
        str | None,
        Query(min_length=1, max_length=200, description="Called exactly so", json_schema_extra=_BEYOND),
    ] = None,
    text: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="With this text in the name, the description, the owner's name, or the YAML of the latest or "
            "the published version, whatever the case",
            json_schema_extra=_BEYOND,
        ),
    ] = None,
    component: Annotated[
        str | None,
        Query(
            max_length=193,
            pattern=r"^[A-Za-z][A-Za-z0-9_]*(/[^\x00-\x1f]+)?$",
            description="With this component in one of the two: a type such as `batch`, or an id such as `otlp/2`",
            json_schema_extra=_BEYOND,
        ),
    ] = None,
    archived: Annotated[
        Archived, Query(description="`true` for those that are archived, `all` for both", json_schema_extra=_BEYOND)
    ] = "false",
) -> ConfigurationFilter:
    """The query as what the service takes."""
    return ConfigurationFilter(name, text, component, archived)


WantedConfigurations = Annotated[ConfigurationFilter, Depends(wanted_configurations)]
