"""The reference of the collector: its components, the schema of a whole configuration, and OTTL."""

from typing import Annotated, Final

from fastapi import Header, Response

from components.document import RESPONSES, answer
from components.wire import (
    ComponentDetail,
    ComponentSummary,
    OfKind,
    OttlComponentOut,
    OttlComponents,
    OttlName,
    OttlReferenceOut,
    Type,
    Version,
)
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Anonymous, Reader
from headgate.http.pagination import Page, Paging
from headgate.http.routing import router as group
from headgate.reference import service as reference
from headgate_engine.reference.model import Kind
from web.routes import part

router = group("", "Components")

_CONDITION: Final = "The ETag of the document that the client has: 304 if it is still this one"


@router.get("/components")
def list_components(_: Reader, paging: Paging, version: Version = None, kind: OfKind = None) -> Page[ComponentSummary]:
    """The components of the collector's build by kind and type, as the build itself tells them.

    A version that is not installed is 422 `collector_version_not_installed`; an official release, which cannot tell,
    422 `reference_not_possible`; 503 means that the collector could not be asked.
    """
    return paging.page(reference.listed(version, kind, paging.limit, paging.after), ComponentSummary.of)


@router.get("/components/schema.json", response_class=Response, responses=RESPONSES, dependencies=[Anonymous])
def get_components_schema(
    version: Version = None,
    accept_encoding: Annotated[str | None, Header(include_in_schema=False)] = None,
    if_none_match: Annotated[str | None, Header(description=_CONDITION)] = None,
) -> Response:
    """The JSON Schema (2020-12) of a whole configuration, for editors: without a credential, which they cannot send.

    With a version it may be cached without asking again; without one it is the default collector's of that moment. Each
    network address has the request limit of a credential.
    """
    return answer(reference.document(version), accept_encoding, if_none_match, for_good=reference.is_final(version))


@router.get("/components/{kind}/{type:path}")
def get_component(kind: Kind, type: Type, _: Reader, version: Version = None) -> ComponentDetail:
    """A component, by its type or a former name, with its schema and how a flow of the gallery configures it.

    A component that only a reduced build lacks is 503 `component_not_in_build`, without `Retry-After`.
    """
    component = reference.component(version, kind, type)
    return ComponentDetail.of_full(component, reference.example(component))


@router.get("/ottl/reference")
def get_ottl_reference(
    _: Reader, component: OttlName = None, context: OttlName = None, version: Version = None
) -> OttlReferenceOut | OttlComponents:
    """The paths, functions and enums of a context of a component (`transform`, `log`).

    Without component and context: the components that take OTTL, with their contexts.
    """
    if component is None and context is None:
        return OttlComponents(
            components=[OttlComponentOut.of(component) for component in reference.ottl_components(version)]
        )
    return OttlReferenceOut.of(reference.ottl(component, context, version))


app = create_app(
    "Headgate components",
    [
        router,
        part("components.ottl_pages"),
        part("components.component_pages"),
        part("components.api_pages"),
    ],
)
handler = lambda_handler(app)
