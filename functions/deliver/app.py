"""Takes tickets from the queue of deliveries and tries each. It may reach the internet, and little else."""

from concurrent.futures import Future
from typing import Final

from pydantic import BaseModel, Field, JsonValue

from headgate.foundation.log import logger
from headgate.webhooks import deliveries, queue
from headgate.webhooks.queue import Ticket
from headgate_engine.threads import Threads

# As many as the queue hands over at once: a receiver that stalls holds up nobody else.
AT_ONCE: Final = 10


class _Record(BaseModel):
    """A message of SQS as Lambda passes it on."""

    message_id: str = Field(alias="messageId")
    receipt: str = Field(alias="receiptHandle")
    body: str


class _Batch(BaseModel):
    records: list[_Record] = Field(alias="Records")


def handler(event: JsonValue, _context: object) -> JsonValue:
    """Try each; those that are not through stay in the queue."""
    with Threads(AT_ONCE) as pool:
        batch = _Batch.model_validate(event).records
        tried = [(record, pool.submit(_try, record)) for record in batch]
    left = [record.message_id for record, ended in tried if not _is_through(ended)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in left]}


def _try(record: _Record) -> bool:
    """Attempt a delivery; True if the message is done with. If not, it is hidden until its time comes."""
    seconds = deliveries.attempt(Ticket.of(record.body))
    if seconds is not None:
        queue.postpone(record.receipt, seconds)
    return seconds is None


def _is_through(ended: Future[bool]) -> bool:
    """Attempt a delivery; True if the message is done with. A defect in one delivery does not stop the others."""
    error = ended.exception()
    if error is None:
        return ended.result()
    # It comes again after the queue's own time, and ends in the dead-letter queue if that never helps.
    logger.error("delivery_not_tried", kind=type(error).__name__)
    return False
