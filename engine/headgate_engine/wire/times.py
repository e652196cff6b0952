"""Times in answers."""

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from headgate_engine.times import rfc3339

Time = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time in an answer: RFC 3339, UTC, milliseconds."""
