"""People: how they sign in, get and change their password, and become known."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from headgate import clock, errors
from headgate.identity import attempts, member_store, passwords, service, sessions, unanswered
from headgate.identity.model import Caller, NotAuthenticated, Organization, Session, User
from headgate.ids import new_id

_ADDRESS: Final = re.compile(r"[^@\s<>\"']{1,64}@[^@\s<>\"']+\.[^@\s<>\"'.]+")
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


def sign_in(email: str, password: str, client: str, at: datetime) -> tuple[Session, str]:
    """A session for a browser, with its value. `client` is the network address of who asks.

    The steps are the same whether the address has an account or not. Raises TooManyAttempts, WrongPassword,
    NewPasswordNeeded, Busy.
    """
    known = email.strip().lower()[:_LONGEST_ADDRESS]
    pair = f"{known} {client}"
    attempts.take(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, pair, at)
    attempts.take(attempts.SIGN_IN_FROM_ADDRESS, client, at)
    challenge = passwords.check(known, password)
    attempts.forget(attempts.SIGN_IN_OF_ADDRESS_AND_ACCOUNT, pair)
    attempts.give_back(attempts.SIGN_IN_FROM_ADDRESS, client)
    if challenge is not None:
        packed = passwords.pack(known, challenge)
        raise NewPasswordNeeded(passwords.encode(service.sign(_CHALLENGE, packed) + packed))
    return _begin(known, at)


def replace_temporary(challenge: str, password: str, at: datetime) -> tuple[Session, str]:
    """Set the first password of one's own, and sign in. The challenge is good for the address it was made for only.

    Raises WrongPassword when it is no longer open, WeakPassword, TooManyAttempts, Busy.
    """
    try:
        content = passwords.decode(challenge)
        signature, packed = content[:16], content[16:]
        if not service.signed(_CHALLENGE, packed, signature):
            raise passwords.WrongPassword
        email, of_pool = passwords.unpack(packed)
    except ValueError as error:
        raise passwords.WrongPassword from error
    try:
        passwords.replace_temporary(email, of_pool, password)
    except passwords.WrongPassword:
        # With the challenge of an old page, this tells whether a password is right.
        attempts.take(attempts.CODE_OF_ACCOUNT, email, at)
        if not _is_set(email, password):
            raise
    return _begin(email, at)


def forgot_password(email: str, client: str, url: str, at: datetime) -> None:
    """Mail a code if the address has an account; the answer is the same if not. Raises TooManyAttempts, Busy."""
    known = email.strip().lower()[:_LONGEST_ADDRESS]
    attempts.take(attempts.RESET_OF_ACCOUNT, known, at)
    attempts.take(attempts.LOGIN_FROM_ADDRESS, client, at)
    passwords.send_code(known, url)


def reset_password(email: str, code: str, password: str, at: datetime) -> None:
    """Set a new password with a mailed code. Every session of the person ends. Raises WrongCode, WeakPassword, Busy.

    A code is used up also where the pool's answer got lost, or what comes after it failed. Then the same again does the
    rest; without that, a wrong code with the right password is as wrong as any, and tells nothing of the password.
    """
    known, code = email.strip().lower()[:_LONGEST_ADDRESS], code.strip()
    attempts.take(attempts.CODE_OF_ACCOUNT, known, at)
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


def find_or_create(email: str, url: str) -> tuple[User, bool]:
    """The person with that address, and whether they have chosen a password. Who is new gets a mail with `url`."""
    created = passwords.create(email, url)
    while True:
        user = member_store.user_by_email(email)
        if user is not None:
            return user, not created and not passwords.is_temporary(email)
        user = User(new_id("usr"), email, clock.now())
        if member_store.put_user(user):
            return user, not created and not passwords.is_temporary(email)


def send_invitation_again(user: User, url: str) -> None:
    passwords.send_temporary_again(user.email, url)


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
    user, _ = find_or_create(address(email), url)
    organization = Organization(new_id("org"), organization_name, clock.now())
    member_store.put_organization(organization, user, "invited", member_store.first_organization_made(organization.id))
    return organization


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
