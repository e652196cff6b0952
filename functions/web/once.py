"""A form is carried out once: a reload, a second click or the way back does not repeat its change.

Each form has a key of its own. Its posted body takes the place of the `Idempotency-Key` that programs send, so that
the same form may be sent again with other fields. What was created is stored as its address only, and no secret.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

from fastapi import Request, Response

from headgate.foundation import clock, errors
from headgate.http import idempotency, replay
from headgate.http.threads import in_thread
from web.visitor import Visitor, posted

SHOWN_AT: Final = "content-location"
"""The header of an answer that shows the outcome of a change itself: the address that shows what remains of it."""
# A second click waits for the first one, less long than a function may run.
_WAITS: Final = 40
_SECONDS: Final = 0.5


class CarriedOut(Exception):
    """The form was carried out before; `path` is the page that shows what it changed, empty if its answer was lost."""

    def __init__(self, path: str) -> None:
        self.path = path


class StillUnderWay(errors.Conflict):
    """The form was sent twice, and the first has not ended."""

    detail = "This form was sent before, and is still being carried out: open its page again in a moment"


async def carry_out(
    request: Request, who: Visitor, handle: Callable[[Request], Coroutine[None, None, Response]]
) -> Response:
    """Carry out the request unless it is a form that was carried out before. Raises CarriedOut, StillUnderWay."""
    if request.method != "POST" or who.session is None or not await _has_key(request, who):
        return await handle(request)
    held = await _claim(request, who.session.id)
    response = await replay.carry_out(held, lambda: handle(request), _outcome)
    if _outcome(response) is None:
        # It changed nothing: it showed a preview, or a refusal.
        await in_thread(idempotency.release, held)
    return response


async def _has_key(request: Request, who: Visitor) -> bool:
    """True for a form of this visitor's own page that has a key; what is wrong with others is for their routes."""
    try:
        return bool((await posted(request, who)).get("form_key"))
    except errors.HeadgateError:
        return False


async def _claim(request: Request, session_id: str) -> idempotency.Claim:
    sent = idempotency.fingerprint(request.method, request.url.path, await request.body())
    for _ in range(_WAITS):
        try:
            match await in_thread(idempotency.claim, session_id, sent, sent, clock.now()):
                case idempotency.Claim() as held:
                    return held
                case idempotency.Created():
                    raise CarriedOut("")
                case Response() as first:
                    raise CarriedOut(first.headers["location"])
        except idempotency.FirstUnderWay:
            await asyncio.sleep(_SECONDS)
    raise StillUnderWay


def _outcome(response: Response) -> Response | None:
    """The part of the answer that is stored: the address of the page that shows the change; None without a change."""
    path = response.headers.get("location" if response.status_code == 303 else SHOWN_AT)
    return Response(status_code=303, headers={"location": path}) if path else None
