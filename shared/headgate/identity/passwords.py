"""The user pool, which alone knows passwords.

Its many errors become few here, none of which tells whether an address has an account.
"""

from __future__ import annotations

from typing import Final, NoReturn

from botocore.exceptions import ClientError, ParamValidationError

from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.storage import aws

# Answered alike: a wrong password, an unknown address, a disabled account, an expired temporary password.
_REFUSED: Final = (
    "NotAuthorizedException",
    "UserNotFoundException",
    "UserNotConfirmedException",
    "PasswordResetRequiredException",
    "ResourceNotFoundException",
    "InvalidParameterException",
)
_BAD_CODE: Final = (*_REFUSED, "CodeMismatchException", "ExpiredCodeException")
# The shortest is the user pool's in template.yaml too; the longest is Cognito's own.
SHORTEST: Final = 12
LONGEST: Final = 256
_BUSY: Final = ("TooManyRequestsException", "LimitExceededException", "TooManyFailedAttemptsException")


class WrongPassword(errors.Forbidden):
    """One wording for every cause."""

    code = "wrong_password"
    detail = "Wrong email address or password"


class WrongCode(errors.Invalid):
    """One wording for every cause."""

    code = "wrong_code"
    detail = "This code is not valid for this address, or has expired; ask for a new one"


class WeakPassword(errors.Invalid):
    code = "weak_password"
    detail = f"A password needs at least {SHORTEST} characters, and at most {LONGEST}"


class NotAnAddress(errors.Invalid):
    code = "invalid_email"
    detail = "This is not an email address"
    at = ("body", "email")


class Busy(errors.TooManyRequests):
    """The user pool's own limits."""

    def __init__(self) -> None:
        super().__init__("Too many attempts; wait a while and try again", retry_after=60)


def check(email: str, password: str) -> str | None:
    """None if the password is right; for a temporary one, the challenge that `replace_temporary` answers.

    Raises WrongPassword, Busy.
    """
    try:
        answer = aws.cognito().admin_initiate_auth(
            UserPoolId=settings().user_pool_id,
            ClientId=settings().user_pool_client_id,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": password},
        )
    except ClientError as error:
        _refuse(error, _REFUSED, WrongPassword())
    return answer["Session"] if answer.get("ChallengeName") == "NEW_PASSWORD_REQUIRED" else None


def replace_temporary(email: str, challenge: str, password: str) -> None:
    """Set the first password of an account. Raises WeakPassword, WrongPassword if the challenge is closed, Busy."""
    _require_good(password)
    try:
        aws.cognito().admin_respond_to_auth_challenge(
            UserPoolId=settings().user_pool_id,
            ClientId=settings().user_pool_client_id,
            ChallengeName="NEW_PASSWORD_REQUIRED",
            ChallengeResponses={"USERNAME": email, "NEW_PASSWORD": password},
            Session=challenge,
        )
    except ClientError as error:
        _refuse(error, (*_REFUSED, "CodeMismatchException"), WrongPassword())


def send_code(email: str, url: str, link: str) -> None:
    """Mail a code for a new password, and the `link` to enter it at, if the address has an account.

    Nothing tells whether it has one. If the pool sends no more codes for an account now, the last one stays valid.
    Raises Busy.
    """
    try:
        aws.cognito().forgot_password(
            ClientId=settings().user_pool_client_id, Username=email, ClientMetadata={"url": url, "link": link}
        )
    except ParamValidationError:
        # boto3 itself refuses what is empty. It is not a fault of the pool, which would raise an alarm.
        return
    except ClientError as error:
        if error.response["Error"]["Code"] not in (*_REFUSED, "LimitExceededException"):
            _refuse(error, (), WrongPassword())


def reset(email: str, code: str, password: str) -> None:
    """Set a new password with a mailed code. Raises WrongCode, WeakPassword, Busy."""
    _require_good(password)
    try:
        aws.cognito().confirm_forgot_password(
            ClientId=settings().user_pool_client_id, Username=email, ConfirmationCode=code, Password=password
        )
    except ParamValidationError as error:
        raise WrongCode from error
    except ClientError as error:
        _refuse(error, _BAD_CODE, WrongCode())


def was_asked_twice(refusal: errors.HeadgateError) -> bool:
    """True if boto3 repeated the call: the pool may have carried out the first one and refused the second."""
    cause = refusal.__cause__
    return isinstance(cause, ClientError) and cause.response["ResponseMetadata"]["RetryAttempts"] > 0


def create(email: str, url: str) -> bool:
    """Create an account, and mail a temporary password with `url` to sign in at. False if there was one.

    Raises Invalid for an address that the user pool does not take, Busy.
    """
    try:
        aws.cognito().admin_create_user(
            UserPoolId=settings().user_pool_id,
            Username=email,
            UserAttributes=[{"Name": "email", "Value": email}, {"Name": "email_verified", "Value": "true"}],
            DesiredDeliveryMediums=["EMAIL"],
            ClientMetadata={"url": url},
        )
    except ClientError as error:
        match error.response["Error"]["Code"]:
            case "UsernameExistsException":
                return False
            case "InvalidParameterException":
                raise NotAnAddress from error
        _not_mailed(error)
    return True


def send_temporary_again(email: str, url: str) -> None:
    """Mail another temporary password. Raises Busy."""
    try:
        aws.cognito().admin_create_user(
            UserPoolId=settings().user_pool_id,
            Username=email,
            MessageAction="RESEND",
            DesiredDeliveryMediums=["EMAIL"],
            ClientMetadata={"url": url},
        )
    except ClientError as error:
        _not_mailed(error)


def is_temporary(email: str) -> bool:
    """True if the account still has its first, mailed password."""
    answer = aws.cognito().admin_get_user(UserPoolId=settings().user_pool_id, Username=email)
    return answer["UserStatus"] == "FORCE_CHANGE_PASSWORD"


def has_account(email: str) -> bool:
    """True if the user pool knows the address."""
    try:
        aws.cognito().admin_get_user(UserPoolId=settings().user_pool_id, Username=email)
    except ClientError as error:
        if error.response["Error"]["Code"] == "UserNotFoundException":
            return False
        raise
    return True


def _require_good(password: str) -> None:
    if not SHORTEST <= len(password) <= LONGEST:
        raise WeakPassword


def _not_mailed(error: ClientError) -> NoReturn:
    """Raise Busy if no mail was sent, for the pool has a limit of mails a day; any other error as it is."""
    if error.response["Error"]["Code"] in (*_BUSY, "CodeDeliveryFailureException"):
        raise Busy from error
    raise error


def _refuse(error: ClientError, expected: tuple[str, ...], answer: errors.HeadgateError) -> NoReturn:
    """Raise `answer` for an error of the user pool that is an expected one; what is not known as it is."""
    code = error.response["Error"]["Code"]
    if code == "InvalidPasswordException":
        raise WeakPassword from error
    if code in _BUSY:
        raise Busy from error
    if code in expected:
        raise answer from error
    raise error
