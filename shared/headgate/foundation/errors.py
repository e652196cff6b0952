"""The kinds of errors, named for the domain. `headgate.http.statuses` alone knows their status codes."""

from collections.abc import Sequence

from headgate_engine.errors import FieldError as FieldError
from headgate_engine.errors import HeadgateError as HeadgateError
from headgate_engine.errors import Invalid as Invalid
from headgate_engine.errors import InvalidAt as InvalidAt
from headgate_engine.errors import NotFound as NotFound
from headgate_engine.errors import NotReady as NotReady
from headgate_engine.errors import TooLarge as TooLarge
from headgate_engine.errors import Unavailable as Unavailable
from headgate_engine.errors import code_of as code_of
from headgate_engine.errors import first_of as first_of
from headgate_engine.errors import not_ready as not_ready


class BadRequest(HeadgateError):
    """The request cannot be understood, before its body is looked at."""

    code = "bad_request"


class Unauthenticated(HeadgateError):
    """The credential is missing, malformed, revoked or expired; which of them is not told."""

    code = "unauthenticated"


class Forbidden(HeadgateError):
    """The caller is known and may not do this."""

    code = "forbidden"


class Gone(HeadgateError):
    """The thing existed, and will not exist again."""

    code = "gone"


class Conflict(HeadgateError):
    """The state of the thing does not allow the change. `errors` lists what stands against it, if there is a list."""

    code = "conflict"
    errors: Sequence[FieldError] = ()


class PreconditionFailed(HeadgateError):
    """`If-Match` names another state than the current one."""

    code = "precondition_failed"


class TooManyRequests(HeadgateError):
    """The credential is over its limit; `retry_after` is in whole seconds."""

    code = "rate_limited"

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class BadGateway(HeadgateError):
    """Another service that this one asks could not be reached."""

    code = "bad_gateway"


class Contention(Unavailable):
    """The change lost the race for an item again and again until its time was up; repeating the request helps."""

    code = "contention"
    no_fault = True
