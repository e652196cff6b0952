"""A collector beside the default one, built from source, for the tests that compare generations of the collector.

It takes ten minutes to build, so `make test` does without it unless it is there. HEADGATE_SECOND_COLLECTOR names the
version that has to be there.
"""

import os
from typing import Final

import pytest

from headgate.checker.installed import Installed
from headgate.foundation.collector import by_age
from headgate.settings import settings
from headgate_local.options import read_options

_INSTALLED: Final = Installed(read_options(os.environ).collectors)


def second_version() -> str | None:
    """The version that is required, else the newest one that is installed beside the default one."""
    others = [version for version in _INSTALLED.versions() if version != settings().collector_version]
    return os.environ.get("HEADGATE_SECOND_COLLECTOR") or max(others, key=by_age, default=None)


needs_second_version: Final = pytest.mark.skipif(
    second_version() is None, reason="no second collector is installed: `make collector VERSION=0.158.0` builds one"
)
