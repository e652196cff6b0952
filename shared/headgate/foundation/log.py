"""The one structured logger. Events with fields; never a configuration, a sample, a credential or an `env` value."""

import logging
from typing import Final

from aws_lambda_powertools import Logger

logger: Final = Logger(service="headgate", use_rfc3339=True, utc=True)
# Writes what the library says as the service's own events, with the fields of `extra`.
_LIBRARY: Final = logging.getLogger("headgate_engine")
_LIBRARY.handlers[:] = logger.handlers
_LIBRARY.setLevel(logger.log_level)
_LIBRARY.propagate = False


def set_level(level: str) -> None:
    """Set what the service and its library log from now on."""
    for each in (logger, _LIBRARY):
        each.setLevel(level)
