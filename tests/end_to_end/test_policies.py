"""Each function's role allows what the function calls in all the other tests here, and nothing else. Runs last."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import boto3
import pytest

from application import first_organization
from headgate import aws
from headgate_local import calls, template
from headgate_local.calls import Call
from tests.policies import lacking, permissions, unused

pytestmark = pytest.mark.end_to_end

OURS = template.read()
ADMIN = "first@example.com"


@pytest.fixture
def answered() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Where CloudFormation would wait for the answer of a custom resource, and the answers."""
    answers: list[dict[str, str]] = []

    class Answers(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", answers
    server.shutdown()
    server.server_close()


@pytest.fixture
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    """Calls made in this process are written down as well."""
    calls.record_to(recorded_calls / "here.jsonl")
    aws.forget_clients()
    yield
    boto3.DEFAULT_SESSION = None
    aws.forget_clients()


def test_cloudformation_makes_the_first_organization(
    recording: None, answered: tuple[str, list[dict[str, str]]]
) -> None:
    """A deployment's own function, which a local service has no use for."""
    url, answers = answered
    event = {
        "RequestType": "Create",
        "ResponseURL": url,
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "FirstOrganizationAndAdmin",
        "ResourceProperties": {"Organization": "Acme", "AdminEmail": ADMIN, "Url": "https://headgate.example"},
    }
    with calls.of("FirstOrganizationFunction"):
        first_organization.handler(event, None)
        first_organization.handler(event, None)

    assert [answer["Status"] for answer in answers] == ["SUCCESS", "SUCCESS"], answers


def test_no_function_lacks_a_permission(recorded_calls: Path) -> None:
    assert lacking(calls.read(recorded_calls), permissions(OURS)) == []


def test_no_function_has_a_permission_that_it_never_uses(recorded_calls: Path, whole_suite: bool) -> None:
    made = calls.read(recorded_calls)
    if whole_suite:
        assert unused(made, permissions(OURS)) == []
    else:
        # Of a part of the suite only this can be said: what was called is told apart from what was not.
        assert len(unused(made, permissions(OURS))) < len(unused([], permissions(OURS)))


def test_a_missing_permission_and_a_superfluous_one_are_told() -> None:
    table = OURS.name_of("IdentityTable")
    known = Call("IdentityFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", leading_key="credential")
    given = [one for one in permissions(OURS) if one.function == "IdentityFunction"]

    assert lacking([known], given) == []
    assert "IdentityFunction lacks dynamodb:Scan" in lacking([replace(known, action="dynamodb:Scan")], given)[0]
    assert all("dynamodb:UpdateItem" not in one for one in unused([known], given))
    assert unused([], given) == sorted(map(str, given))


def test_changing_a_record_of_changes_is_denied() -> None:
    table = OURS.name_of("IdentityTable")
    change = Call("ApplicationFunction", "dynamodb:UpdateItem", f"dynamodb:::{table}", leading_key="audit")

    assert "denied by TheRecordOfChangesIsAppendOnly" in lacking([change], permissions(OURS))[0]
