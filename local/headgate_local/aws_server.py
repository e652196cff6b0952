"""moto behind HTTP on a loopback port, for this process and its children."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

# moto's server answers any web page that asks, unless told not to before it is imported.
os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from headgate_local.moto_data import REGION

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_HOST: Final = "127.0.0.1"


@contextmanager
def running() -> Iterator[str]:
    """moto's server on a free port; its URL. Until it ends, the environment points at it, with sham credentials."""
    before = _of_aws(os.environ)
    application = _ours_only(DomainDispatcherApplication(create_backend_app))
    server = make_server(_HOST, 0, application, threaded=True, request_handler=_Quiet)
    url = f"http://{_HOST}:{server.port}"
    point_at(url, server.port)
    thread = threading.Thread(target=server.serve_forever, name="moto", daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for name in _of_aws(os.environ):
            del os.environ[name]
        os.environ.update(before)


def point_at(url: str, port: int) -> None:
    """Make every AWS client of this process and of its children use moto, whatever the user's own settings are."""
    for name in _of_aws(os.environ):
        del os.environ[name]
    os.environ.update(
        AWS_ENDPOINT_URL=url,
        AWS_ACCESS_KEY_ID="local",
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106  no secret: moto looks at none
        AWS_DEFAULT_REGION=REGION,
        AWS_REGION=REGION,
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
        MOTO_PORT=str(port),
    )


def _of_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that say where AWS is, and who asks."""
    return {name: value for name, value in environment.items() if name.startswith(("AWS_", "BOTO_", "MOTO_PORT"))}


class _Quiet(MotoRequestHandler):
    """Without a line on standard error for every call."""

    def log_request(self, *_args: object, **_named: object) -> None:
        pass


def _ours_only(application: WSGIApplication) -> WSGIApplication:
    """Refuse what a web page in a browser on this machine could send here, and moto's own switches (`/moto-api`)."""

    def guarded(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "").partition(":")[0]
        foreign = "HTTP_ORIGIN" in environ or "HTTP_SEC_FETCH_SITE" in environ
        if foreign or host not in (_HOST, "localhost") or environ.get("PATH_INFO", "").startswith("/moto-api"):
            start_response(f"403 {HTTPStatus.FORBIDDEN.phrase}", [("Content-Length", "0")])
            return []
        return application(environ, start_response)

    return guarded
