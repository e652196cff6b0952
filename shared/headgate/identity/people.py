"""People: how they sign in, get and change their password, and become known."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.log import logger
from headgate.identity import attempts, member_store, passwords, proofs, sessions, signing
from headgate.identity.model import NotAuthenticated, Organization, Session, User
from headgate.storage.retry import retried

# Cognito puts an address into a mail as it is: nothing that opens a tag or ends an attribute, no control characters.
_ADDRESS: Final = re.compile(r"[^@\s<>\"'\x00-\x1f\x7f]{1,64}@[^@\s<>\"'\x00-\x1f\x7f]+\.[^@\s<>\"'\x00-\x1f\x7f.]+")
_LONGEST_ADDRESS: Final = 254
_CHALLENGE: Final = "new-password"


class NewPasswordNeeded(errors.Forbidden):
    """The password is right, and temporary. `challenge` goes back with the new one."""

    code = "new_password_needed"

    def __init__(self, challenge: str) -> None:
        super().__init__("Choose a password of your own")
        self.challenge = challenge


def parse_address(text: str) -> str:
    """The address in the form in which it is stored. Raises Invalid if the text is not an address."""
    normalized = text.strip().lower()
    if len(normalized) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(normalized):
        raise passwords.NotAnAddress
    return normalized


def sign_in(email: str, password: str, client: str, at: datetime, browser: str = "") -> tuple[Session, str]:
    """A session for a browser, with its value.

    `client` is the network address of the request, `browser` a proof that the account was signed in there before, whose
    attempts are counted apart from those of strangers. The steps are the same whether the address has an account or
    not. Raises TooManyAttempts, WrongPassword, NewPasswordNeeded, Busy.
    """
    address = _normalized(email)
    name = proofs.known_browser(browser, address)
    if name is not None:
        attempts.take(attempts.SIGN_IN_OF_KNOWN_BROWSER, name, at)
    else:
        attempts.take(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, f"{address} {client}", at)
        attempts.take(attempts.SIGN_IN_FROM_ADDRESS, client, at)
        attempts.take(attempts.SIGN_IN_OF_ACCOUNT, address, at)
    challenge = passwords.check(address, password)
    if name is not None:
        attempts.forget(attempts.SIGN_IN_OF_KNOWN_BROWSER, name)
    else:
        attempts.forget(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, f"{address} {client}")
        attempts.give_back(attempts.SIGN_IN_FROM_ADDRESS, client)
        attempts.give_back(attempts.SIGN_IN_OF_ACCOUNT, address)
    if challenge is not None:
        raise NewPasswordNeeded(_signed_challenge(address, challenge))
    return _begin(address, at)


def replace_temporary(challenge: str, password: str, at: datetime) -> tuple[Session, str]:
    """Set the first password that the person chooses, and sign in. The challenge is valid for its own address alone.

    Raises WrongPassword if it is no longer open, WeakPassword, TooManyAttempts, Busy.
    """
    email, of_pool = _parse_challenge(challenge)
    try:
        passwords.replace_temporary(email, of_pool, password)
    except passwords.WrongPassword:
        # With the challenge of an old page, this tells whether a password is right.
        attempts.take(attempts.NEW_PASSWORD_OF_ACCOUNT, email, at)
        if not _is_set(email, password):
            raise
    return _begin(email, at)


def _signed_challenge(email: str, challenge: str) -> str:
    """The user pool's challenge, bound to the address."""
    content = json.dumps([email, challenge]).encode()
    return signing.encode(signing.sign(_CHALLENGE, content) + content)


def _parse_challenge(text: str) -> tuple[str, str]:
    """Address and challenge. Raises WrongPassword if `_signed_challenge` did not make the text."""
    try:
        decoded = signing.decode(text)
    except ValueError as error:
        raise passwords.WrongPassword from error
    signature, content = decoded[:16], decoded[16:]
    if not signing.verify(_CHALLENGE, content, signature):
        raise passwords.WrongPassword
    email, challenge = json.loads(content)
    return email, challenge


def forgot_password(email: str, client: str, url: str, at: datetime) -> None:
    """Mail a link and a code if the address has an account; the answer is the same if not.

    Asking again soon sends no other mail and is not refused: the last one is valid for an hour, whoever asked for it.
    Raises TooManyAttempts for a network address that asks for many, Busy.
    """
    address = _normalized(email)
    attempts.take(attempts.LOGIN_FROM_ADDRESS, client, at)
    try:
        attempts.take(attempts.RESET_MAIL_OF_ACCOUNT, address, at)
    except attempts.TooManyAttempts:
        return
    link = urlencode({"email": address, "request": proofs.of_mail(address, at)})
    try:
        passwords.send_code(address, url, f"{url}/reset-password?{link}")
    except Exception:
        # No mail was sent: asking again must send one.
        attempts.forget(attempts.RESET_MAIL_OF_ACCOUNT, address)
        raise


def reset_password(email: str, request: str, code: str, password: str, at: datetime) -> str:
    """Set a new password with a mailed code, and end every session of the person. Returns a proof for the browser.

    `request` is from the link of the mail: without it nothing is tried, so that nobody else can use up the attempts.

    The user pool uses a code up even if its answer is lost, or if ending the sessions fails. Then repeating the request
    does the rest. Without an earlier request, a wrong code is refused even if the password is the right one, so the
    answer tells nothing about passwords. Raises WrongCode, WeakPassword, TooManyAttempts, Busy.
    """
    address, code = _normalized(email), code.strip()
    if not proofs.is_of_mail(request, address, at):
        raise passwords.WrongCode
    attempts.take(attempts.CODE_OF_RESET, request, at)
    # Signed: a plain hash of six digits would tell them to whoever reads the table and tries them all.
    same = signing.sign("reset-code", f"{address} {code}".encode()).hex()
    repeated = attempts.take(attempts.SAME_CODE_OF_RESET, same, at) > 1
    try:
        passwords.reset(address, code, password)
    except errors.HeadgateError as refusal:
        used_up = repeated or passwords.was_asked_twice(refusal)
        if not (used_up and isinstance(refusal, passwords.WrongCode) and _is_set(address, password)):
            if not repeated:
                attempts.forget(attempts.SAME_CODE_OF_RESET, same)
            raise
    user = member_store.user_by_email(address)
    if user is not None:
        sessions.end_all(user)
    return proofs.of_browser(address)


def find_or_create(email: str, url: str) -> User:
    """The person with that address. A new one gets an account, and a mail with `url`."""
    passwords.create(email, url)
    return _find_or_put(email)


def mail_account(email: str, url: str) -> User | None:
    """The person with that address. Until they have chosen a password, they get a temporary one by mail with `url`.

    None if the address got too many mails just now to get another one, and nobody has it.
    """
    try:
        attempts.take(attempts.MAIL_OF_ACCOUNT, email, clock.now())
    except attempts.TooManyAttempts:
        # Whichever organization asked for them: the inviter learns nothing of what others did.
        return member_store.user_by_email(email)
    try:
        if not passwords.create(email, url) and passwords.is_temporary(email):
            passwords.send_temporary_again(email, url)
    except passwords.Busy as error:
        # Not told to the inviter: it happens only for an address without a password.
        logger.error("invitation_not_mailed", reason=str(error.__cause__))
    return _find_or_put(email)


@retried
def _find_or_put(email: str) -> User:
    user = member_store.user_by_email(email)
    if user is None:
        user = User(new_id("usr"), email, clock.now())
        member_store.put_user(user)
    return user


def user_of(caller: Caller) -> User:
    """Raises NotAuthenticated if the caller is a service account."""
    user = member_store.user_by_email(caller.name) if caller.principal.kind == "user" else None
    if user is None:
        raise NotAuthenticated
    return user


def begin_deployment(organization_name: str, email: str, url: str) -> Organization | None:
    """Create the first organization of a deployment, and invite its Admin by mail; None if there is one already."""
    if member_store.has_first_organization():
        return None
    user = find_or_create(parse_address(email), url)
    organization = Organization(new_id("org"), organization_name, clock.now())
    member_store.put_organization(organization, user, "invited", member_store.first_organization(organization.id))
    return organization


def _normalized(email: str) -> str:
    """Normalize a typed address for the look-up."""
    return email.strip().lower()[:_LONGEST_ADDRESS]


def _is_set(email: str, password: str) -> bool:
    """True if the account has this password by now."""
    try:
        return passwords.check(email, password) is None
    except passwords.WrongPassword:
        return False


def _begin(email: str, at: datetime) -> tuple[Session, str]:
    user = member_store.user_by_email(email)
    if user is None:
        # Known to the user pool and not to us: an invitation that was cut off half way.
        raise passwords.WrongPassword
    try:
        session, value = sessions.begin(user, "browser", at)
    except NotAuthenticated as error:
        # The password was changed meanwhile.
        raise passwords.WrongPassword from error
    for membership in member_store.memberships(user.id):
        member_store.activate(membership.organization_id, user.id)
    return session, value
