"""People: how they sign in, get and change their password, and become known."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from headgate.foundation import clock, errors
from headgate.foundation.ids import new_id
from headgate.identity import attempts, member_store, passwords, proofs, sessions, signing, unanswered
from headgate.identity.model import Caller, NotAuthenticated, Organization, Session, User
from headgate.observability.log import logger

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


def address(text: str) -> str:
    """The address in the form that it is kept in. Raises Invalid for what is none."""
    found = text.strip().lower()
    if len(found) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(found):
        raise passwords.NoAddress
    return found


def sign_in(email: str, password: str, client: str, at: datetime, browser: str = "") -> tuple[Session, str]:
    """A session for a browser, with its value. `client` is the network address of who asks, `browser` a proof that the
    account was signed in there before: its tries count apart from those of strangers.

    The steps are the same whether the address has an account or not. Raises TooManyAttempts, WrongPassword,
    NewPasswordNeeded, Busy.
    """
    known = _known(email)
    pair = f"{known} {client}"
    name = proofs.known_browser(browser, known)
    if name is not None:
        attempts.take(attempts.SIGN_IN_OF_KNOWN_BROWSER, name, at)
    else:
        attempts.take(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, pair, at)
        attempts.take(attempts.SIGN_IN_FROM_ADDRESS, client, at)
        attempts.take(attempts.SIGN_IN_OF_ACCOUNT, known, at)
    challenge = passwords.check(known, password)
    if name is not None:
        attempts.forget(attempts.SIGN_IN_OF_KNOWN_BROWSER, name)
    else:
        attempts.forget(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, pair)
        attempts.give_back(attempts.SIGN_IN_FROM_ADDRESS, client)
        attempts.give_back(attempts.SIGN_IN_OF_ACCOUNT, known)
    if challenge is not None:
        packed = passwords.pack(known, challenge)
        raise NewPasswordNeeded(passwords.encode(signing.sign(_CHALLENGE, packed) + packed))
    return _begin(known, at)


def replace_temporary(challenge: str, password: str, at: datetime) -> tuple[Session, str]:
    """Set the first password of one's own, and sign in. The challenge is good for the address it was made for only.

    Raises WrongPassword when it is no longer open, WeakPassword, TooManyAttempts, Busy.
    """
    try:
        content = passwords.decode(challenge)
        signature, packed = content[:16], content[16:]
        if not signing.verify(_CHALLENGE, packed, signature):
            raise passwords.WrongPassword
        email, of_pool = passwords.unpack(packed)
    except ValueError as error:
        raise passwords.WrongPassword from error
    try:
        passwords.replace_temporary(email, of_pool, password)
    except passwords.WrongPassword:
        # With the challenge of an old page, this tells whether a password is right.
        attempts.take(attempts.NEW_PASSWORD_OF_ACCOUNT, email, at)
        if not _is_set(email, password):
            raise
    return _begin(email, at)


def forgot_password(email: str, client: str, url: str, at: datetime) -> None:
    """Mail a link and a code if the address has an account; the answer is the same if not.

    Asking again soon sends no other mail and is not refused: the last one is good for an hour, whoever asked for it.
    Raises TooManyAttempts for a network address that asks for many, Busy.
    """
    known = _known(email)
    attempts.take(attempts.LOGIN_FROM_ADDRESS, client, at)
    try:
        attempts.take(attempts.RESET_MAIL_OF_ACCOUNT, known, at)
    except attempts.TooManyAttempts:
        return
    link = urlencode({"email": known, "request": proofs.of_mail(known, at)})
    try:
        passwords.send_code(known, url, f"{url}/reset-password?{link}")
    except Exception:
        # Whatever failed, no mail was sent: asking again must send one.
        attempts.forget(attempts.RESET_MAIL_OF_ACCOUNT, known)
        raise


def reset_password(email: str, request: str, code: str, password: str, at: datetime) -> str:
    """Set a new password with a mailed code. Every session of the person ends. `request` is from the link of the mail:
    without it nothing is tried, so that nobody else can use up the tries.

    A code is used up also where the pool's answer got lost, or what comes after it failed. Then the same again does the
    rest; without that, a wrong code with the right password is as wrong as any, and tells nothing of the password.
    Returns a proof for the browser. Raises WrongCode, WeakPassword, TooManyAttempts, Busy.
    """
    known, code = _known(email), code.strip()
    if not proofs.is_of_mail(request, known, at):
        raise passwords.WrongCode
    attempts.take(attempts.CODE_OF_RESET, request, at)
    this = f"reset {known} {code}"
    again = unanswered.begin(this, at)
    try:
        passwords.reset(known, code, password)
    except errors.HeadgateError as refusal:
        again = again or passwords.was_asked_twice(refusal)
        if not (again and isinstance(refusal, passwords.WrongCode) and _is_set(known, password)):
            if not again:
                unanswered.end(this)
            raise
    user = member_store.user_by_email(known)
    if user is not None:
        sessions.end_all(user)
    # The note stays until it expires: of a code that was right, and is used up.
    return proofs.of_browser(known)


def find_or_create(email: str, url: str) -> User:
    """The person with that address. Who is new gets an account, and a mail with `url`."""
    passwords.create(email, url)
    return _find_or_put(email)


def mail_account(email: str, url: str) -> User | None:
    """The person with that address. Who has not chosen a password yet gets a mail with `url` and a temporary one.

    None where the address got so many just now that it gets no other, and nobody has it.
    """
    try:
        attempts.take(attempts.MAIL_OF_ACCOUNT, email, clock.now())
    except attempts.TooManyAttempts:
        # Of whichever organization: who invites learns nothing of what others did.
        return member_store.user_by_email(email)
    try:
        if not passwords.create(email, url) and passwords.is_temporary(email):
            passwords.send_temporary_again(email, url)
    except passwords.Busy as error:
        # Only for an address without a password could that be told.
        logger.error("invitation_not_mailed", reason=str(error.__cause__))
    return _find_or_put(email)


def _find_or_put(email: str) -> User:
    while True:
        user = member_store.user_by_email(email)
        if user is not None:
            return user
        user = User(new_id("usr"), email, clock.now())
        if member_store.put_user(user):
            return user


def user_of(caller: Caller) -> User:
    """Raises NotAuthenticated when the caller is no person."""
    user = member_store.user_by_email(caller.name) if caller.principal.kind == "user" else None
    if user is None:
        raise NotAuthenticated
    return user


def begin_deployment(organization_name: str, email: str, url: str) -> Organization | None:
    """Make the first organization of a deployment, and invite its Admin by mail; None if there is one already."""
    if member_store.has_first_organization():
        return None
    user = find_or_create(address(email), url)
    organization = Organization(new_id("org"), organization_name, clock.now())
    member_store.put_organization(organization, user, "invited", member_store.first_organization_made(organization.id))
    return organization


def _known(email: str) -> str:
    """What was typed as an address, as it is looked up."""
    return email.strip().lower()[:_LONGEST_ADDRESS]


def _is_set(email: str, password: str) -> bool:
    """Whether it is the account's password by now: a code is used up, too, where the pool's answer got lost."""
    try:
        return passwords.check(email, password) is None
    except passwords.WrongPassword:
        return False


def _begin(email: str, at: datetime) -> tuple[Session, str]:
    user = member_store.user_by_email(email)
    if user is None:
        # Known to the pool and not to us: an invitation that was cut off half way.
        raise passwords.WrongPassword
    try:
        session, value = sessions.begin(user, "browser", at)
    except NotAuthenticated as error:
        # The password was changed meanwhile.
        raise passwords.WrongPassword from error
    for membership in member_store.memberships(user.id):
        member_store.activate(membership.organization_id, user.id)
    return session, value
