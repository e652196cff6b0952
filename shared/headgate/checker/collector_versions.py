"""Pages of the installed collector versions, and the nearest one of them."""

import re
from typing import Final

from headgate.checker import Asker
from headgate.foundation.page import Slice
from headgate_engine.collector import by_age
from headgate_engine.collectors import service as collectors
from headgate_engine.collectors.model import InstalledVersion

_VERSION: Final = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


def listed(limit: int, after: str | None, *, asker: Asker) -> Slice[InstalledVersion]:
    """Up to `limit` installed versions, newest first, older than the version `after`.

    A version whose binary cannot be used is among them. Raises Unavailable if the collectors could not be asked, and
    NotInstalled if the default one is not there: nothing can be checked then.
    """
    entries = collectors.installed(asker=asker)
    if after is not None:
        entries = [entry for entry in entries if by_age(entry.version) < by_age(after)]
    page = entries[:limit]
    return Slice(page, page[-1].version if len(entries) > limit else None)


def nearest(version: str | None, *, asker: Asker) -> str:
    """The installed version nearest to one, which is that one if it is installed; the default one for none.

    Raises Unavailable.
    """
    number = _VERSION.match(version or "")
    if number is None:
        return asker.default_version
    place = [int(part) for part in number.groups()]

    def distance(installed: str) -> list[int]:
        return [abs(int(part) - near) for part, near in zip(installed.split("."), place, strict=True)]

    known = [installed for installed in asker.collectors.installed(asker=asker) if _VERSION.fullmatch(installed)]
    return min(reversed(known), key=distance) if known else asker.default_version
