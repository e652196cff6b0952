"""The routers of the fleets endpoints.

A fault of the fleet service's tables is a 502, as specified.
"""

from collections.abc import AsyncIterator

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import APIRouter, Depends

from headgate.foundation import errors, faults
from headgate.foundation.log import logger
from headgate.http.problems import documented
from headgate.http.routing import router as group


async def _fleet_service() -> AsyncIterator[None]:
    """Raises BadGateway if the fleet service's tables cannot be reached, after the credential was checked."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        logger.error("aws_fault", aws_code=faults.aws_code(error))
        raise errors.BadGateway(
            "The API service is unavailable: the fleet service did not answer, and the request may not have been "
            "carried out. Try again after a pause"
        ) from error


def fleet_router() -> APIRouter:
    """A router below `/fleets` of the public API."""
    router = group("/fleets", "Fleets")
    router.dependencies.append(Depends(_fleet_service))
    router.responses |= documented(502)
    return router
