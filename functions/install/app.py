"""Downloads by signed install links: scripts, a chart's values, and the files that these fetch."""

from pathlib import PurePath
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Response
from fastapi.responses import FileResponse, RedirectResponse

from headgate.http import bearer
from headgate.http.app import create_app, lambda_handler
from headgate.http.parameters import DeploymentId
from headgate.http.problems import documented
from headgate.http.routing import Route
from headgate.installs import releases, served
from headgate.installs.links import Link, Platform

router = APIRouter(
    prefix="/api/v1/fleet-install",
    tags=["Install"],
    route_class=Route,
    responses=documented(403, 404, 409, 410, 422, 503),
)


def checked(
    platform: Platform,
    deployment_id: DeploymentId,
    organization: str = "",
    fleet: str = "",
    expires: str = "",
    generation: str = "",
    signature: str = "",
) -> Link:
    """The link that the request came by. Raises LinkInvalid, LinkExpired."""
    if not all(number.isascii() and number.isdigit() and len(number) <= 12 for number in (expires, generation)):
        raise served.LinkInvalid
    link = Link(platform, organization, fleet, deployment_id, int(expires), int(generation))
    served.require_valid(link, signature)
    return link


_SECRET: Final = {"Cache-Control": "no-store"}
CheckedLink = Annotated[Link, Depends(checked)]


@router.get("/{platform}/{deployment_id}", response_class=Response)
def serve(link: CheckedLink) -> Response:
    """The install script of a platform, or the values of the Kubernetes chart."""
    if link.platform == "kubernetes":
        return Response(served.values(link), media_type="text/yaml")
    kind = "text/plain" if link.platform == "windows" else "text/x-shellscript"
    return Response(served.script(link), media_type=kind)


@router.get("/{platform}/{deployment_id}/variables", response_class=Response, responses=documented(401))
def serve_variables(
    link: CheckedLink, authorization: Annotated[str, Header()] = "", x_install_code: Annotated[str, Header()] = ""
) -> Response:
    """The variables that are stored with the group and not secret. It takes the group's own token, too."""
    text = served.stored_variables(link, bearer.credential(authorization), x_install_code)
    return Response(text, media_type="text/plain", headers=_SECRET)


@router.post("/{platform}/{deployment_id}/secrets", response_class=Response, responses=documented(401))
def serve_secrets(
    link: CheckedLink,
    authorization: Annotated[str, Header()] = "",
    x_install_code: Annotated[str, Header()] = "",
    x_host_key: Annotated[str, Header()] = "",
) -> Response:
    """The secrets that are stored with the group: sealed for the host's key, or one of the deliveries of the code."""
    credential = bearer.credential(authorization)
    if x_host_key:
        sealed = served.sealed_secrets(link, credential, x_install_code, x_host_key)
        return Response(sealed, media_type="application/octet-stream", headers=_SECRET)
    text = served.stored_secrets(link, credential, x_install_code)
    return Response(text, media_type="text/plain", headers=_SECRET)


class InstalledProgram(FileResponse):
    """A file of hundreds of megabytes, as the local service serves it."""

    # A thread reads each chunk, which costs more than the bytes of a small one.
    chunk_size = 1024 * 1024


@router.get("/{platform}/{deployment_id}/{name}", response_class=Response)
def serve_file(link: CheckedLink, name: str) -> Response:
    """A file of the release: the chart itself, or a redirect to a program, which is too large for a response."""
    artifact = served.artifact(link, name)
    if name == releases.CHART:
        return Response(releases.content(artifact), media_type="application/gzip")
    path = releases.path(artifact)
    if path is not None:
        return InstalledProgram(path, media_type="application/octet-stream", filename=PurePath(name).name)
    return RedirectResponse(releases.url(artifact), status_code=307)


app = create_app("Headgate installs", [router])
handler = lambda_handler(app)
