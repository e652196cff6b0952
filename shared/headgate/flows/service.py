"""The gallery: the list of flows in its order, and each flow by its slug."""

from collections.abc import Sequence

from headgate.flows import store
from headgate.flows.model import SLUG, ComponentExample, Flow, FlowNotFound, FullFlow, GalleryNotPublished
from headgate.foundation import errors
from headgate.foundation.page import Slice


def listed(limit: int, after: str | None) -> Slice[Flow]:
    """Up to `limit` flows, after the one with the slug `after`. One read.

    Raises GalleryNotPublished, and Invalid if `after` is no longer in the gallery.
    """
    flows = everything()
    start = 0 if after is None else _behind(flows, after)
    page = flows[start : start + limit]
    more = start + limit < len(flows)
    return Slice(page, page[-1].slug if more else None)


def everything() -> Sequence[Flow]:
    """The whole gallery in its order; one read. Raises GalleryNotPublished."""
    flows = store.index()
    if flows is None:
        raise GalleryNotPublished
    return flows


def get(slug: str) -> FullFlow:
    """One flow; one read, or none if the slug is malformed. Raises FlowNotFound."""
    flow = store.find(slug) if SLUG.fullmatch(slug) else None
    if flow is None:
        raise FlowNotFound
    return flow


def example(kind: str, types: Sequence[str]) -> ComponentExample | None:
    """Returns the example of that component, by one of these names, None if no flow uses it; one read.

    The example has the first of the names, whichever the flow has.
    """
    published = {(each.kind, each.type): each for each in store.examples()}
    example = next((published[kind, name] for name in types if (kind, name) in published), None)
    return example and example.renamed(types[0])


def _behind(flows: Sequence[Flow], slug: str) -> int:
    for place, flow in enumerate(flows):
        if flow.slug == slug:
            return place + 1
    message = "The gallery has changed since this cursor was issued; start without one"
    raise errors.InvalidAt(message, at=("query", "cursor"))
