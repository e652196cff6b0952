"""What SAM builds is what runs: a valid template, and functions that start and answer from their built artefacts."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate import aws
from headgate.identity import service as identity
from headgate.settings import settings
from headgate_local import aws_server, template
from tests.lambda_runtime import LambdaFunction, http_event, started

ROOT = Path(__file__).parents[2]
SAM = ROOT / ".venv-sam" / "bin" / "sam"
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
FUNCTIONS = [function.logical_id for function in template.read().functions()]
API = "/api/v1/public/"
CONFIGURATION = (
    "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}"
)


@dataclass(frozen=True)
class Deployed:
    """A built stack beside moto's tables, and a token that these know."""

    artefacts: Path
    environment: dict[str, str]
    token: str


def sam(*arguments: str | Path) -> str:
    variables = {**os.environ, "SAM_CLI_TELEMETRY": "0", "RUNTIME": RUNTIME, "ARCHITECTURE": ARCHITECTURE}
    done = subprocess.run([SAM, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    artefacts = tmp_path_factory.mktemp("built")
    overrides = f"PythonRuntime={RUNTIME} Architecture={ARCHITECTURE}"
    sam("build", "--build-in-source", "--build-dir", artefacts, "--parameter-overrides", overrides)
    with pytest.MonkeyPatch.context() as monkeypatch, aws_server.running():
        described = template.read()
        environment = described.environment()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        aws.forget_clients()
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        organization = identity.create_organization("Acme")
        account = identity.create_service_account(organization.id, "ci")
        _, token = identity.create_token(organization.id, account.id, name="ci", access="read_write")
        environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        environment["HEADGATE_COLLECTORS_DIR"] = str(artefacts / "CollectorLayer" / "collectors")
        environment["TMPDIR"] = str(tmp_path_factory.mktemp("tmp"))
        yield Deployed(artefacts, environment, token)
    aws.forget_clients()
    settings.cache_clear()


@pytest.fixture
def function(deployed: Deployed, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LambdaFunction]:
    """The function of the test's parameter, started from its artefact."""
    (found,) = (one for one in template.read().functions() if one.logical_id == request.param)
    with started(
        found.handler,
        code=deployed.artefacts / found.logical_id,
        layers=[deployed.artefacts / "PythonLayer"],
        environment=deployed.environment,
        folder=tmp_path,
    ) as running:
        yield running


def answer(function: LambdaFunction, event: dict[str, object]) -> tuple[object, dict[str, object]]:
    answered = function.invoke(event)
    return answered["statusCode"], json.loads(str(answered["body"]))


def public_path(logical_id: str) -> str | None:
    """A path of the public API that the template gives to the function, its parameters filled in."""
    paths = [route.path for route in template.read().routes() if route.function.logical_id == logical_id]
    public = [path for path in paths if path.startswith(API) and "{" not in path and path != f"{API}openapi.json"]
    return public[0] if public else None


def test_the_template_is_valid() -> None:
    assert "is a valid SAM Template" in sam("validate", "--lint", "--region", "us-east-1")


@pytest.mark.parametrize("function", FUNCTIONS, indirect=True)
def test_every_function_starts_from_its_artefact(function: LambdaFunction) -> None:
    assert function.process.poll() is None


@pytest.mark.parametrize(
    ("function", "path"),
    [(logical_id, path) for logical_id in FUNCTIONS if (path := public_path(logical_id))],
    indirect=["function"],
)
def test_every_group_asks_for_a_credential(function: LambdaFunction, path: str) -> None:
    status, body = answer(function, http_event("GET", path))

    assert (status, body["code"]) in ((401, "unauthenticated"), (405, "method_not_allowed"))


@pytest.mark.parametrize("function", ["IdentityFunction"], indirect=True)
def test_a_token_is_known_in_the_function(function: LambdaFunction, deployed: Deployed) -> None:
    status, body = answer(function, http_event("GET", "/api/v1/public/identity", token=deployed.token))

    assert (status, body["organization_name"]) == (200, "Acme")


@pytest.mark.parametrize("function", ["ConfigurationsFunction"], indirect=True)
def test_a_configuration_is_stored_by_the_function(function: LambdaFunction, deployed: Deployed) -> None:
    event = http_event(
        "POST", "/api/v1/public/configurations", token=deployed.token, body={"name": "Edge", "yaml": CONFIGURATION}
    )
    status, body = answer(function, event)

    assert (status, body["yaml"]) == (201, CONFIGURATION)


@pytest.mark.parametrize("function", ["ValidationFunction"], indirect=True)
def test_the_layers_collector_gives_its_verdict_in_the_function(function: LambdaFunction, deployed: Deployed) -> None:
    path = "/api/v1/public/validate"
    good = answer(function, http_event("POST", path, token=deployed.token, body={"yaml": CONFIGURATION}))
    bad = answer(function, http_event("POST", path, token=deployed.token, body={"yaml": "receivers: {nope: }"}))

    assert (good[0], good[1]["valid"], bad[0], bad[1]["valid"]) == (200, True, 200, False)
