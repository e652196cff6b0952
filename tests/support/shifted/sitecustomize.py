"""Lets a service of tests run at another time: the file that HEADGATE_TESTS_CLOCK names has the seconds to add to now.

Python imports it at its start where this folder is on its path.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headgate.foundation import clock

_FILE = Path(os.environ["HEADGATE_TESTS_CLOCK"])


def _shifted() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=float(_FILE.read_text()))


clock.now = _shifted
