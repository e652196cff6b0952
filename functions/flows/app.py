"""The flows endpoints: the gallery of prebuilt configurations."""

from flows.wire import FlowDetail, FlowSummary, Slug
from headgate.flows import service as flows
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.pagination import Page, Paging
from headgate.http.routing import router as group
from web import pages
from web.routes import part

router = group("/flows", "Flows")


@router.get("")
def list_flows(_: Reader, paging: Paging) -> Page[FlowSummary]:
    """The public flows in gallery order, without YAML."""
    return paging.page(flows.listed(paging.limit, paging.after), FlowSummary.of)


@router.get("/{slug}")
def get_flow(slug: Slug, _: Reader) -> FlowDetail:
    """One flow, with its description and YAML."""
    full = flows.get(slug)
    return FlowDetail.of(full.flow, full)


app = create_app("Headgate flows", [router, part("flows.flow_pages")])
pages.install(app)
handler = lambda_handler(app)
