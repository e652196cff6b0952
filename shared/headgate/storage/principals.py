"""A principal as an attribute of an item: a map of its kind, id and name."""

from collections.abc import Mapping

from headgate.foundation.principal import Principal, PrincipalKind
from headgate.storage import items
from headgate.storage.items import Item, Value


def attribute(principal: Principal) -> Item:
    """The value of the attribute that holds the principal."""
    return {"kind": principal.kind, "id": principal.id, "name": principal.name}


def read(item: Mapping[str, Value], name: str) -> Principal:
    """The principal in the attribute `name`. Raises TypeError if the attribute is not one."""
    value = items.mapping(item, name)
    return Principal(kind(value), items.text(value, "id"), items.text(value, "name"))


def kind(item: Mapping[str, Value]) -> PrincipalKind:
    """The `kind` of a principal's or a member's item."""
    return "user" if items.text(item, "kind") == "user" else "service_account"
