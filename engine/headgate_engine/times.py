"""Times as the API writes them: RFC 3339, UTC, milliseconds."""

from datetime import UTC, datetime


def rfc3339(at: datetime) -> str:
    """Returns `2026-11-20T19:32:02.123Z`; texts of this form sort as their times do."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
