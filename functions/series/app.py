"""Takes changes of instances from the stream of the fleets table, and adds what their hosts counted to the series."""

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, Field, JsonValue

from headgate.foundation import faults
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import logger
from headgate.instances.series import writer
from headgate.instances.series.writer import Saved
from headgate.storage.retry import LostRace


class _Change(BaseModel):
    number: str = Field(alias="SequenceNumber")
    before: dict[str, JsonValue] | None = Field(None, alias="OldImage")
    after: dict[str, JsonValue] | None = Field(None, alias="NewImage")


class _Record(BaseModel):
    """A record of a DynamoDB stream as Lambda passes it on."""

    change: _Change = Field(alias="dynamodb")


class _Batch(BaseModel):
    records: list[_Record] = Field(alias="Records")


def handler(event: JsonValue, _context: object) -> JsonValue:
    """Add the changes. What could not be added is named, and Lambda passes it on again with all that came after it."""
    records = _Batch.model_validate(event).records
    changes = [saved for record in records if (saved := _saved(record.change)) is not None]
    failed: list[int] = []
    for together in writer.by_slot(changes).values():
        try:
            writer.add(together)
        except (BotoCoreError, ClientError, LostRace, Unavailable) as error:
            log = logger.error if faults.blame(error) == "ours" else logger.warning
            log("series_not_written", deployment_id=together[0].deployment_id, kind=type(error).__name__)
            failed += [change.number for change in together]
    logger.info("series_written", records=len(records), changes=len(changes), failed=len(failed))
    return {"batchItemFailures": [{"itemIdentifier": str(min(failed))}] if failed else []}


def _saved(change: _Change) -> Saved | None:
    """The counts in a change of an item; None unless the item is an instance with counts."""
    if change.after is None:
        return None
    try:
        return Saved.of(int(change.number), change.before, change.after)
    except TypeError:
        # It would fail for ever, and hold up all the others.
        logger.error("series_unreadable", number=change.number)
        return None
