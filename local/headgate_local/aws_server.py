"""moto behind HTTP on a loopback port, for this process and the processes that get its key.

Every program of this machine can reach the port, and thereby all tables. So each process makes a random key, and
requests that are not signed with it do not reach moto (docs/threats.md).
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Final

# moto's server answers requests of any web page, unless this is set before its import.
os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"

from moto.core.base_backend import BackendDict
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from headgate_local import default_session, direct_calls, direct_dynamodb, signatures
from headgate_local.moto_data import REGION

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask
    from moto import backends

_HOST: Final = "127.0.0.1"
# Far more than any part of the service sends.
_LARGEST_BODY: Final = 256 * 2**20
_CHOOSE_SIGNER: Final = "choose-signer.cognito-identity-provider"


class _Application(DomainDispatcherApplication):
    """Remembers which part of moto a host name stands for: moto reads its own folder anew for each request, which takes
    a quarter of the time of a call."""

    def __init__(self, create_app: Callable[[backends.SERVICE_NAMES], Flask]) -> None:
        super().__init__(create_app)
        # Names come from signed requests only, and are those of the services that these use.
        self._known = lru_cache(maxsize=256)(super().get_backend_for_host)

    def get_backend_for_host(self, host: str | None) -> object:
        return self._known(host)


@contextmanager
def running(*, direct: bool = False) -> Iterator[str]:
    """The URL of an empty moto on a free port. Until the end, the environment has its address and its key.

    With `direct`, this process's own clients call moto without a connection, which takes less than half the time.
    """
    # moto keeps its tables in the process: those of a server that ran before are still there.
    BackendDict.reset()
    before = _of_aws(os.environ)
    key = signatures.Key("LOCAL" + secrets.token_hex(8).upper(), secrets.token_urlsafe(32).encode())
    application = _Application(create_backend_app)
    guarded = _signed_only(application, key)
    server = make_server(_HOST, 0, guarded, threaded=True, request_handler=_Quiet)
    url = f"http://{_HOST}:{server.port}"
    for name in before:
        del os.environ[name]
    os.environ.update(AWS_ACCESS_KEY_ID=key.id, AWS_SECRET_ACCESS_KEY=key.secret.decode())
    point_at(url, server.port)
    thread = threading.Thread(target=server.serve_forever, name="moto", daemon=True)
    thread.start()
    try:
        _forget_credentials()
        with ExitStack() as stack:
            # Also calls that AWS accepts unsigned, such as a code for a new password: others must not try codes here.
            stack.enter_context(default_session.handling(_CHOOSE_SIGNER, lambda **_: "v4"))
            if direct:
                stack.enter_context(direct_calls.to(application, url))
                stack.enter_context(direct_dynamodb.installed())
            yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for name in _of_aws(os.environ):
            del os.environ[name]
        os.environ.update(before)
        _forget_credentials()


def point_at(url: str, port: int) -> None:
    """Make every AWS client of this process use this moto, whatever the user's settings are."""
    os.environ.update(
        AWS_ENDPOINT_URL=url,
        AWS_DEFAULT_REGION=REGION,
        AWS_REGION=REGION,
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
        MOTO_PORT=str(port),
    )


def _forget_credentials() -> None:
    """Make boto3 read the credentials again: it reads them once for all clients of the process."""
    vars(default_session.get()._session)["_credentials"] = None


def _of_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with the address of AWS, and credentials."""
    return {name: value for name, value in environment.items() if name.startswith(("AWS_", "BOTO_", "MOTO_PORT"))}


class _Quiet(MotoRequestHandler):
    """Does not log every call to standard error."""

    def log_request(self, *_args: object, **_named: object) -> None:
        pass


def _signed_only(application: WSGIApplication, key: signatures.Key) -> WSGIApplication:
    """Refuse requests not signed with the key, requests from web pages in a browser on this machine, and moto's own
    control interface (`/moto-api`).
    """

    def guarded(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "").partition(":")[0]
        foreign = "HTTP_ORIGIN" in environ or "HTTP_SEC_FETCH_SITE" in environ
        if foreign or host not in (_HOST, "localhost") or "moto-api" in environ.get("PATH_INFO", ""):
            return _refused(start_response)
        try:
            request = _request(environ)
            signatures.check(request, key, datetime.now(UTC))
        except signatures.NotSigned:
            return _refused(start_response)
        environ["wsgi.input"] = BytesIO(request.body)
        return application(environ, start_response)

    return guarded


def _request(environ: WSGIEnvironment) -> signatures.SignedRequest:
    length = environ.get("CONTENT_LENGTH") or "0"
    if "HTTP_TRANSFER_ENCODING" in environ or not length.isdigit() or int(length) > _LARGEST_BODY:
        raise signatures.NotSigned
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    }
    path, _, query = environ["RAW_URI"].partition("?")
    return signatures.SignedRequest(
        environ["REQUEST_METHOD"], path, query, headers, environ["wsgi.input"].read(int(length))
    )


def _refused(start_response: StartResponse) -> Iterable[bytes]:
    # The body is not read, so the connection must end.
    start_response(f"403 {HTTPStatus.FORBIDDEN.phrase}", [("Content-Length", "0"), ("Connection", "close")])
    return []
