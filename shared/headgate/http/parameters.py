"""Path and query parameters. They are text, parsed strictly: `+1`, `01` and `1_0` are not numbers."""

import re
from typing import Annotated, Final

from fastapi import Path
from pydantic import BeforeValidator

from headgate.foundation.ids import id_pattern

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
    """The tags of an `If-Match`, `*` among them (RFC 9110, 13.1.1); a weak one never matches."""
    if header.strip() == "*":
        return frozenset("*")
    return frozenset(re.findall(r'(?:W/)?"[^"]*"', header))


ConfigurationId = Annotated[str, Path(pattern=id_pattern("cfg"))]
RunId = Annotated[str, Path(pattern=id_pattern("run"))]
FleetId = Annotated[str, Path(pattern=id_pattern("flt"))]
DeploymentId = Annotated[str, Path(pattern=id_pattern("dep"))]
VersionNumber = Annotated[int, BeforeValidator(whole_number), Path(ge=1)]
MemberId = Annotated[str, Path(pattern=f"{id_pattern('usr')}|{id_pattern('sva')}|{id_pattern('inv')}")]
OrganizationId = Annotated[str, Path(pattern=id_pattern("org"))]
ServiceAccountId = Annotated[str, Path(pattern=id_pattern("sva"))]
TokenId = Annotated[str, Path(pattern=id_pattern("tok"))]
