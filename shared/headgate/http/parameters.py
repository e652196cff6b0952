"""Path and query parameters. They are text, parsed strictly: `+1`, `01` and `1_0` are not numbers."""

import re
from datetime import datetime
from typing import Annotated, Final

from fastapi import Header, Path, Query
from pydantic import BeforeValidator, Field

from headgate.foundation.ids import id_pattern

_WEIGHT: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_WHOLE_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def whole_number(value: object) -> object:
    """Accepts `12` and the number 12 (a default). Raises ValueError for any other text."""
    if isinstance(value, str):
        if not _WHOLE_NUMBER.fullmatch(value):
            raise ValueError("This must be a whole number")
        return int(value)
    return value


def true_or_false(value: object) -> object:
    """Accepts `true` and `false`. Raises ValueError for any other text."""
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError("This must be `true` or `false`")
        return value == "true"
    return value


def moment(value: object) -> object:
    """Accepts a time of RFC 3339, such as `2026-11-20T19:32:02Z`. Raises ValueError for any other text."""
    if isinstance(value, str):
        try:
            if _TIME.fullmatch(value):
                return datetime.fromisoformat(value)
        except ValueError:
            # A month 13, or the 30th of February.
            pass
        raise ValueError("This must be a time such as 2026-11-20T19:32:02Z")
    return value


def states(if_match: str | None) -> frozenset[str] | None:
    """The entity tags of an `If-Match`, one of which what is changed must have; None without the header."""
    return None if if_match is None else entity_tags(if_match)


def entity_tags(header: str) -> frozenset[str]:
    """The tags of an `If-Match` or `If-None-Match`, `*` among them (RFC 9110, 13.1.1); a weak one keeps its `W/`."""
    if header.strip() == "*":
        return frozenset("*")
    return frozenset(re.findall(r'(?:W/)?"[^"]*"', header))


def matches(if_none_match: str | None, etag: str) -> bool:
    """True if an `If-None-Match` names the entity tag (RFC 9110, 13.1.2); also as a weak one, as proxies make it."""
    tags = entity_tags(if_none_match or "")
    return "*" in tags or etag in {tag.removeprefix("W/") for tag in tags}


def accepts_gzip(accept_encoding: str | None) -> bool:
    """True if an `Accept-Encoding` takes gzip (RFC 9110, 12.5.3). Without the header it is not sent: curl has none."""
    weights = dict(_weighted(coding) for coding in (accept_encoding or "").split(","))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weighted(coding: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in coding.split(";"))
    weight = next((part.removeprefix("q=") for part in parameters if part.startswith("q=")), "1")
    return name, float(weight) if _WEIGHT.fullmatch(weight) else 0.0


# On the number itself: beside a validator, the constraint would not come into the API's description.
AtLeastOne = Annotated[int, Field(ge=1)]
ConfigurationId = Annotated[str, Path(pattern=id_pattern("cfg"))]
RunId = Annotated[str, Path(pattern=id_pattern("run"))]
JobId = Annotated[str, Path(pattern=id_pattern("job"))]
RolloutId = Annotated[str, Path(pattern=id_pattern("rol"))]
InstanceId = Annotated[str, Path(pattern=id_pattern("ins"))]
FleetId = Annotated[str, Path(pattern=id_pattern("flt"))]
DeploymentId = Annotated[str, Path(pattern=id_pattern("dep"))]
VersionNumber = Annotated[AtLeastOne, BeforeValidator(whole_number), Path()]
MemberId = Annotated[str, Path(pattern=f"{id_pattern('usr')}|{id_pattern('sva')}|{id_pattern('inv')}")]
OrganizationId = Annotated[str, Path(pattern=id_pattern("org"))]
ServiceAccountId = Annotated[str, Path(pattern=id_pattern("sva"))]
TokenId = Annotated[str, Path(pattern=id_pattern("tok"))]
WebhookId = Annotated[str, Path(pattern=id_pattern("whk"))]
DeliveryId = Annotated[str, Path(pattern=id_pattern("dlv"))]
CaptureId = Annotated[str, Path(pattern=id_pattern("cap"))]
OrderId = Annotated[str, Path(pattern=id_pattern("ord"))]
AtTime = Annotated[datetime | None, BeforeValidator(moment), Query(description="What was true at this time")]
IfMatch = Annotated[str | None, Header(description="The ETag of the state to change")]
Flag = Annotated[bool, BeforeValidator(true_or_false)]
