"""Requests and answers of the endpoints of captures."""

from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic.config import JsonDict

from headgate.captures.model import (
    KINDS,
    LONGEST_CONDITION,
    LONGEST_SECONDS,
    MOST_RECORDS,
    RELOADS,
    Context,
    Kind,
    Redaction,
    Status,
)
from headgate.captures.service import KnownCapture
from headgate.http.wire import Answer, PrincipalOut
from headgate.instances.orders.captured import Reason
from headgate_engine.collector import StableSignal
from headgate_engine.wire.inputs import Input
from headgate_engine.wire.times import Time

_COSTS: Final = (
    "The host's collector restarts twice, to add a branch to the pipeline and to remove it. Each time it refuses "
    "telemetry for some 50 to 250 ms, which clients send again"
)
_LINE: Final = r"^[^\x00-\x1f\x7f\u2028\u2029]+$"
Component = Annotated[str, StringConstraints(min_length=1, max_length=1_024, pattern=_LINE)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=_LINE)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_LINE)]
_WRITTEN_IN_OTTL: Final[JsonDict] = {"examples": ['attributes["http.status"] >= 500']}


class StartCapture(Input):
    """Asks one host for a capture: `instance_id`, or with `deployment_id` the host of the group that was heard last."""

    instance_id: str | None = Field(default=None, description="The host")
    deployment_id: str | None = Field(default=None, description="The group of which one host is chosen")
    pipeline: Component = Field(description="A pipeline of the version that the host runs, such as `logs/audit`")
    component: Component = Field(description="A receiver or processor of it: records are taken as it puts them out")
    condition: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_CONDITION)] | None = Field(
        default=None,
        description="A condition of OTTL; without it every record is taken",
        json_schema_extra=_WRITTEN_IN_OTTL,
    )
    context: Context | None = Field(
        default=None, description="The context of the condition: `log`, `span`, and for metrics `datapoint` or `metric`"
    )
    max_records: int = Field(
        default=MOST_RECORDS,
        ge=1,
        le=MOST_RECORDS,
        description="How many records at most; of metrics, data points count",
        examples=[100],
    )
    duration_seconds: int = Field(
        default=120, ge=10, le=LONGEST_SECONDS, description="The capture ends after so many seconds", examples=[120]
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.instance_id is None) == (self.deployment_id is None):
            raise ValueError("Give one of instance_id and deployment_id")
        return self


class CaptureOut(Answer):
    """A capture. It is `pending` until the host has begun, and ends by itself; its sample is read at `…/sample`."""

    id: str
    fleet_id: str
    deployment_id: str
    instance_id: str
    host_name: str | None
    configuration_id: str = Field(description="The configuration that the host runs")
    version_number: int
    signal_type: StableSignal
    pipeline: str
    component: str
    context: Context
    condition: str
    max_records: int
    duration_seconds: int
    status: Status
    reason: Reason | None = Field(
        description="Why it ended; null until then, and for a host that was not heard any more"
    )
    error: str | None
    records: int = Field(description="How many are in the sample")
    left_out: int = Field(description="Records that matched, and are too large for a sample")
    redacted: int = Field(description="Texts from which the host took something out", examples=[4])
    restarts: int = Field(default=RELOADS, description="How often the host's collector restarts for it")
    notice: str = Field(default=_COSTS, description="What the capture costs the host", examples=[_COSTS])
    created_by: PrincipalOut
    created_at: Time
    begins_by: Time = Field(description="A host that has not begun by then does not begin any more")
    started_at: Time | None
    ended_at: Time | None
    expires_at: Time = Field(description="When the capture and its sample are deleted")

    @classmethod
    def of_known(cls, known: KnownCapture) -> Self:
        capture = known.capture
        return cls.of(capture, capture.target, capture.version, status=capture.status(known.at))


class PutCaptures(Input):
    """The switch that lets writers ask hosts of the group for captures."""

    allowed: bool


class RedactionSettings(Input):
    """The redaction of samples by hosts, before anything leaves them. It counts for captures that are started later."""

    kinds: list[Kind] = Field(
        default=list(KINDS), max_length=len(KINDS), description="Secrets that hosts know", examples=[["credentials"]]
    )
    patterns: list[Pattern] = Field(
        default=[], max_length=20, description="Regular expressions of RE2", examples=[["order-[0-9]+"]]
    )
    keys: list[Key] = Field(
        default=[], max_length=100, description="Keys of attributes, in any case", examples=[["customer.name"]]
    )

    def redaction(self) -> Redaction:
        kinds = tuple(kind for kind in KINDS if kind in self.kinds)
        return Redaction(kinds, tuple(dict.fromkeys(self.patterns)), tuple(dict.fromkeys(self.keys)))


class RedactionOut(Answer):
    """The redaction of samples by hosts."""

    kinds: list[Kind]
    patterns: list[str]
    keys: list[str]
