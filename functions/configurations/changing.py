"""Setting a value in several configurations: what changes, what the collector says of it, saving and publishing."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Final

from fastapi import Request

from configurations import api
from configurations.wire import VersionDetail
from headgate.checker import Asker, verdicts
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, NotTheOwner, Version, VersionChanged
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.identity import checks
from headgate.version_tests import service as version_tests
from headgate_engine.errors import Unavailable
from headgate_engine.setting import Setting, edited
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import ValidationResult
from headgate_engine.wire.inputs import Input, Variables
from headgate_engine.yaml_text import NotYaml
from web.commands import carry_out
from web.forms import model_of

MOST: Final = 50
"""The most configurations of a request: those of a page of the list."""
# PyYAML reads about 100,000 characters in a second, and each text is read three times.
MOST_CHARACTERS: Final = 200_000
MOST_LINES: Final = 10_000
"""Those of one text: the time of a difference grows with their square."""
MOST_SECONDS: Final = 15
_LONGEST_LINE: Final = 400
_ETAG: Final = re.compile(r'"([1-9][0-9]{0,8})-[0-9]{1,9}"')


class _TypedVariables(Input):
    env: Variables


@dataclass(slots=True)
class ChangeLimits:
    """The rest of one request's limits: characters to edit, and the time until which checks begin."""

    characters: int = MOST_CHARACTERS
    ends: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)


@dataclass(frozen=True, slots=True)
class TextChange:
    """A configuration's latest version, and its text with the value."""

    configuration: Configuration
    version: Version
    after: str

    @property
    def label(self) -> str:
        return f"{self.configuration.name} v{self.version.n}"


def variables(text: str) -> dict[str, str]:
    """The variables of NAME=VALUE lines. Raises Invalid, naming `env`."""
    env: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            name, separator, value = line.partition("=")
            if not separator:
                message = f"Line {number} has no =: write NAME=VALUE"
                raise errors.Invalid(message, at=("form", "env"))
            env[name.strip()] = value
    return model_of(_TypedVariables, {"env": env}).env


def change(
    caller: Caller, configuration: Configuration, version: Version, setting: Setting, limits: ChangeLimits
) -> TextChange | None:
    """The change of a latest version; None if it has the value.

    Raises NotTheOwner, ConfigurationArchived, and Invalid with the reason.
    """
    if not configuration.changeable_by(caller):
        raise NotTheOwner
    configuration.require_not_archived()
    before = version.yaml or ""
    limits.characters -= len(before)
    if limits.characters < 0:
        raise errors.Invalid(
            f"The texts have more than {MOST_CHARACTERS:,} characters together: choose fewer, or use "
            "`headgate config edit --set`"
        )
    if before.count("\n") > MOST_LINES:
        raise errors.Invalid(f"It has more than {MOST_LINES:,} lines: use `headgate config edit --set`")
    try:
        after = edited(before, [setting])
    except NotYaml as error:
        raise errors.Invalid(f"Line {error.line or 1} is not YAML: {error.reason}") from error
    return None if after == before else TextChange(configuration, version, after)


def difference(changes: Sequence[TextChange]) -> str:
    """The unified differences of all, one below the other."""
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
        for change in changes
        for line in unified_diff(
            (change.version.yaml or "").splitlines(),
            change.after.splitlines(),
            change.label,
            f"{change.label} (edited)",
            lineterm="",
        )
    )


def save(request: Request, caller: Caller, change: TextChange, etag: str) -> Version:
    """Save a draft in place, or as the version after a published one, if the state is still that of `etag`.

    Raises VersionChanged, and what the API does.
    """
    version, ids = change.version, {"configuration_id": change.configuration.id}
    # The text that was shown is that of this state.
    if etag != version.etag:
        raise VersionChanged(version.etag)
    operation = api.change_version if version.status == "draft" else api.append_version
    arguments = {**ids, "if_match": etag} | ({"n": version.n} if version.status == "draft" else {})
    saved = carry_out(request, operation, caller, arguments, lambda: {"yaml": change.after})
    assert isinstance(saved, VersionDetail)
    draft = configurations.get_version(caller, change.configuration.id, saved.n)
    if draft.yaml != change.after:
        raise VersionChanged(draft.etag)
    return draft


def of_etag(caller: Caller, configuration_id: str, etag: str) -> tuple[Configuration, Version]:
    """The version that has the ETag, or had it. Raises Invalid, ConfigurationNotFound, VersionNotFound."""
    state = _ETAG.fullmatch(etag)
    if state is None:
        raise errors.Invalid("Save the drafts first")
    return configurations.snapshot(caller, configuration_id, int(state[1]))


def against_publishing(
    caller: Caller, configuration_id: str, version: Version, env: Mapping[str, str], limits: ChangeLimits
) -> str:
    """The reason from the tests, or without tests from the collector, why the draft is not published; empty if none."""
    missing = configurations.tests_of(configuration_id, version).missing
    if not missing:
        # The collector ran the text.
        return ""
    if missing[0].code != version_tests.NO_TESTS:
        return missing[0].message
    said = verdict(caller, version, version.yaml or "", env, limits)
    if isinstance(said, str):
        return said
    return "" if said.valid else f"The collector does not accept it: {problem(said)}"


def publish(request: Request, caller: Caller, configuration_id: str, n: int, etag: str) -> None:
    """Publish the draft as it was shown, if its tests pass. Raises VersionChanged, and what the API does."""
    arguments = {"configuration_id": configuration_id, "n": n, "if_match": etag, "if_tests_pass": True}
    carry_out(request, api.publish_version, caller, arguments, lambda: {})


def verdict(
    caller: Caller, version: Version, yaml: str, env: Mapping[str, str], limits: ChangeLimits
) -> ValidationResult | str:
    """The collector's verdict on a text, or the reason why it was not asked. No check begins after the time is up."""
    if time.monotonic() > limits.ends:
        return "it took too long; it can be saved, and is checked in the editor"
    try:
        with checks.under_way(caller):
            asker = Asker.of(caller).gated(version.feature_gates)
            result = validation.validate(yaml, version.collector_version, env, asker=asker)
    except (errors.Invalid, Unavailable, checks.TooManyChecks) as error:
        return error.detail
    if not version.feature_gates and not env:
        verdicts.remember(caller.organization_id, yaml, result)
    return result


def problem(result: ValidationResult) -> str:
    """The first error, with its line."""
    first = result.errors[0]
    return f"{f'line {first.line}: ' if first.line else ''}{verdicts.cut(first.message)}"
