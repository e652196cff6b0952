"""The endpoint of the overview, and its answer with the console's page for each notice."""

from typing import Annotated, Self

from fastapi import Query
from pydantic import BaseModel, Field

from fleets.api.wire import FleetOut
from headgate.foundation.caller import Caller
from headgate.http.credentials import Reader
from headgate.http.parameters import Flag
from headgate.http.routing import router as group
from headgate.http.wire import Answer
from headgate.overview import service
from headgate.overview.model import Notice, NoticeKind, Overview
from headgate_engine.wire.times import Time

router = group("", "Overview")


class NoticeOut(Answer):
    """Something that needs somebody. The ids that do not apply are null."""

    kind: NoticeKind
    subject: str = Field(description="What it is about, by name", examples=["shop version 2"])
    reason: Annotated[
        str,
        Field(description="Why, in the words of the host or the collector if they said it", examples=["A gate failed"]),
    ]
    at: Time | None = Field(
        description="Since when it is so; of a token, when it expires; null where several are counted in one"
    )
    page: str = Field(
        description="The page of the console where it is mended",
        examples=["/organizations/org_01kajb9fz4efkrjvb2x7q8v5w3/fleets/flt_01kajb9fz4efkrjvb2x7q8v5w3"],
    )
    fleet_id: str | None
    deployment_id: str | None
    rollout_id: str | None
    instance_id: str | None
    configuration_id: str | None
    version_number: int | None
    run_id: str | None

    @classmethod
    def of_notice(cls, caller: Caller, notice: Notice) -> Self:
        return cls.of(notice, page=page_of(caller, notice))


class OverviewOut(BaseModel):
    """Notices, the most urgent first, and the newest hundred fleets with their collectors by state."""

    has_configurations: bool = Field(description="Whether the caller sees any configuration", examples=[True])
    notices: list[NoticeOut]
    fleets: list[FleetOut]

    @classmethod
    def of(cls, caller: Caller, overview: Overview) -> Self:
        return cls(
            has_configurations=overview.has_configurations,
            notices=[NoticeOut.of_notice(caller, notice) for notice in overview.notices],
            fleets=[FleetOut.counted(counted) for counted in overview.fleets],
        )


def page_of(caller: Caller, notice: Notice) -> str:
    """The path of the console's page where what a notice tells is mended."""
    home = f"/organizations/{caller.organization_id}"
    fleet = f"{home}/fleets/{notice.fleet_id}"
    group = f"{fleet}/deployments/{notice.deployment_id}"
    version = f"{home}/configurations/{notice.configuration_id}"
    match notice.kind:
        case "rollout_halted" | "rollout_waiting":
            return group
        case "rollout_rolled_back" | "rollback_failed":
            return f"{group}/rollouts/{notice.rollout_id}"
        case "apply_failed":
            return f"{fleet}/collectors?state=apply_failed"
        case "hosts_silent":
            return f"{fleet}/collectors?state=silent"
        case "draft_invalid" | "draft_unchecked":
            return f"{version}/edit?version={notice.version_number}"
        case "run_failed" if notice.configuration_id and notice.version_number:
            return f"{version}/versions/{notice.version_number}/run?run={notice.run_id}"
        case "run_failed":
            return f"{home}/runs"
        case "token_expired" | "token_expiring":
            return group if notice.deployment_id else fleet


Check = Annotated[
    Flag,
    Query(description="Also ask the collector about drafts of yours that were changed since it was asked last"),
]


@router.get("/overview")
def get_overview(caller: Reader, check: Check = False) -> OverviewOut:
    """List what needs somebody now, and every fleet's collectors by state.

    Told are rollouts that halted, were rolled back, could not be, or wait for an approval, collectors that could not
    apply their version, up to five of your drafts that are not valid or not checked yet, pipelines whose newest test
    run failed, and tokens of fleets and groups that expire within two weeks. With `check=true`, up to five drafts that
    are not checked yet are checked first, as one check under way each.
    """
    return OverviewOut.of(caller, service.overview(caller, check=check))
