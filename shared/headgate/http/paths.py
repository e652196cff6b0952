"""The first segments of the APIs' paths."""

from typing import Final

PUBLIC: Final = "/api/v1/public"
APPLICATION: Final = "/api/v1/app"
BROWSER: Final = f"{APPLICATION}/public"
"""The public API for the pages of the console, by the session cookie."""
