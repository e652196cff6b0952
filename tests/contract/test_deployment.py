"""What SAM builds is what runs: a valid template, and functions that start and answer from their built artefacts."""

import base64
import json
import os
import platform
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import zstandard

from headgate.checker import Asker, published
from headgate.checker import publish as publish_collector
from headgate.checker.function import CheckerFunction
from headgate.flows import publish
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.storage import aws
from headgate_local import aws_server, gallery
from tests.support import faulty, lambda_invocations, sizes
from tests.support.aws import read_template
from tests.support.lambda_invocations import Answer, Invocations, answering
from tests.support.lambda_runtime import LambdaFunction, http_event, started
from tests.support.listening import listening

ROOT = Path(__file__).parents[2]
TEMPLATE = read_template()
SAM = ROOT / ".venv-sam" / "bin" / "sam"
BASE_PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
FUNCTIONS = [function.logical_id for function in TEMPLATE.functions()]
# A start takes a second. On each change: all that answer no requests, those that other tests here start, and one for
# each other way to answer requests. In `make trust`: all.
OF_REQUESTS = {route.function.logical_id for route in TEMPLATE.routes()}
ON_CHANGE = {"ApplicationFunction", "ConfigurationsFunction", "IdentityFunction", "OpampFunction", "ValidationFunction"}
STARTED = sizes.either([name for name in FUNCTIONS if name in ON_CHANGE or name not in OF_REQUESTS], FUNCTIONS)
EVENTS = ROOT / "local" / "sam"
API = "/api/v1/public/"
CHECKER = "arn:aws:lambda:us-east-1:123456789012:function:headgate-checker:live"
CONFIGURATION = (
    "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}"
)


@dataclass(frozen=True)
class Deployed:
    """A built stack beside moto's tables, and a token that these know."""

    artefacts: Path
    environment: dict[str, str]
    token: str
    organization_id: str = ""


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
        described = TEMPLATE
        environment = described.environment()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        aws.forget_clients()
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        for bucket in described.buckets():
            aws.s3().create_bucket(Bucket=bucket.name)
        publish.upload(publish.build(gallery.FLOWS), settings().bucket)
        organization = identity.create_organization("Acme")
        account = identity.create_service_account(organization.id, "ci")
        _, token = identity.create_token(organization.id, account.id, name="ci", access="read_write")
        environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        environment["TMPDIR"] = str(tmp_path_factory.mktemp("tmp"))
        yield Deployed(artefacts, environment, token, organization.id)
    aws.forget_clients()
    settings.cache_clear()


@contextmanager
def running(deployed: Deployed, logical_id: str, folder: Path, **variables: str) -> Iterator[LambdaFunction]:
    """That function, started from its artefact."""
    (found,) = (one for one in TEMPLATE.functions() if one.logical_id == logical_id)
    folder.mkdir(exist_ok=True)
    with started(
        found.handler,
        code=deployed.artefacts / found.logical_id,
        layers=[deployed.artefacts / "PythonLayer"],
        environment=deployed.environment | variables,
        folder=folder,
    ) as function:
        yield function


@pytest.fixture(scope="module")
def invocations(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Invocations]:
    """Lambda's Invoke, and behind it the checker's function with what template.yaml gives it, and no credential."""
    folder = tmp_path_factory.mktemp("checker")
    layer = deployed.artefacts / "CollectorLayer" / "collectors"
    own = Deployed(deployed.artefacts, {"HEADGATE_COLLECTOR_VERSION": settings().collector_version}, "")
    variables = {name: deployed.environment[name] for name in ("TMPDIR", "AWS_ENDPOINT_URL")}
    with (
        running(own, "CheckerFunction", folder, HEADGATE_COLLECTORS_DIR=str(layer), **variables) as function,
        lambda_invocations.running(answering(function.invoke)) as served,
    ):
        yield served


@pytest.fixture(scope="module")
def function(
    deployed: Deployed,
    invocations: Invocations,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[LambdaFunction]:
    """The function of the test's parameter, started from its artefact, beside the checker's: once for all its tests."""
    variables = {"AWS_ENDPOINT_URL_LAMBDA": invocations.url, "HEADGATE_CHECKER_FUNCTION": CHECKER}
    if request.param == "CheckerFunction":
        variables = {"HEADGATE_COLLECTORS_DIR": str(deployed.artefacts / "CollectorLayer" / "collectors")}
    with running(deployed, request.param, tmp_path_factory.mktemp("function"), **variables) as found:
        yield found


def answer(function: LambdaFunction, event: dict[str, object]) -> tuple[object, dict[str, object]]:
    answered = function.invoke(event)
    return answered["statusCode"], json.loads(str(answered["body"]))


def public_path(logical_id: str) -> str | None:
    """A path of the public API that the template gives to the function, its parameters filled in."""
    paths = [route.path for route in TEMPLATE.routes() if route.function.logical_id == logical_id]
    public = [path for path in paths if path.startswith(API) and "{" not in path and path != f"{API}openapi.json"]
    return public[0] if public else None


CLIENTS = """
import inspect
from headgate.storage import aws

for name, opened in inspect.getmembers(aws, inspect.isfunction):
    if name != "s3_in" and str(inspect.signature(opened).return_annotation).endswith("Client"):
        print(opened().meta.service_model.service_name)
"""


def test_every_aws_client_opens_from_the_layer_alone(deployed: Deployed) -> None:
    done = subprocess.run(
        [BASE_PYTHON, "-S", "-c", CLIENTS],
        env={**deployed.environment, "PYTHONPATH": str(deployed.artefacts / "PythonLayer" / "python")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    opened = sorted(done.stdout.split())
    assert opened == ["cognito-idp", "dynamodb", "events", "kms", "lambda", "s3", "sqs", "stepfunctions"]


def test_one_module_opens_aws_clients() -> None:
    """So that its services are those of the layer."""
    sources = [path for folder in ("shared", "functions") for path in (ROOT / folder).rglob("*.py")]

    opening = [path.relative_to(ROOT).as_posix() for path in sources if "boto3.client" in path.read_text()]

    assert opening == ["shared/headgate/storage/aws.py"]


# `make lint` asks cfn-lint the same on each change.
@pytest.mark.full
def test_the_template_is_valid() -> None:
    assert "is a valid SAM Template" in sam("validate", "--lint", "--region", "us-east-1")


# What each function answers to its event in local/sam, which `sam local invoke` takes: the status of an answer to a
# request, and something that is in it.
ANSWERS = {
    "ApplicationFunction": (200, "Sign in"),
    "CheckerAnswersFunction": (None, "null"),
    "CheckerFunction": (None, '"valid": true'),
    "DeliverFunction": (None, '"batchItemFailures": []'),
    "ComponentsFunction": (200, '"type":"otlp"'),
    "ConfigurationsFunction": (201, '"latest_version":1'),
    "ExportsFunction": (None, '"exported": 0'),
    "FirstOrganizationFunction": (None, "null"),
    "FleetsFunction": (200, '"items":[]'),
    "FlowsFunction": (200, '"slug":'),
    "IdentityFunction": (200, '"organization_name":"Acme"'),
    "InstallFunction": (404, '"code":"not_found"'),
    "MailFunction": (None, "Your invitation to Headgate"),
    "NotifyFunction": (None, '"sent": 0'),
    "OpampFunction": (401, '"code": "unauthenticated"'),
    "RolloutStepsFunction": (None, '"started": 0'),
    "RunStepsFunction": (None, "null"),
    "SeriesFunction": (None, '"batchItemFailures": []'),
    "TestingFunction": (404, '"code":"run_not_found"'),
    "ValidationFunction": (200, '"valid":true'),
    "WebhooksFunction": (403, "requires a session"),
}


@pytest.fixture
def cloudformation() -> Iterator[int]:
    """The port at which CloudFormation takes the answer of a custom resource."""

    class Taking(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            assert json.loads(self.rfile.read(int(self.headers["Content-Length"])))["Status"] == "SUCCESS"
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    with listening(server):
        yield server.server_port


@pytest.mark.sized
@pytest.mark.parametrize(("function", "name"), [(name, name) for name in STARTED], indirect=["function"])
def test_every_function_answers_its_event_from_its_artefact(
    function: LambdaFunction, name: str, deployed: Deployed, cloudformation: int
) -> None:
    event = (EVENTS / f"{name}.json").read_text()
    event = event.replace("sv_put_your_token_here", deployed.token).replace(":8302/", f":{cloudformation}/")

    answered = function.invoke(json.loads(event))

    status, something = ANSWERS[name]
    body = answered["body"] if status else json.dumps(answered)
    assert ((answered or {}).get("statusCode"), something in str(body)) == (status, True), answered


@pytest.mark.parametrize("function", ["ConfigurationsFunction", "ValidationFunction"], indirect=True)
def test_nothing_of_a_request_is_in_logs_or_metrics(function: LambdaFunction, deployed: Deployed) -> None:
    """Neither when it is answered, nor when the function cannot make sense of it."""
    secret = "k3yw0rd"
    paths = ("/api/v1/public/configurations", "/api/v1/public/validate")
    bodies: list[object] = [
        {"name": secret, "yaml": f"# {secret}"},
        {"yaml": f"receivers: {{nope/{secret}: }}", "env": {"A": secret}},
        {"name": 5, "yaml": [secret], secret: secret},
    ]
    for path in paths:
        for body in bodies:
            function.invoke(http_event("POST", path, token=deployed.token, body=body, query=f"q={secret}"))
            function.invoke(http_event("POST", path, token=f"sv_{secret}", body=body))

    log = function.log.read_text()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert (secret in log, deployed.token in log) == (False, False)
    counted = [line for line in lines if "_aws" in line]
    assert len(counted) >= len(paths) * len(bodies)
    assert {json.dumps(one["_aws"]["CloudWatchMetrics"][0]["Dimensions"]) for one in counted} == {'[["function"], []]'}


def test_every_function_has_an_event() -> None:
    assert {path.stem for path in EVENTS.glob("*Function.json")} == set(FUNCTIONS) == set(ANSWERS)


def test_the_events_environment_is_that_of_the_local_tables() -> None:
    given = json.loads((EVENTS / "env.json").read_text())["Parameters"]

    assert given.items() <= TEMPLATE.environment().items()
    assert {name for name in TEMPLATE.environment() if name.endswith(("_TABLE", "_BUCKET"))} == set(given)


@pytest.mark.sized
@pytest.mark.parametrize(
    ("function", "path"),
    [(logical_id, path) for logical_id in STARTED if (path := public_path(logical_id))],
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
def test_the_layers_collector_gives_its_verdict_in_a_function_of_its_own(
    function: LambdaFunction, deployed: Deployed, invocations: Invocations
) -> None:
    path = "/api/v1/public/validate"
    before = len(invocations.invoked)
    good = answer(function, http_event("POST", path, token=deployed.token, body={"yaml": CONFIGURATION}))
    bad = answer(function, http_event("POST", path, token=deployed.token, body={"yaml": "receivers: {nope: }"}))

    assert (good[0], good[1]["valid"], bad[0], bad[1]["valid"]) == (200, True, 200, False)
    organizations = {tenant for name, tenant, _ in invocations.invoked[before:] if name == CHECKER}
    assert organizations == {deployed.organization_id}


@pytest.mark.parametrize("function", ["ValidationFunction"], indirect=True)
def test_a_version_that_the_layer_does_not_hold_is_422_and_lists_what_it_holds(
    function: LambdaFunction, deployed: Deployed
) -> None:
    body = {"yaml": CONFIGURATION, "version": "0.1.2"}
    status, problem = answer(function, http_event("POST", f"{API}validate", token=deployed.token, body=body))

    assert (status, problem["code"]) == (422, "collector_version_not_installed")
    assert problem["detail"] == f"Collector version 0.1.2 is not installed; installed: {settings().collector_version}"


@pytest.mark.parametrize("function", ["ValidationFunction"], indirect=True)
@pytest.mark.parametrize(
    "refusal",
    [
        Answer(b'{"errorType": "Runtime.ExitError"}', function_error="Unhandled"),
        Answer(status=429, code="TooManyRequestsException"),
        Answer(status=500, code="ServiceException"),
        Answer(status=403, code="AccessDeniedException"),
    ],
    ids=["a crash", "throttled", "a fault of Lambda", "denied"],
)
def test_what_keeps_the_checker_from_answering_is_not_a_verdict(
    function: LambdaFunction,
    deployed: Deployed,
    invocations: Invocations,
    refusal: Answer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(invocations, "answer", lambda *_: refusal)
    for path in ("validate", "ottl/lint"):
        event = http_event("POST", f"{API}{path}", token=deployed.token, body={"yaml": CONFIGURATION})
        status, problem = answer(function, event)

        assert (status, problem["code"]) == (503, "not_checked")
        assert str(problem["detail"]).endswith(" not checked" if path == "validate" else "nothing was checked")


def test_a_question_too_large_for_an_invocation_is_fetched_by_the_checkers_function(
    invocations: Invocations, deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", invocations.url)
    aws.forget_clients()
    document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": noise(6_000_000)}}]}]}]}
    rule = {"name": "any", "condition": "IsString(body)", "context": "log", "expect": "any", "min": None, "max": None}
    before = len(invocations.invoked)

    answered = CheckerFunction(CHECKER).call(
        "evaluate",
        {"signals": ["logs"], "rules": [rule], "documents": json.dumps(document), "tallies": None},
        asker=Asker(deployed.organization_id, "run_1"),
    )

    assert [one["passed"] for one in answered["verdicts"]] == [True]
    ((_, _, size),) = invocations.invoked[before:]
    assert size < 10_000
    assert aws.s3().list_objects_v2(Bucket=settings().bucket, Prefix="checks/")["KeyCount"] == 0


def test_a_published_collector_is_fetched_and_answers_in_the_checkers_function(
    invocations: Invocations, deployed: Deployed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault injector, which says that it is version 0.0.0, in the place of a second collector."""
    binary = faulty.install(tmp_path)
    packed = tmp_path / "otelcol-contrib.zst"
    packed.write_bytes(zstandard.compress(binary.read_bytes()))
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", invocations.url)
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", "0.0.0")
    settings.cache_clear()
    aws.forget_clients()
    published.forget()
    publish_collector.upload(
        aws.s3(), settings().bucket, published.architecture(), binary, packed, {"version": "0.0.0"}
    )

    answers = [
        CheckerFunction(CHECKER).call("any", {"echo": "b"}, asker=Asker(deployed.organization_id, "a"), version="0.0.0")
        for _ in range(2)
    ]

    assert [one["echo"] for one in answers] == ["b", "b"]


def noise(size: int) -> str:
    """Text that cannot be compressed to much less than itself."""
    return base64.b64encode(random.Random(1).randbytes(size)).decode()
