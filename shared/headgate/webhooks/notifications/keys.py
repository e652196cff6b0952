"""The keys of what the sweep notes for its next call, in the events table. docs/data.md lists the attributes."""

from typing import Final

from headgate.storage.table import Key

NEAR: Final = "near"


def sweep() -> Key:
    return {"pk": "sweep", "sk": "sweep"}


def near(subject: str) -> Key:
    """A limit that was nearly reached, and told of: by the id of a fleet or an organization."""
    return {"pk": NEAR, "sk": subject}
