"""The whole service from what SAM built, each function under AWS's runtime emulator, with moto in the place of AWS."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_local import aws_server, deliveries, gallery, schedules, secrets_key, stepfunctions, store, user_pool
from headgate_local.dispatch import Dispatcher
from headgate_local.handlers import Handler
from headgate_local.running import Local
from headgate_local.seed import Seed, seed
from headgate_local.sign_in import SignIn, first_person
from headgate_local.template import Function, Template
from tests.support import lambda_invocations
from tests.support.api_gateway import in_front_of
from tests.support.lambda_emulator import Emulated, Runtime, emulated
from tests.support.lambda_invocations import Invocations, answering
from tests.support.ports import free_port

_CHECKER = "arn:aws:lambda:us-east-1:123456789012:function:headgate-checker:live"


@dataclass
class Functions:
    """The functions of a built stack. Each starts at its first event, with its own variables of the template."""

    template: Template
    artefacts: Path
    runtime: Runtime
    folder: Path
    allow: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    running: dict[str, Emulated] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def handler(self, function: Function) -> Handler:
        return lambda event, _context: self.of(function).invoke(event)  # type: ignore[arg-type, return-value]  # the events of tests are JSON objects, and so are the answers

    def of(self, function: Function) -> Emulated:
        """The function, started."""
        with self._lock:
            if function.logical_id not in self.running:
                self.running[function.logical_id] = self.stack.enter_context(
                    emulated(
                        function.handler,
                        code=self.artefacts / function.logical_id,
                        layers=[self.artefacts / "PythonLayer"],
                        environment=self._variables(function),
                        folder=self.folder,
                        on=self.runtime,
                        allow=self.allow,
                    )
                )
            return self.running[function.logical_id]

    def _variables(self, function: Function) -> dict[str, str]:
        declared = self.template.variables_of(function)
        values = {name: self.environment.get(name, value) for name, value in declared.items()}
        needed = {name: value for name, value in self.environment.items() if name.startswith("AWS_")}
        if function.logical_id == "CheckerFunction":
            # Where Lambda puts layers.
            needed["HEADGATE_COLLECTORS_DIR"] = str(self.artefacts / "CollectorLayer" / "collectors")
        return values | needed | {"TMPDIR": str(self.folder)}


@dataclass(frozen=True)
class DeployedService:
    """`base_url` is where the service answers, `functions` what answers there."""

    base_url: str
    data: Path
    tokens: Seed
    admin: SignIn
    functions: Functions
    invocations: Invocations


@contextmanager
def deployed(functions: Functions, data: Path) -> Iterator[DeployedService]:
    """Serve until the block ends."""
    template, port = functions.template, free_port()
    url = f"http://127.0.0.1:{port}"
    (checker,) = (function for function in template.functions() if function.logical_id == "CheckerFunction")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        stack.callback(aws.forget_clients)
        stack.callback(settings.cache_clear)
        aws_url = stack.enter_context(aws_server.running())
        invocations = stack.enter_context(
            lambda_invocations.running(answering(lambda event: functions.of(checker).invoke(event)))
        )
        local = {"HEADGATE_PUBLIC_URL": url, "HEADGATE_FLEET_ENDPOINT": url, "HEADGATE_CHECKER_FUNCTION": _CHECKER}
        for name, value in {**template.environment(), **local, "AWS_ENDPOINT_URL_LAMBDA": invocations.url}.items():
            patch.setenv(name, value)
        for name in ("HEADGATE_USER_POOL", "HEADGATE_USER_POOL_CLIENT"):
            patch.setenv(name, "")
        settings.cache_clear()
        aws.forget_clients()
        fresh = stack.enter_context(store.restored(data, template))
        stack.enter_context(user_pool.running(template, data))
        secrets_key.create(template, data)
        tokens = seed(data / "tokens.json", fresh=fresh)
        admin = first_person(data / "sign-in.json", tokens.organization_id)
        functions.environment |= _of_this_process()
        stack.enter_context(functions.stack)
        parts = Local(template, aws_url, url, data, Path(settings().collectors_dir), functions.handler)
        for part in (gallery.published, stepfunctions.part, deliveries.part, schedules.part):
            stack.enter_context(part(parts))
        routes = [
            (route, in_front_of(lambda event, of=route.function: functions.of(of).invoke(event), route.path))
            for route in template.routes()
        ]
        stack.enter_context(_serving(Dispatcher(routes, nowhere=FastAPI()), port))
        yield DeployedService(url, data, tokens, admin, functions, invocations)


def _of_this_process() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("AWS_", "HEADGATE_"))}


@contextmanager
def _serving(application: Dispatcher, port: int) -> Iterator[None]:
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service could not listen"
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def built(sam: Path, root: Path, folder: Path, python: Path, architecture: str) -> Path:
    """What `make deploy` builds, for that Python version."""
    version = python.name
    environment = {"SAM_CLI_TELEMETRY": "0", "RUNTIME": version, "ARCHITECTURE": architecture}
    # The interpreter compiles the layer.
    path = f"{python.parent}:{Path(sys.executable).parent}"
    done = subprocess.run(
        [sam, "build", "--build-in-source", "--build-dir", folder, "--parameter-overrides", f"PythonRuntime={version}"],
        cwd=root,
        env={**os.environ, **environment, "PATH": f"{path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
