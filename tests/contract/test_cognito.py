"""What we rely on of moto's user pool and of our patches to it, and what CloudFormation calls."""

import json
import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import boto3
import pytest
from botocore.exceptions import ClientError

from application import first_organization, mail
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import passwords, people
from headgate.storage import aws
from headgate.storage.items import unmarshal
from headgate_local import template, user_pool
from tests.support.aws import aws_for
from tests.support.listening import listening

pytestmark = pytest.mark.contract

PASSWORD = "four words in a row"


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """For this file alone: what takes moto apart comes after it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


@pytest.fixture
def email(aws_here: template.Template) -> str:
    """A person with a password."""
    address = f"p-{new_id('usr')[-8:]}@example.com"
    user_pool.add_account(address, PASSWORD)
    return address


def test_a_password_is_checked_by_its_hash(email: str) -> None:
    assert passwords.check(email, PASSWORD) is None
    with pytest.raises(passwords.WrongPassword):
        passwords.check(email, PASSWORD + "x")


def test_an_address_has_no_case(email: str) -> None:
    assert passwords.check(email, PASSWORD) is None
    assert not passwords.create(email, "")


def test_only_the_mailed_code_sets_a_new_password(email: str, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[str] = []
    monkeypatch.setattr(user_pool._People, "mail", lambda _self, _kind, _to, code, _metadata: codes.append(code))
    passwords.send_code(email, "https://x", "https://x/reset-password?request=r")

    for wrong in ("000000x", "", "moto-confirmation-code:1"):
        with pytest.raises(passwords.WrongCode):
            passwords.reset(email, wrong or " ", "another password")
    passwords.reset(email, codes[0], "another password")
    assert passwords.check(email, "another password") is None


def test_the_pool_is_the_templates(aws_here: template.Template) -> None:
    described = boto3.client("cognito-idp").describe_user_pool(UserPoolId=os.environ["HEADGATE_USER_POOL"])["UserPool"]

    assert described["UsernameAttributes"] == ["email"]
    assert described["Policies"]["PasswordPolicy"]["MinimumLength"] == passwords.SHORTEST


def test_the_file_of_people_holds_no_password(tmp_path: Path, email: str) -> None:
    pool = user_pool.cognitoidp_backends[user_pool.ACCOUNT][user_pool.REGION].user_pools[settings().user_pool_id]
    saved = user_pool._People(pool, tmp_path)
    saved.save()
    content = (tmp_path / "people.json").read_text()

    assert email in content
    assert PASSWORD not in content
    assert (tmp_path / "people.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("source", "subject", "holds"),
    [
        ("CustomMessage_AdminCreateUser", "Your invitation to Headgate", ["{username}", "{####}", "https://h/sign-in"]),
        (
            "CustomMessage_ForgotPassword",
            "Your code for a new Headgate password",
            ["{####}", "https://h/reset-password?email=a%40b.c&amp;request=r%3D"],
        ),
    ],
)
def test_a_mail_has_cognitos_placeholders_and_our_address(source: str, subject: str, holds: list[str]) -> None:
    event = mail.handler(
        {
            "triggerSource": source,
            "request": {
                "usernameParameter": "{username}",
                "codeParameter": "{####}",
                "clientMetadata": {
                    "url": "https://h",
                    "link": "https://h/reset-password?email=a%40b.c&request=r%3D",
                },
            },
            "response": {},
        },
        None,
    )

    assert event["response"]["emailSubject"] == subject
    assert [part for part in holds if part not in event["response"]["emailMessage"]] == []


HOSTILE = (
    '"><script>alert(1)</script>',
    *('https://h/"onload=x', "javascript:x", "https://h}{code", "//evil.example", "x" * 3000),
)


def mailed(source: str, **request: object) -> mail.Response:
    return mail.handler({"triggerSource": source, "request": request, "response": {}}, None)["response"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_a_caller_supplies_gets_into_a_mail_as_it_is(hostile: str) -> None:
    good = "https://h/reset-password?request=r"
    told = {"url": "https://h", "link": good, "organization": hostile}
    names = {"usernameParameter": hostile, "codeParameter": hostile}

    for source in ("CustomMessage_AdminCreateUser", "CustomMessage_ForgotPassword"):
        message = mailed(source, clientMetadata=told, **names)["emailMessage"]
        assert hostile not in message
        assert "{####}" in message
    assert mailed("CustomMessage_AdminCreateUser", clientMetadata={"url": hostile}) == {}
    for link in (hostile, good + hostile, "https://h/elsewhere?a=b"):
        assert mailed("CustomMessage_ForgotPassword", clientMetadata={"url": "https://h", "link": link}) == {}


@pytest.mark.parametrize("metadata", [{}, None, {"url": ""}])
def test_an_invitation_without_an_address_of_ours_names_the_public_one_or_is_cognitos(
    metadata: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mailed("CustomMessage_AdminCreateUser", clientMetadata=metadata) == {}

    monkeypatch.setenv("HEADGATE_PUBLIC_URL", "https://headgate.example")
    settings.cache_clear()
    message = mailed("CustomMessage_AdminCreateUser", clientMetadata=metadata)["emailMessage"]
    assert 'href="https://headgate.example/sign-in"' in message


@pytest.mark.parametrize("hostile", ["a<b>@example.com", 'a"b@example.com', "a'b@example.com", "a\x00b@example.com"])
def test_an_address_that_could_be_markup_is_refused(hostile: str) -> None:
    with pytest.raises(passwords.NotAnAddress):
        people.parse_address(hostile)


class Answers(BaseHTTPRequestHandler):
    received: ClassVar[list[dict[str, str]]] = []

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(json.loads(content))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def cloudformation() -> Iterator[str]:
    """The URL that a custom resource answers to."""
    Answers.received = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}/answer"


def event(url: str, kind: str, email: str) -> dict[str, object]:
    return {
        "RequestType": kind,
        "ResponseURL": url,
        "StackId": "s",
        "RequestId": "r",
        "LogicalResourceId": "FirstOrganizationAndAdmin",
        "ResourceProperties": {"Organization": "First", "AdminEmail": email, "Url": "https://h"},
    }


def test_a_stack_begins_with_one_organization_and_an_invited_admin(
    aws_here: template.Template, cloudformation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails: list[tuple[str, str, object]] = []
    monkeypatch.setattr(user_pool._People, "mail", lambda _s, _k, to, code, data: mails.append((to, code, data)))
    email = f"first-{new_id('usr')[-8:]}@example.com"
    first_organization.handler(event(cloudformation, "Create", "no address"), None)
    for kind in ("Create", "Create", "Update", "Delete"):
        first_organization.handler(event(cloudformation, kind, email), None)

    assert [answer["Status"] for answer in Answers.received] == ["FAILED", *["SUCCESS"] * 4]
    assert Answers.received[0]["Reason"] == "This is not an email address"
    ((to, temporary, data),) = mails
    assert (to, data) == (email, {"url": "https://h"})
    with pytest.raises(people.NewPasswordNeeded) as needed:
        people.sign_in(email, temporary, "192.0.2.1", clock.now())
    people.replace_temporary(needed.value.challenge, PASSWORD, clock.now())
    items = [unmarshal(item) for item in aws.dynamodb().scan(TableName=settings().identity_table)["Items"]]
    assert [item["admins"] for item in items if item["sk"] == "organization" and item["name"] == "First"] == [1]


def test_an_error_that_nobody_expects_is_raised_as_it_is_and_not_as_its_own_cause(
    email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Any")

    class Denied:
        def __getattr__(self, _operation: str) -> Callable[..., None]:
            def call(**_request: object) -> None:
                raise refused

            return call

    monkeypatch.setattr(aws, "cognito", Denied)
    for ask in (
        lambda: passwords.check(email, PASSWORD),
        lambda: passwords.replace_temporary(email, "challenge", PASSWORD),
        lambda: passwords.send_code(email, "https://x", "https://x/reset-password"),
        lambda: passwords.reset(email, "123456", PASSWORD),
        lambda: passwords.create(email, "https://x"),
        lambda: passwords.send_temporary_again(email, "https://x"),
    ):
        with pytest.raises(ClientError) as raised:
            ask()
        assert raised.value is refused
        assert raised.value.__cause__ is None
