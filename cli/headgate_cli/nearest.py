"""The name that a mistyped one may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from headgate_cli.api import PAGE, Api
from headgate_cli.shaped import PlainAnswer


def did_you_mean(typed: str, names: Iterable[str]) -> str:
    """` (did you mean 'edge'?)` for a message; empty if no name is similar. Case does not count."""
    import difflib

    by_folded = {name.casefold(): name for name in names}
    similar = difflib.get_close_matches(typed.casefold(), by_folded, n=1, cutoff=0.7)
    return f" (did you mean {by_folded[similar[0]]!r}?)" if similar else ""


def names_of(api: Api, path: str, field: str) -> list[str]:
    """The names on the first page of a list: those that were changed last, or all of a short one."""
    return [str(entry.get(field) or "") for entry in islice(api.items(PlainAnswer, path), PAGE)]
