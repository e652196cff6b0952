"""What a published version holds, for those that run it: there is no caller, and nobody to hide it from."""

from headgate.configurations import store


def text(configuration_id: str, n: int) -> str | None:
    """The version's YAML, as it was stored; one read. None if there is no such version."""
    return store.text(configuration_id, n)
