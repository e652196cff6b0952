"""Path and query parameters. They are text, parsed strictly: `+1`, `01` and `1_0` are not numbers."""

import re
from typing import Annotated, Final

from fastapi import Path
from pydantic import BeforeValidator

from headgate.foundation.ids import id_pattern

_WEIGHT: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")
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


def entity_tags(header: str) -> frozenset[str]:
    """The tags of an `If-Match` or `If-None-Match`, `*` among them (RFC 9110, 13.1.1); a weak one keeps its `W/`."""
    if header.strip() == "*":
        return frozenset("*")
    return frozenset(re.findall(r'(?:W/)?"[^"]*"', header))


def matches(if_none_match: str | None, etag: str) -> bool:
    """Whether an `If-None-Match` names the entity tag (RFC 9110, 13.1.2); also as a weak one, as proxies make it."""
    tags = entity_tags(if_none_match or "")
    return "*" in tags or etag in {tag.removeprefix("W/") for tag in tags}


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether an `Accept-Encoding` takes gzip (RFC 9110, 12.5.3). Without the header it is not sent: curl has none."""
    weights = dict(_weighted(one) for one in (accept_encoding or "").split(","))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weighted(coding: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in coding.split(";"))
    weight = next((part.removeprefix("q=") for part in parameters if part.startswith("q=")), "1")
    return name, float(weight) if _WEIGHT.fullmatch(weight) else 0.0


ConfigurationId = Annotated[str, Path(pattern=id_pattern("cfg"))]
RunId = Annotated[str, Path(pattern=id_pattern("run"))]
JobId = Annotated[str, Path(pattern=id_pattern("job"))]
InstanceId = Annotated[str, Path(pattern=id_pattern("ins"))]
FleetId = Annotated[str, Path(pattern=id_pattern("flt"))]
DeploymentId = Annotated[str, Path(pattern=id_pattern("dep"))]
VersionNumber = Annotated[int, BeforeValidator(whole_number), Path(ge=1)]
MemberId = Annotated[str, Path(pattern=f"{id_pattern('usr')}|{id_pattern('sva')}|{id_pattern('inv')}")]
OrganizationId = Annotated[str, Path(pattern=id_pattern("org"))]
ServiceAccountId = Annotated[str, Path(pattern=id_pattern("sva"))]
TokenId = Annotated[str, Path(pattern=id_pattern("tok"))]
