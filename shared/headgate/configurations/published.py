"""What a published version holds, for those that run it: there is no caller, and nobody to hide it from."""

from headgate.configurations import store


def name(organization_id: str, configuration_id: str) -> str | None:
    """What the configuration is called; one read. None if it is gone."""
    configuration = store.configuration(organization_id, configuration_id)
    return None if configuration is None else configuration.name


def text(configuration_id: str, n: int) -> str | None:
    """The version's YAML, as it was stored; one read. None if there is no such version."""
    return store.text(configuration_id, n)
