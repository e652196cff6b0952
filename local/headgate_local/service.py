"""Runs the whole service, from the environment to the last request."""

from __future__ import annotations

import gc
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from headgate import checker
from headgate.foundation import clock
from headgate.foundation.settings import BadSetting, settings
from headgate.http.paths import PUBLIC
from headgate_local import aws_server, building, light_imports, parts, releases, secrets_key, store, user_pool
from headgate_local.dispatch import Dispatcher, application_of
from headgate_local.errors import CannotStart
from headgate_local.limits import Limited, Throttle
from headgate_local.options import (
    CHOICES,
    DEFAULTS,
    HOST,
    ServiceOptions,
    listen,
    locked,
    read_options,
    require_collector,
)
from headgate_local.running import Local
from headgate_local.seed import Seed, seed
from headgate_local.sign_in import SignIn, first_person
from headgate_local.sign_in_link import LIFETIME, SignInLink, WithLink
from headgate_local.template import Template, read

_SECONDS_TO_FINISH: Final = 10
# Longer than proxies usually hold an idle connection, 60 s.
_SECONDS_IDLE: Final = 75
_PING_SECONDS: Final = 20.0
# One process answers no more by more threads; those that wait have none.
_MESSAGES_AT_ONCE: Final = 8
_PATIENCE_SECONDS: Final = 5.0
"""A host whose message would wait longer is told when to send it again."""


def run() -> None:
    """Serve until a signal. Raises CannotStart. Collecting garbage is off until the first request, see __main__.py."""
    options = read_options(os.environ)
    template = read()
    with ExitStack() as stack:
        stack.enter_context(locked(options.data))
        listener = stack.enter_context(listen(options.listen_on, options.port))
        _set_environment(options, template)
        try:
            settings()
        except BadSetting as error:
            raise CannotStart(str(error)) from error
        if not os.environ.get(building.VARIABLE):
            require_collector(options.collectors, os.environ["HEADGATE_COLLECTOR_VERSION"])
        # In the background, so that the collector becomes ready meanwhile.
        checker.warm()
        stack.callback(lambda: checker.of_this_process().close())
        light_imports.leave_out_batch()
        aws_url = stack.enter_context(aws_server.running(direct=True))
        fresh = stack.enter_context(store.restored(options.data, template))
        local = Local(template, aws_url, _base_url(options), options.data, options.collectors)
        stack.enter_context(user_pool.running(template, options.data))
        secrets_key.create(template, options.data)
        tokens = seed(options.data / "tokens.json", fresh=fresh)
        sign_in = first_person(options.data / "sign-in.json", tokens.organization_id)
        for part in parts.PARTS:
            stack.enter_context(part(local))
        link = SignInLink(sign_in.email, clock.now())
        application = WithLink(functions(template), link)
        gc.freeze()
        # A request makes more objects than the default threshold, and few of them refer to each other.
        gc.set_threshold(20_000)
        gc.enable()
        _serve(application, listener, lambda: _announce(options, tokens, sign_in, link))
    print("Stopped.", flush=True)


def functions(template: Template) -> ASGIApp:
    """The application that dispatches requests to the functions by their routes."""
    # Imported only now, because the functions read their settings from the environment.
    from headgate.http.app import create_app
    from headgate.installs.commands import OPAMP_PATH
    from headgate.opamp import pace
    from headgate_local.opamp_websocket import WithWebSocket

    environments = os.environ.get("HEADGATE_ENVIRONMENTS") or None
    if environments is not None and not (environments.isascii() and environments.isdigit() and int(environments)):
        raise CannotStart(f"HEADGATE_ENVIRONMENTS is {environments!r}, but must be a number from 1 on")
    stage = Throttle() if os.environ.get("HEADGATE_THROTTLE") == "yes" else None
    limited: dict[str, ASGIApp] = {}
    for route in template.routes():
        # The template gives the fleet service a throttle of its own, of 4,000 messages a second.
        of_hosts = route.path == OPAMP_PATH
        function = Limited(
            application_of(route),
            environments=int(environments) if environments else _MESSAGES_AT_ONCE if of_hosts else None,
            patience=_PATIENCE_SECONDS if of_hosts else math.inf,
            refused=pace.refused_before,
            throttle=None if of_hosts else stage,
            sends_files=route.function.logical_id == "InstallFunction",
        )
        limited.setdefault(route.function.logical_id, function)
    routes = [(route, limited[route.function.logical_id]) for route in template.routes()]
    return WithWebSocket(Dispatcher(routes, nowhere=create_app("Headgate", [])))


def _set_environment(options: ServiceOptions, template: Template) -> None:
    endpoint = os.environ.get("HEADGATE_FLEET_ENDPOINT")
    for name, value in (template.environment() | DEFAULTS).items():
        if name not in CHOICES or not os.environ.get(name):
            os.environ[name] = value
    os.environ["HEADGATE_COLLECTORS_DIR"] = str(options.collectors)
    os.environ.setdefault("HEADGATE_PUBLIC_URL", f"http://{HOST}:{options.port}")
    # Set it for collectors on other machines, which reach this one through a proxy.
    os.environ["HEADGATE_FLEET_ENDPOINT"] = endpoint or f"http://{HOST}:{options.port}"
    programs = (releases.cache(options.collectors), options.collectors)
    os.environ["HEADGATE_RELEASES_DIRS"] = os.pathsep.join(map(str, programs))
    # All tasks share this machine's processors, which a job's many collectors would take from everybody.
    os.environ.setdefault("HEADGATE_JOBS_UNDER_WAY", str(max(1, (os.cpu_count() or 1) // 2)))
    # A line for every request would hide what was printed at the start.
    os.environ["POWERTOOLS_LOG_LEVEL"] = os.environ.get("HEADGATE_LOG_LEVEL", "WARNING")
    os.environ["POWERTOOLS_SERVICE_NAME"] = "headgate"
    os.environ["POWERTOOLS_TRACE_DISABLED"] = "true"
    _log_as_the_environment_says()


def _log_as_the_environment_says() -> None:
    """Configure the logger, which was created at its import. Standard output is for the address and the tokens."""
    from headgate.foundation.log import set_level

    set_level(os.environ["POWERTOOLS_LOG_LEVEL"])
    for handler in logging.getLogger("headgate").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)


def server_config(application: ASGIApp) -> uvicorn.Config:
    """Settings of the server. A connection stays open for several heartbeats: if it ended just before a heartbeat, the
    collector's host would report that the service cannot be reached.
    """
    from headgate.opamp.messages import MAX_MESSAGE_BYTES

    return uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="auto",
        # A message, and its header.
        ws_max_size=MAX_MESSAGE_BYTES + 1,
        # It would take 64 KB of memory for each connection.
        ws_per_message_deflate=False,
        # An agent that is gone without a word is noticed after both.
        ws_ping_interval=_PING_SECONDS,
        ws_ping_timeout=_PING_SECONDS,
        timeout_keep_alive=max(_SECONDS_IDLE, 3 * settings().fleet_heartbeat_seconds),
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
    )


def _serve(application: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> None:
    config = server_config(application)
    # On both signals, uvicorn finishes the open requests and then raises the signal again. It is not ignored: a program
    # that is started meanwhile, such as a build, would inherit that, and could not be ended.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    _Server(config, ready).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Calls `ready` once requests are answered."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()


def _base_url(options: ServiceOptions) -> str:
    return f"http://{HOST}:{options.port}{PUBLIC}"


def _announce(options: ServiceOptions, tokens: Seed, sign_in: SignIn, link: SignInLink) -> None:
    print(
        f"Headgate is ready. Its data are in {options.data}. Press Ctrl-C to stop it.\n\n"
        f"  open              http://{HOST}:{options.port}{link.path}\n"
        f"                    signs you in once, within {int(LIFETIME.total_seconds()) // 60} minutes\n"
        f"  or sign in at     http://{HOST}:{options.port}/ as {sign_in.email}, password {sign_in.password}\n\n"
        f"  base URL          {_base_url(options)}\n"
        f"  openapi.json      {_base_url(options)}/openapi.json, for clients of http://{HOST}:{options.port}\n"
        f"  read-write token  {tokens.read_write_token}\n"
        f"  read-only token   {tokens.read_only_token}\n\n"
        f"  curl -H 'Authorization: Bearer {tokens.read_write_token}' {_base_url(options)}/identity\n\n"
        "For the command line and the examples in README.md:\n\n"
        f"  export HEADGATE_URL=http://{HOST}:{options.port}\n"
        f"  export SERVICE_API_TOKEN={tokens.read_write_token}\n",
        flush=True,
    )
