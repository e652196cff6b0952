"""Published versions for the hosts that run them: without a caller, and visible to all of the organization."""

from headgate.configurations import store


def name(organization_id: str, configuration_id: str) -> str | None:
    """Returns the name of the configuration; one read. None if it was deleted."""
    configuration = store.configuration(organization_id, configuration_id)
    return None if configuration is None else configuration.name


def text(configuration_id: str, n: int) -> str | None:
    """The version's YAML, as it was stored; one read. None if there is no such version."""
    return store.text(configuration_id, n)
