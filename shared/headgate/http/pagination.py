"""Lists in pages: `limit`, and a signed cursor that is valid for one caller and one list."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeVar

from fastapi import Depends, Query, Request
from pydantic import BaseModel, BeforeValidator, Field

from headgate.foundation import errors
from headgate.foundation.page import Slice
from headgate.http.credentials import Reader
from headgate.http.parameters import whole_number
from headgate.identity import signing

_SIGNATURE_LENGTH: Final = 16

PageSize = Annotated[int, Field(ge=1, le=100)]
Entry = TypeVar("Entry")
Shown = TypeVar("Shown", bound=BaseModel)


class Page(BaseModel, Generic[Shown]):
    """One page of a list; `next_cursor` is null on the last one."""

    items: list[Shown]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A requested page: its limit and position. `scope` names the list and the caller that a cursor is valid for."""

    limit: int
    after: str | None
    scope: str

    def page(self, entries: Slice[Entry], show: Callable[[Entry], Shown]) -> Page[Shown]:
        return Page(items=[show(entry) for entry in entries.entries], next_cursor=self.cursor(entries))

    def cursor(self, entries: Slice[Entry]) -> str | None:
        """The cursor of the next page, None on the last one."""
        return None if entries.position is None else issue(entries.position, self.scope)


async def page_request(
    request: Request,
    caller: Reader,
    limit: Annotated[PageSize, BeforeValidator(whole_number), Query(description="Entries a page")] = 50,
    cursor: Annotated[str | None, Query(max_length=2_000, description="`next_cursor` of the page before")] = None,
) -> PageRequest:
    """Raises Invalid for a cursor that was not issued for this list and caller."""
    scope = f"{caller.organization_id} {caller.principal.id} {request.url.path}"
    return PageRequest(limit, None if cursor is None else position_of(cursor, scope), scope)


Paging = Annotated[PageRequest, Depends(page_request)]


def issue(position: str, scope: str) -> str:
    """The cursor of a position, valid for `scope` only."""
    signature = signing.sign("cursor", f"{scope}\0{position}".encode())
    return base64.urlsafe_b64encode(signature + position.encode()).decode().rstrip("=")


def position_of(cursor: str, scope: str) -> str:
    """The position of a cursor that `issue` made. Raises Invalid for any other text."""
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        signature, position = content[:_SIGNATURE_LENGTH], content[_SIGNATURE_LENGTH:].decode()
        issued = signing.verify("cursor", f"{scope}\0{position}".encode(), signature)
    except (binascii.Error, ValueError):
        issued, position = False, ""
    if not issued:
        raise errors.InvalidAt("This cursor was not issued for this list; start without one", at=("query", "cursor"))
    return position
