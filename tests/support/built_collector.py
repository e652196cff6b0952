"""The built collector, for the tests that ask it: they are skipped in a checkout where none was ever built.

Such tests are marked `collector`, and all that drive the running service need it. `make test` builds it before, and in
CI, or with HEADGATE_REQUIRE_COLLECTOR, nothing is skipped: a collector that is missing fails its tests.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from headgate_engine.checker.installed import Installed
from headgate_local.options import read_options

REQUIRED: Final = "HEADGATE_REQUIRE_COLLECTOR"
_MARKS: Final = ("collector", "end_to_end")
_REASON: Final = "no collector was built here: `make collector` builds it, which takes ten minutes the first time"


def is_required(environment: Mapping[str, str]) -> bool:
    """Whether a missing collector is a failure."""
    return any(environment.get(name, "").lower() not in ("", "0", "no", "false") for name in ("CI", REQUIRED))


def skip_without(items: Sequence[pytest.Item], environment: Mapping[str, str]) -> None:
    """Skip the tests that need the collector if none was built and none is required."""
    if is_required(environment) or Installed(read_options(environment).collectors).versions():
        return
    for item in items:
        if needs(item):
            item.add_marker(pytest.mark.skip(reason=_REASON))


def needs(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(mark) for mark in _MARKS)
