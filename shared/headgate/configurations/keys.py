"""Every key of the configurations and versions tables, built here and nowhere else.

Texts stand in items beside the versions', so that a list of versions costs nothing for them.
"""

from headgate.identity.model import Principal
from headgate.storage.items import Value

Key = dict[str, Value]


def configuration(organization_id: str, configuration_id: str) -> Key:
    return {"organization_id": organization_id, "configuration_id": configuration_id}


def own(organization_id: str, principal: Principal) -> str:
    """The partition of the index `own`."""
    return f"{organization_id}#{principal.id}"


def by_update(updated_at: str, configuration_id: str) -> str:
    """The sort key `by_update` of both indexes: one for both, so that what stands in both stands at one place."""
    return f"{updated_at}#{configuration_id}"


def version(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"v#{n:08d}"}


def yaml(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"yaml#{n:08d}"}


def rules(configuration_id: str, n: int, pipeline: str) -> Key:
    """A version's rule set for one pipeline (kept by the rules' own store)."""
    return {"configuration_id": configuration_id, "item": f"rules#{n:08d}#{pipeline}"}
