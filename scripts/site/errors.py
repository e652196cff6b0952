"""The reference of errors, from their classes: each `code` of a problem response with its status and meaning."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final

import headgate
from headgate.foundation.errors import HeadgateError, NotReady
from headgate.http.statuses import status_of
from scripts.site.markdown import code, table

_HEAD: Final = """\
# Errors of the API

An answer with an error is a problem document (RFC 9457): `status`, a `code` for programs, `detail` for people, and
where fields are wrong `errors`, each with its place. [The API](api/index.md) says which statuses an operation has.
Codes may be added; the meaning of one does not change.
"""
# Errors of commands, of sign-in and of the collectors' protocol; the checker's reach callers of the API as others.
_NOT_OF_THE_API: Final = (
    *("headgate.backup", "headgate.checker", "headgate.opamp", "headgate.storage"),
    *(f"headgate.identity.{module}" for module in ("attempts", "logins", "passwords", "people")),
)


def page() -> str:
    """Every code, by status and name."""
    rows = sorted({(int(status), name): meaning for status, name, meaning in _codes()}.items())
    cells = ([str(status), code(name), meaning] for (status, name), meaning in rows)
    return "\n".join([_HEAD, *table(["Status", "Code", "Meaning"], cells)])


def _codes() -> Iterator[tuple[int, str, str]]:
    for walk_package in pkgutil.walk_packages(headgate.__path__, "headgate."):
        importlib.import_module(walk_package.name)
    for kind in _below(HeadgateError):
        if issubclass(kind, NotReady) or not kind.__module__.startswith(_NOT_OF_THE_API):
            yield status_of(kind.__new__(kind)), kind.code, _meaning(kind)


def _below(kind: type[HeadgateError]) -> Iterator[type[HeadgateError]]:
    """Subclasses, the deepest first, so that the kind that introduced a code has the last word."""
    for entry in kind.__subclasses__():
        yield from _below(entry)
        yield entry


def _meaning(kind: type[HeadgateError]) -> str:
    """The first line of the first docstring."""
    return next(entry.__doc__ for entry in kind.__mro__ if entry.__doc__).strip().partition("\n")[0]
