"""The endpoint of the overview."""

from typing import Annotated

from fastapi import Query

from fleets.api.overview_wire import OverviewOut
from headgate.http.credentials import Reader
from headgate.http.parameters import Flag
from headgate.http.routing import router as group
from headgate.overview import service

router = group("", "Overview")

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
