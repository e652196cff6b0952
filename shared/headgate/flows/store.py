"""The published gallery in S3: `flows/index.json` lists it in order, `flows/by-slug/<slug>.json` holds each flow.

`flows/examples.json` holds how its flows configure each component.
"""

from typing import Final

from pydantic import TypeAdapter

from headgate.flows.model import ComponentExample, Flow, FullFlow
from headgate.storage import objects

PREFIX: Final = "flows/"
INDEX_KEY: Final = f"{PREFIX}index.json"
EXAMPLES_KEY: Final = f"{PREFIX}examples.json"

_INDEX: Final = TypeAdapter(list[Flow])
_FLOW: Final = TypeAdapter(FullFlow)
_EXAMPLES: Final = TypeAdapter(list[ComponentExample])


def key_of(slug: str) -> str:
    """In a folder of its own, so that no slug can be the index."""
    return f"{PREFIX}by-slug/{slug}.json"


def index() -> list[Flow] | None:
    """Every flow in gallery order; None before the first publishing. One GET."""
    content = objects.read_if_there(INDEX_KEY)
    return None if content is None else _INDEX.validate_json(content)


def find(slug: str) -> FullFlow | None:
    """The flow of a well-formed slug, None if there is none. One GET."""
    content = objects.read_if_there(key_of(slug))
    return None if content is None else _FLOW.validate_json(content)


def examples() -> list[ComponentExample]:
    """Returns the example of each component; empty before a publishing that has them. One GET."""
    content = objects.read_if_there(EXAMPLES_KEY)
    return [] if content is None else _EXAMPLES.validate_json(content)


def examples_object(examples: list[ComponentExample]) -> bytes:
    """The content of the object EXAMPLES_KEY."""
    return _EXAMPLES.dump_json(examples)


def index_object(flows: list[Flow]) -> bytes:
    """The content of the object INDEX_KEY."""
    return _INDEX.dump_json(flows)


def flow_object(flow: FullFlow) -> bytes:
    """The content of a flow's object."""
    return _FLOW.dump_json(flow)
