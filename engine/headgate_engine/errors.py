"""Errors of a request, or of the parts that answer it. They are named for the domain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with the input: where it is in the request (`loc`), what it is, and its place in a text.

    `code` is a stable word for what it is, if there is one.
    """

    loc: tuple[str | int, ...]
    message: str
    component_path: str | None = None
    line: int | None = None
    column: int | None = None
    code: str | None = None


def first_of(errors: Sequence[FieldError], total: int | None = None) -> str:
    """The first error after its place: `body.name: This field is required (and 2 more)`."""
    more = (len(errors) if total is None else total) - 1
    where = ".".join(str(part) for part in errors[0].loc)
    return f"{where}: {errors[0].message}{f' (and {more} more)' if more else ''}"


class HeadgateError(Exception):
    """An error to tell the caller of. `code` is a stable word for programs, `detail` a sentence for people.

    A class of which all errors have the same sentence states it, and is raised without one.
    """

    code: ClassVar[str] = "error"
    detail: str = ""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.detail)
        self.detail = detail or self.detail


class NotFound(HeadgateError):
    """The thing does not exist, or the caller may not see it; the answer is the same."""

    code = "not_found"
    field: str = ""
    """The field of the request's body that named it."""

    def named_by(self, field: str) -> None:
        """Add the field of the request's body that named it."""
        self.field = field
        self.detail = f"{field}: {self.detail}"


class TooLarge(HeadgateError):
    """The request body or the sample is over its limit."""

    code = "too_large"


class Invalid(HeadgateError):
    """The input is not acceptable. `errors` names each field and place.

    A class of which all errors are about one place of the request states it, `at`, and is raised without a list.
    """

    code = "invalid"
    at: tuple[str | int, ...] = ()

    def __init__(self, detail: str = "", errors: Sequence[FieldError] = (), *, at: tuple[str | int, ...] = ()) -> None:
        super().__init__(detail)
        at = at or self.at
        self.errors = (FieldError(at, self.detail),) if at and not errors else tuple(errors)


class InvalidAt(Invalid):
    """An error about one place of the request, which its sentence begins with: `body.url: This is not a URL`."""

    def __init__(self, message: str, *, at: tuple[str | int, ...] = ()) -> None:
        wrong = [FieldError(at or self.at, message)]
        super().__init__(first_of(wrong), wrong)


class Unavailable(HeadgateError):
    """A part of this service cannot answer just now. Nothing was saved."""

    code = "unavailable"
    no_fault = False
    """True if the request itself caused this, while the deployment is as it should be."""
    may_pass = True
    """True if the same request may succeed later, without a change of the request or the deployment."""

    def add_consequence(self, consequence: str) -> None:
        """Add what it means for the request and what to do; the code that raised it knows neither."""
        self.detail = f"{self.detail}; {consequence}"


class NotReady(Unavailable):
    """A part of this service is not ready yet. Whatever needs it is answered with this code, whoever asked the part."""

    code = "not_ready"
    no_fault = True

    def __init__(self, detail: str, retry_after: int | None) -> None:
        """`retry_after` is in whole seconds; None if waiting does not help."""
        super().__init__(detail)
        self.retry_after = retry_after
        self.may_pass = retry_after is not None


def not_ready(error: BaseException) -> NotReady | None:
    """The part that was not ready, if that is what the error comes from."""
    cause: BaseException | None = error
    passed: set[int] = set()
    # `raise error from error` makes an error its own cause.
    while cause is not None and not isinstance(cause, NotReady) and id(cause) not in passed:
        passed.add(id(cause))
        cause = cause.__cause__
    return cause if isinstance(cause, NotReady) else None


def code_of(error: HeadgateError) -> str:
    """The code to tell the caller: the error's own, or that of the part that was not ready."""
    return (not_ready(error) or error).code
