"""The collectors that are installed for the tests, and texts that two versions take differently."""

import os
from typing import Final

import pytest

from headgate.checker.installed import Installed
from headgate_local.options import read_options

DEFAULT: Final = "0.139.0"
NEWER: Final = "0.158.0"


def installed() -> tuple[str, ...]:
    """The versions, oldest first."""
    return Installed(read_options(os.environ).collectors).versions()


needs_newer = pytest.mark.skipif(
    NEWER not in installed(), reason=f"collector {NEWER} is not installed: make collector VERSION={NEWER}"
)
