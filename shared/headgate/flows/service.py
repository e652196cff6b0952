"""The gallery: a list in its own order, and each flow by its slug."""

from headgate.flows import store
from headgate.flows.model import SLUG, Flow, FlowNotFound, FullFlow, GalleryNotPublished
from headgate.foundation import errors
from headgate.storage.page import Slice


def listed(limit: int, after: str | None) -> Slice[Flow]:
    """Up to `limit` flows, from the one behind the slug `after`. One read.

    Raises GalleryNotPublished, and Invalid where `after` has left the gallery since the page before.
    """
    flows = store.index()
    if flows is None:
        raise GalleryNotPublished
    start = 0 if after is None else _behind(flows, after)
    page = flows[start : start + limit]
    more = start + limit < len(flows)
    return Slice(page, page[-1].slug if more else None)


def get(slug: str) -> FullFlow:
    """One flow, by one read. Raises FlowNotFound, without a read for what cannot be a slug."""
    found = store.find(slug) if SLUG.fullmatch(slug) else None
    if found is None:
        raise FlowNotFound
    return found


def _behind(flows: list[Flow], slug: str) -> int:
    for place, flow in enumerate(flows):
        if flow.slug == slug:
            return place + 1
    message = "The gallery has changed since this cursor was issued; start without one"
    raise errors.Invalid(f"query.cursor: {message}", [errors.FieldError(("query", "cursor"), message)])
