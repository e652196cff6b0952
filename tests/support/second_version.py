"""A collector beside the default one, built from source, for the tests that compare generations of the collector.

`make test` builds the one of layers/collector/fixtures and names it in HEADGATE_SECOND_COLLECTOR, so nothing is
skipped there, and a version that is missing fails its tests. It is built beside the first tests, so if it is not there
when they begin, those that need it come last and wait. Without the variable, as in a checkout where only the default
collector was built, tests that need a second version are skipped.
"""

import os
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.collector import by_age
from headgate_local.options import read_options
from tests.support import sizes

_LATER: Final = "HEADGATE_SECOND_COLLECTOR_LATER"
# A build that waits for another one has no file of its progress.
_PATIENCE_SECONDS: Final = 120
_INSTALLED: Final = Installed(read_options(os.environ).collectors)


@cache
def second_version() -> str | None:
    """The version that is required, else the newest one that was built and is installed beside the default one.

    The newest one that `make test` requires can be the default itself, which is not a second one.
    """
    required = os.environ.get("HEADGATE_SECOND_COLLECTOR")
    if required and required != settings().collector_version:
        return required
    others = [version for version in _INSTALLED.versions() if version != settings().collector_version]
    newest_first = sorted(others, key=by_age, reverse=True)
    return next(filter(_is_built, newest_first), None)


def older_and_newer() -> tuple[str, str]:
    """The default and the second version by their age, whichever of them is the default; without a second one, ""."""
    second = second_version()
    if second is None:
        return settings().collector_version, ""
    older, newer = sorted([settings().collector_version, second], key=by_age)
    return older, newer


def versions_in_turn(at: int) -> Sequence[str]:
    """The default collector's version and the second one's; on each change the one whose turn it is.

    `at` counts the tests and modules that ask both the same.
    """
    return sizes.turn([version for version in (settings().collector_version, second_version()) if version], at)


def put_off() -> None:
    """For the process that starts the workers, which then all have the tests in the same order."""
    required = os.environ.get("HEADGATE_SECOND_COLLECTOR")
    if required and required not in _INSTALLED.versions():
        os.environ[_LATER] = required


def last(items: list[pytest.Item]) -> None:
    """Have the tests that need the second version at the end, if it is still being built."""
    if _LATER in os.environ:
        items.sort(key=lambda item: _needs_it(item.path))


def wait(item: pytest.Item) -> None:
    """Wait for the second version if the test needs it, and fail the test if nothing builds it."""
    version = os.environ.get(_LATER)
    if version and _needs_it(item.path) and not _is_there_in_time(version):
        pytest.fail(f"the second collector {version} is not built, and nothing builds it")


@cache
def _is_there_in_time(version: str) -> bool:
    building = read_options(os.environ).collectors / f"{version}.building"
    alive = time.monotonic()
    while version not in _INSTALLED.versions():
        if building.exists():
            alive = time.monotonic()
        elif time.monotonic() - alive > _PATIENCE_SECONDS:
            return False
        time.sleep(0.5)
    return True


@cache
def _needs_it(module: Path) -> bool:
    return Path(__file__).stem in module.read_text(encoding="utf-8")


def _is_built(version: str) -> bool:
    """Whether it has our command; an official release has not."""
    asked = [str(_INSTALLED.binary(version)), "check", "--help"]
    return subprocess.run(asked, capture_output=True, env={}, check=False).returncode == 0


_BUILD_IT: Final = "`make test` builds it, and `make collector VERSION=X.Y.Z` builds another"
needs_second_version: Final = pytest.mark.skipif(
    second_version() is None, reason=f"no second collector is installed: {_BUILD_IT}"
)
