"""All checks, in the order in which they run: that of the modules, and of each module's text."""

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
from headgate_cli.accept.model import PromiseCheck

# Those that show most about a new deployment come first; the one that uses up a limit is last.
_MODULES: Final = (
    *(identity, verdicts, runs, configurations, flows, fleets),
    *(hosts, people, http, command_line, endpoints, limits),
)
ALL: Final = tuple(check for module in _MODULES for check in vars(module).values() if isinstance(check, PromiseCheck))
