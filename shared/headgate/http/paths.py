"""Where the APIs begin."""

from typing import Final

PUBLIC: Final = "/api/v1/public"
APPLICATION: Final = "/api/v1/app"
