"""Filters of the record of changes, as query parameters."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query
from pydantic import BeforeValidator

from headgate.audit.model import RecordFilter
from headgate.http.parameters import moment

_Time = Annotated[datetime | None, BeforeValidator(moment)]


async def _wanted(
    by: Annotated[
        str | None,
        Query(min_length=1, max_length=254, description="By whom: a part of the name or address, or the id"),
    ] = None,
    about: Annotated[
        str | None,
        Query(min_length=1, max_length=254, description="What was changed: a part of its id, path or name"),
    ] = None,
    since: Annotated[_Time, Query(description="Not before this time")] = None,
    until: Annotated[_Time, Query(description="Before this time")] = None,
) -> RecordFilter:
    """The query as what the service takes."""
    return RecordFilter(by, about, since, until)


WantedChanges = Annotated[RecordFilter, Depends(_wanted)]
