"""Pages of the installed collector versions."""

from headgate.checker import Asker
from headgate.storage.page import Slice
from headgate_engine.collector import by_age
from headgate_engine.collectors import service as collectors
from headgate_engine.collectors.model import InstalledVersion


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
