"""The template's user pool in moto, with people that survive a restart and mails that can be read.

moto sends no mails, accepts nearly any code for a new password, and loses its users when it ends. Here the mails are
files under `mail/`, the code must be the one in the mail, and people are saved in `people.json` with a hash of their
password. tests/contract/test_cognito.py fails if an upgrade of moto changes what this module patches.
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

from moto.cognitoidp.exceptions import ExpiredCodeException, UserNotFoundError
from moto.cognitoidp.models import CognitoIdpUser, CognitoIdpUserPool, cognitoidp_backends
from moto.cognitoidp.responses import CognitoIdpResponse

from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_local import private_files
from headgate_local.moto_data import ACCOUNT, REGION
from headgate_local.patching import Patch, patched
from headgate_local.template import Template

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp.type_defs import AttributeTypeTypeDef, CreateUserPoolRequestTypeDef

_OWN_SUBJECT: Final = "Your temporary password"
_OWN_TEXT: Final = "Your username is {username} and temporary password is {####}."
_SCRYPT: Final = {"n": 2**12, "r": 8, "p": 1}


Method = Callable[[CognitoIdpResponse], object]
Replacement = Callable[[Method, CognitoIdpResponse], object]
"""Answers in place of a method of moto, which it is given."""


class HashedPassword(str):
    """The hash of a password that moto compares with a password: it equals the password without containing it."""

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, password: str) -> HashedPassword:
        salt = secrets.token_bytes(16)
        return cls.restored(salt, _digest(password, salt))

    @classmethod
    def restored(cls, salt: bytes, digest: bytes) -> HashedPassword:
        hashed = cls()
        hashed.salt, hashed.digest = salt, digest
        return hashed

    def __eq__(self, password: object) -> bool:
        return isinstance(password, str) and secrets.compare_digest(_digest(password, self.salt), self.digest)

    def __ne__(self, password: object) -> bool:
        return not self == password

    def __hash__(self) -> int:
        return hash(self.digest)


@contextmanager
def running(template: Template, folder: Path) -> Iterator[None]:
    """The pool with the people of the folder; the environment names the pool. moto runs in this process."""
    cognito = aws.cognito()
    ((_, properties),) = template.of_type("AWS::Cognito::UserPool")
    requested = ("Policies", "UsernameAttributes", "UsernameConfiguration", "AutoVerifiedAttributes")
    described = {name: template.resolve(properties[name]) for name in (*requested, "AccountRecoverySetting")}
    definition = cast("CreateUserPoolRequestTypeDef", {"PoolName": "headgate-local", **described})
    pool_id = cognito.create_user_pool(**definition)["UserPool"]["Id"]
    client = cognito.create_user_pool_client(UserPoolId=pool_id, ClientName="headgate-local")
    os.environ["HEADGATE_USER_POOL"] = pool_id
    os.environ["HEADGATE_USER_POOL_CLIENT"] = client["UserPoolClient"]["ClientId"]
    settings.cache_clear()
    people = _People(cognitoidp_backends[ACCOUNT][REGION].user_pools[pool_id], folder)
    people.restore()
    with patched([_patch(name, replacement) for name, replacement in _replacements(people).items()]):
        yield


def _patch(name: str, replacement: Replacement) -> Patch:
    original: Method = getattr(CognitoIdpResponse, name)
    return CognitoIdpResponse, name, lambda response: replacement(original, response)


def add_account(email: str, password: str) -> None:
    """Create an account with a final password, without a mail."""
    cognito, pool_id = aws.cognito(), os.environ["HEADGATE_USER_POOL"]
    attributes: list[AttributeTypeTypeDef] = [
        {"Name": "email", "Value": email},
        {"Name": "email_verified", "Value": "true"},
    ]
    cognito.admin_create_user(UserPoolId=pool_id, Username=email, UserAttributes=attributes, MessageAction="SUPPRESS")
    cognito.admin_set_user_password(UserPoolId=pool_id, Username=email, Password=password, Permanent=True)


class _People:
    """The users of the pool, saved in a file, and their mails."""

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
            user.password = HashedPassword.restored(bytes.fromhex(entry["salt"]), bytes.fromhex(entry["digest"]))
            self._pool.users[user.username] = user

    def save(self) -> None:
        with self._lock:
            self._save()

    def _save(self) -> None:
        entries = []
        for user in list(self._pool.users.values()):
            if not isinstance(user.password, HashedPassword):
                user.password = HashedPassword.of(user.password or "")
            hashed = user.password
            entries.append(
                {
                    "status": str(user.status),
                    "attributes": [attribute for attribute in user.attributes if attribute["Name"] != "sub"],
                    "salt": hashed.salt.hex(),
                    "digest": hashed.digest.hex(),
                }
            )
        private_files.write(self._file, json.dumps(entries))

    def find(self, name: str) -> CognitoIdpUser | None:
        return self._pool._get_user(name)

    def mail(self, kind: str, address: str, code: str, metadata: dict[str, str] | None) -> None:
        """Write the mail that Cognito would send to a file."""
        # Only now: the functions read their settings from the environment.
        from application.mail import MailEvent, handler

        event: MailEvent = {
            "triggerSource": f"CustomMessage_{kind}",
            "request": {
                "usernameParameter": "{username}",
                "codeParameter": "{####}",
                "clientMetadata": metadata or {},
            },
            "response": {},
        }
        mail = handler(event, None)["response"]
        # Cognito has a text of its own, if the handler gives none.
        message = mail.get("emailMessage", _OWN_TEXT).replace("{username}", address).replace("{####}", code)
        text = html.unescape(re.sub(r"<[^<>]+>", "", message.replace("<br>", "\n")))
        with self._lock:
            self._mails.mkdir(mode=0o700, exist_ok=True)
            path = self._mails / f"{len(list(self._mails.iterdir())) + 1:04d}.txt"
            private_files.write(path, f"To: {address}\nSubject: {mail.get('emailSubject', _OWN_SUBJECT)}\n\n{text}")
        print(f"A mail to {address}: {path}", flush=True)


def _replacements(people: _People) -> dict[str, Replacement]:
    """For each name of moto's methods, what answers in its place."""

    def saved(original: Method, response: CognitoIdpResponse) -> object:
        answer = original(response)
        people.save()
        return answer

    def invited(original: Method, response: CognitoIdpResponse) -> object:
        address, action = response._get_param("Username"), response._get_param("MessageAction")
        # To send a mail again, moto would create a second user.
        answer = response.admin_get_user() if action == "RESEND" else original(response)
        if action == "SUPPRESS":
            return answer
        user = people.find(address)
        assert user is not None
        password = secrets.token_urlsafe(9)
        user.password = password
        people.save()
        people.mail("AdminCreateUser", address, password, response._get_param("ClientMetadata"))
        return answer

    def code_sent(original: Method, response: CognitoIdpResponse) -> object:
        answer = original(response)
        address = response._get_param("Username")
        user = people.find(address)
        if user is not None:
            code = f"{secrets.randbelow(10**6):06d}"
            user.confirmation_code = code
            people.mail("ForgotPassword", address, code, response._get_param("ClientMetadata"))
        return answer

    def code_checked(original: Method, response: CognitoIdpResponse) -> object:
        user = people.find(response._get_param("Username"))
        if user is None or user.confirmation_code != response._get_param("ConfirmationCode"):
            raise ExpiredCodeException("Invalid code provided, please request a code again.")
        answer = original(response)
        # A code works once.
        user.confirmation_code = None
        people.save()
        return answer

    def equally_slow_for_unknown_users(original: Method, response: CognitoIdpResponse) -> object:
        try:
            return original(response)
        except UserNotFoundError:
            _digest(str(response._get_param("AuthParameters").get("PASSWORD")), b"")
            raise

    return {
        "admin_create_user": invited,
        "admin_set_user_password": saved,
        "admin_respond_to_auth_challenge": saved,
        "admin_initiate_auth": equally_slow_for_unknown_users,
        "forgot_password": code_sent,
        "confirm_forgot_password": code_checked,
    }


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, **_SCRYPT)
