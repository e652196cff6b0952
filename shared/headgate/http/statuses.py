"""The status of each error. This does not import the web framework, which the fleet service does without."""

from http import HTTPStatus
from typing import Final

from headgate.foundation import errors

_STATUSES: Final[tuple[tuple[type[errors.HeadgateError], HTTPStatus], ...]] = (
    (errors.BadRequest, HTTPStatus.BAD_REQUEST),
    (errors.Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (errors.Forbidden, HTTPStatus.FORBIDDEN),
    (errors.NotFound, HTTPStatus.NOT_FOUND),
    (errors.Conflict, HTTPStatus.CONFLICT),
    (errors.Gone, HTTPStatus.GONE),
    (errors.PreconditionFailed, HTTPStatus.PRECONDITION_FAILED),
    (errors.TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (errors.Invalid, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.TooManyRequests, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.BadGateway, HTTPStatus.BAD_GATEWAY),
    (errors.Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)


def status_of(error: errors.HeadgateError) -> HTTPStatus:
    """The status that the error is answered with."""
    return next(status for kind, status in _STATUSES if isinstance(error, kind))
