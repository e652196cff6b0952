"""Opens an address to download from."""

import urllib.error
import urllib.parse
import urllib.request
from typing import IO, cast

from building.errors import BuildError

_SECONDS = 60


def open_url(url: str, what: str) -> IO[bytes]:
    """The body at an address, for `with`. Raises BuildError, which names `what` if the address has none.

    The address may come from an environment variable, so its scheme is checked.
    """
    try:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise BuildError(f"{url} is not an address of http or https")
        # S310 warns of file: and other schemes, which the lines above refuse.
        return cast("IO[bytes]", urllib.request.urlopen(url, timeout=_SECONDS))  # noqa: S310  the scheme is http or https
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise BuildError(f"There is no {what} at {url}") from error
        raise BuildError(f"{url} answered {error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        raise BuildError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error
