"""An organization's settings of policies, as they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from headgate.foundation import errors
from headgate.foundation.errors import FieldError
from headgate.foundation.principal import Principal
from headgate_engine.policies.model import PolicyChoices


@dataclass(frozen=True, slots=True)
class StoredPolicies:
    """The settings as they are stored; `revision` counts their changes and is 0 if there was none."""

    settings: PolicyChoices = field(default_factory=PolicyChoices)
    revision: int = 0
    updated_at: datetime | None = None
    updated_by: Principal | None = None

    @property
    def etag(self) -> str:
        return f'"policies-{self.revision}"'

    def changed(self, settings: PolicyChoices, by: Principal, at: datetime) -> "StoredPolicies":
        return StoredPolicies(settings, self.revision + 1, at, by)


def settings_in(text: str) -> PolicyChoices:
    """The settings in the stored text. Raises ValueError."""
    return _settings().validate_json(text)


@cache
def _settings() -> TypeAdapter[PolicyChoices]:
    return TypeAdapter(PolicyChoices)


class PoliciesChanged(errors.PreconditionFailed):
    """`If-Match` names an earlier state of the policies."""

    code = "policies_changed"

    def __init__(self, etag: str) -> None:
        super().__init__(f"The policies have changed since; their ETag is now {etag}")


class PoliciesInvalid(errors.Invalid):
    """A setting names no policy, or a rule is not right; `errors` name the rule and the place."""

    code = "policies_invalid"

    def __init__(self, wrong: Sequence[FieldError]) -> None:
        super().__init__(errors.first_of(wrong), wrong)
