"""Refuses what lenient parsers accept: unknown query parameters, and texts that are not Unicode."""

import json
import re
from collections.abc import Set as AbstractSet
from typing import Final

from fastapi import Request
from starlette.exceptions import HTTPException

from headgate.foundation import errors

_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def refuse_odd_query(request: Request, names: AbstractSet[str]) -> None:
    """Raises Invalid for a parameter that is not in `names` or is there twice.

    A misspelt `validate=true` must not be ignored, and a second `validate=false` must not undo it.
    """
    sent = [name for name, _ in request.query_params.multi_items()]
    odd = {name: "Unknown parameter" for name in sent if name not in names}
    odd |= {name: "This parameter is given more than once" for name in sent if name in names and sent.count(name) > 1}
    if odd:
        refusals = [errors.FieldError(("query", name), message) for name, message in odd.items()]
        raise errors.Invalid(errors.first_of(refusals), refusals)


async def refuse_unpaired_surrogates(request: Request) -> None:
    r"""Raises Invalid for JSON with a text that UTF-8 cannot hold, such as `"\ud800"`; storing or logging it fails.

    Raises HTTPException(400) for a body that is not UTF-8. Python's JSON parser accepts UTF-16 as
    well, where the search below would find nothing.
    """
    body = await request.body()
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400) from error
    if b"\0" in body:
        raise HTTPException(400)
    if not _SURROGATE.search(body):
        return
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        message = r"A text holds half of a surrogate pair (\ud800 to \udfff); send the whole character"
        raise errors.InvalidAt(message, at=("body",)) from error
    except (ValueError, RecursionError):
        # The next parser reports it.
        return
