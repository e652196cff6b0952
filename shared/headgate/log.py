"""Moved to headgate.observability.log; to be removed once nothing imports it from here."""

import sys

from headgate.observability import log

sys.modules[__name__] = log
