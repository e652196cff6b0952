"""What lenient parsers would let pass, refused: query parameters nobody reads, and texts that are not Unicode."""

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

    A misspelt `validate=true` must not pass as none, nor a second `validate=false` undo it.
    """
    given = [name for name, _ in request.query_params.multi_items()]
    odd = {name: "Unknown parameter" for name in given if name not in names}
    odd |= {name: "This parameter is there more than once" for name in given if name in names and given.count(name) > 1}
    if odd:
        found = [errors.FieldError(("query", name), message) for name, message in odd.items()]
        raise errors.Invalid(f"query.{found[0].loc[1]}: {found[0].message}", found)


async def refuse_half_characters(request: Request) -> None:
    r"""Raises Invalid for JSON with a text that UTF-8 cannot hold, such as `"\ud800"`; storing or logging it fails.

    Raises HTTPException(400) for a body that is not UTF-8. Python's JSON parser takes UTF-16 as well, in whose bytes
    nothing here would find such a text.
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
        message = r"A text holds half of a character, one of \ud800 to \udfff without the other half"
        raise errors.Invalid(f"body: {message}", [errors.FieldError(("body",), message)]) from error
    except (ValueError, RecursionError):
        # Whoever parses it next says so.
        return
