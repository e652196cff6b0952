"""Times as the API writes them: RFC 3339, UTC, milliseconds."""

from datetime import UTC, datetime

from headgate_engine.times import rfc3339 as rfc3339


def now() -> datetime:
    return datetime.now(UTC)


def parse(text: str) -> datetime:
    """The time that `rfc3339` wrote. Raises ValueError for any other text."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
