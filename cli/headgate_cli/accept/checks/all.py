"""All checks, in the order in which they run."""

from __future__ import annotations

from typing import Final

from headgate_cli.accept.checks import (
    command_line,
    configurations,
    endpoints,
    fleets,
    flows,
    hosts,
    http,
    identity,
    limits,
    people,
    runs,
    verdicts,
)

# Those that show most about a new deployment come first; the one that uses up a limit is last.
ALL: Final = (
    *identity.CHECKS,
    *verdicts.CHECKS,
    *runs.CHECKS,
    *configurations.CHECKS,
    *flows.CHECKS,
    *fleets.CHECKS,
    *hosts.CHECKS,
    *people.CHECKS,
    *http.CHECKS,
    *command_line.CHECKS,
    *endpoints.CHECKS,
    *limits.CHECKS,
)
