"""The one structured logger. Events with fields; never a configuration, a sample, a credential or an `env` value."""

import logging
from typing import Final

from aws_lambda_powertools import Logger

logger: Final = Logger(service="headgate", use_rfc3339=True, utc=True)


def _take_in(name: str) -> None:
    """Write what a library's logger says as the service's own events, with the fields of `extra`."""
    library = logging.getLogger(name)
    library.handlers[:] = logger.handlers
    library.setLevel(logger.log_level)
    library.propagate = False


_take_in("headgate_engine")
