"""The keys of the configurations and versions tables, but those of a version's tests. docs/data.md lists them.

Texts stand in items beside the versions', so that a list of versions costs nothing for them.
"""

from typing import Final

from headgate.foundation.principal import Principal
from headgate.storage.table import Key, TableIndex

OWN: Final = TableIndex("own", "own", "by_update")
PUBLISHED: Final = TableIndex("published", "published", "by_update")
PUBLISHED_VERSIONS: Final = TableIndex("published", "published_of", "item")
VERSIONS: Final = "v#"
RULES: Final = "rules#"
# The bucket's folder of texts that are too large for an item.
TEXTS: Final = "versions"


def configuration(organization_id: str, configuration_id: str) -> Key:
    return {"organization_id": organization_id, "configuration_id": configuration_id}


def own(organization_id: str, principal: Principal, *, archived: bool) -> str:
    """The partition of the index `own`; archived configurations have another one, so that lists do not read them."""
    return f"{published(organization_id, archived=archived)}#{principal.id}"


def published(organization_id: str, *, archived: bool) -> str:
    """The partition of the index `published`."""
    return f"archived#{organization_id}" if archived else organization_id


def by_update(updated_at: str, configuration_id: str) -> str:
    """The sort key of both indexes of configurations, so that an entry of both has the same place in both."""
    return f"{updated_at}#{configuration_id}"


def version(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": version_item(n)}


def version_item(n: int) -> str:
    """The sort key of a version, in the table and in the index `published`."""
    return f"{VERSIONS}{n:08d}"


def yaml(configuration_id: str, n: int) -> Key:
    return {"configuration_id": configuration_id, "item": f"yaml#{n:08d}"}


def number(item: str) -> int:
    """The version's number in the sort key of its text."""
    return int(item.removeprefix("yaml#"))


def rules(configuration_id: str, n: int, pipeline: str) -> Key:
    """A version's rule set for one pipeline, read and written by the rules' store."""
    return {"configuration_id": configuration_id, "item": f"{rules_of(n)}{pipeline}"}


def rules_of(n: int) -> str:
    """The beginning of the sort keys of a version's rule sets."""
    return f"{RULES}{n:08d}#"
