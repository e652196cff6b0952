"""A list of configurations with what the collector last said of each, and where it runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.checker import verdicts
from headgate.configurations import search
from headgate.configurations.model import Configuration
from headgate.foundation.caller import Caller
from headgate.usage import service
from headgate.usage.model import CountedUse
from headgate_engine.validation.model import Verdict


@dataclass(frozen=True, slots=True)
class DescribedUse:
    """A configuration, the verdict on its latest version, None if it was not seen, and the groups that use it."""

    configuration: Configuration
    verdict: Verdict | None
    uses: Sequence[CountedUse]


def described(caller: Caller, listed: Sequence[Configuration]) -> list[DescribedUse]:
    """The configurations, of which the caller sees the latest version.

    Three batch reads for each hundred, and what `service.by_groups` costs.
    """
    fingerprints = search.fingerprints(listed)
    seen = verdicts.remembered(caller.organization_id, fingerprints)
    uses = service.by_groups(caller, [configuration.id for configuration in listed])
    return [DescribedUse(configuration, seen.get(configuration.id), uses[configuration.id]) for configuration in listed]
