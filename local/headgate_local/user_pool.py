"""The template's user pool in moto: people that survive a restart, and mails that can be read.

moto sends no mails, takes nearly any code for a new password, and forgets its users when it ends. Here the mails are
files under `mail/`, the code has to be the one in the mail, and people are kept in `people.json` with a hash of their
password. tests/contract/test_cognito.py fails when an upgrade of moto moves what this takes hold of.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import boto3
from moto.cognitoidp.exceptions import ExpiredCodeException, UserNotFoundError
from moto.cognitoidp.models import CognitoIdpUser, CognitoIdpUserPool, cognitoidp_backends
from moto.cognitoidp.responses import CognitoIdpResponse

from headgate.settings import settings
from headgate_local.moto_data import ACCOUNT, REGION
from headgate_local.template import Template

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp.type_defs import AttributeTypeTypeDef, CreateUserPoolRequestTypeDef

_OWN_SUBJECT: Final = "Your temporary password"
_OWN_TEXT: Final = "Your username is {username} and temporary password is {####}."
_SCRYPT: Final = {"n": 2**12, "r": 8, "p": 1}


Method = Callable[[CognitoIdpResponse], object]


class KeptPassword(str):
    """What moto compares a password with: a text that equals it without holding it."""

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, password: str) -> KeptPassword:
        salt = secrets.token_bytes(16)
        return cls.restored(salt, _digest(password, salt))

    @classmethod
    def restored(cls, salt: bytes, digest: bytes) -> KeptPassword:
        kept = cls()
        kept.salt, kept.digest = salt, digest
        return kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and secrets.compare_digest(_digest(other, self.salt), self.digest)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.digest)


@contextmanager
def running(template: Template, folder: Path) -> Iterator[None]:
    """The pool with the people of the folder; the environment names it. moto runs, in this process."""
    cognito = boto3.client("cognito-idp")
    ((_, properties),) = template.of_type("AWS::Cognito::UserPool")
    wanted = ("Policies", "UsernameAttributes", "UsernameConfiguration", "AutoVerifiedAttributes")
    described = {name: template.resolve(properties[name]) for name in (*wanted, "AccountRecoverySetting")}
    definition = cast("CreateUserPoolRequestTypeDef", {"PoolName": "headgate-local", **described})
    pool_id = cognito.create_user_pool(**definition)["UserPool"]["Id"]
    client = cognito.create_user_pool_client(UserPoolId=pool_id, ClientName="headgate-local")
    os.environ["HEADGATE_USER_POOL"] = pool_id
    os.environ["HEADGATE_USER_POOL_CLIENT"] = client["UserPoolClient"]["ClientId"]
    settings.cache_clear()
    people = _People(cognitoidp_backends[ACCOUNT][REGION].user_pools[pool_id], folder)
    people.restore()
    patches = _patches(people)
    originals = {name: getattr(CognitoIdpResponse, name) for name in patches}
    for name, patch in patches.items():
        setattr(CognitoIdpResponse, name, patch(originals[name]))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(CognitoIdpResponse, name, original)


def add_account(email: str, password: str) -> None:
    """An account with a password of its own, and no mail."""
    cognito, pool_id = boto3.client("cognito-idp"), os.environ["HEADGATE_USER_POOL"]
    attributes: list[AttributeTypeTypeDef] = [
        {"Name": "email", "Value": email},
        {"Name": "email_verified", "Value": "true"},
    ]
    cognito.admin_create_user(UserPoolId=pool_id, Username=email, UserAttributes=attributes, MessageAction="SUPPRESS")
    cognito.admin_set_user_password(UserPoolId=pool_id, Username=email, Password=password, Permanent=True)


class _People:
    """The users of the pool, kept in a file, and their mails."""

    def __init__(self, pool: CognitoIdpUserPool, folder: Path) -> None:
        self._pool = pool
        self._file = folder / "people.json"
        self._mails = folder / "mail"
        # moto's server answers each request in a thread of its own.
        self._lock = threading.RLock()

    def restore(self) -> None:
        if not self._file.exists():
            return
        for entry in json.loads(self._file.read_text(encoding="utf-8")):
            user = CognitoIdpUser(self._pool.id, None, None, entry["status"], entry["attributes"])
            user.password = KeptPassword.restored(bytes.fromhex(entry["salt"]), bytes.fromhex(entry["digest"]))
            self._pool.users[user.username] = user

    def keep(self) -> None:
        with self._lock:
            self._keep()

    def _keep(self) -> None:
        entries = []
        for user in list(self._pool.users.values()):
            kept = user.password if isinstance(user.password, KeptPassword) else KeptPassword.of(user.password or "")
            user.password = kept
            entries.append(
                {
                    "status": str(user.status),
                    "attributes": [one for one in user.attributes if one["Name"] != "sub"],
                    "salt": kept.salt.hex(),
                    "digest": kept.digest.hex(),
                }
            )
        _write(self._file, json.dumps(entries))

    def find(self, name: str) -> CognitoIdpUser | None:
        return self._pool._get_user(name)

    def mail(self, kind: str, address: str, code: str, metadata: dict[str, str] | None) -> None:
        """Put the mail that Cognito would send into a file."""
        # Only now: the functions read their settings from the environment.
        from application.mail import Event, handler

        event: Event = {
            "triggerSource": f"CustomMessage_{kind}",
            "request": {
                "usernameParameter": "{username}",
                "codeParameter": "{####}",
                "clientMetadata": metadata or {},
            },
            "response": {},
        }
        told = handler(event, None)["response"]
        # Without one of ours, Cognito's own.
        message = told.get("emailMessage", _OWN_TEXT).replace("{username}", address).replace("{####}", code)
        text = html.unescape(re.sub(r"<[^>]+>", "", message.replace("<br>", "\n")))
        with self._lock:
            self._mails.mkdir(mode=0o700, exist_ok=True)
            path = self._mails / f"{len(list(self._mails.iterdir())) + 1:04d}.txt"
            _write(path, f"To: {address}\nSubject: {told.get('emailSubject', _OWN_SUBJECT)}\n\n{text}")
        print(f"A mail to {address}: {path}", flush=True)


def _patches(people: _People) -> dict[str, Callable[[Method], Method]]:
    """Each takes moto's own method of the pool's API and gives the one to use."""

    def kept(original: Method) -> Method:
        def method(response: CognitoIdpResponse) -> object:
            answer = original(response)
            people.keep()
            return answer

        return method

    def invited(original: Method) -> Method:
        def method(response: CognitoIdpResponse) -> object:
            address, action = response._get_param("Username"), response._get_param("MessageAction")
            # moto makes a second user to send a mail again.
            answer = response.admin_get_user() if action == "RESEND" else original(response)
            if action == "SUPPRESS":
                return answer
            user = people.find(address)
            assert user is not None
            password = secrets.token_urlsafe(9)
            user.password = password
            people.keep()
            people.mail("AdminCreateUser", address, password, response._get_param("ClientMetadata"))
            return answer

        return method

    def code_sent(original: Method) -> Method:
        def method(response: CognitoIdpResponse) -> object:
            answer = original(response)
            address = response._get_param("Username")
            user = people.find(address)
            if user is not None:
                code = f"{secrets.randbelow(10**6):06d}"
                user.confirmation_code = code
                people.mail("ForgotPassword", address, code, response._get_param("ClientMetadata"))
            return answer

        return method

    def code_checked(original: Method) -> Method:
        def method(response: CognitoIdpResponse) -> object:
            user = people.find(response._get_param("Username"))
            if user is None or user.confirmation_code != response._get_param("ConfirmationCode"):
                raise ExpiredCodeException("Invalid code provided, please request a code again.")
            answer = original(response)
            # A code works once.
            user.confirmation_code = None
            people.keep()
            return answer

        return method

    def as_long_for_nobody(original: Method) -> Method:
        def method(response: CognitoIdpResponse) -> object:
            try:
                return original(response)
            except UserNotFoundError:
                _digest(str(response._get_param("AuthParameters").get("PASSWORD")), b"")
                raise

        return method

    return {
        "admin_create_user": invited,
        "admin_set_user_password": kept,
        "admin_respond_to_auth_challenge": kept,
        "admin_initiate_auth": as_long_for_nobody,
        "forgot_password": code_sent,
        "confirm_forgot_password": code_checked,
    }


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, **_SCRYPT)


def _write(path: Path, text: str) -> None:
    """Whole or not at all, for the owner only."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
    unfinished.rename(path)
