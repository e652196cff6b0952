"""Moved to headgate.observability.faults; to be removed once nothing imports it from here."""

import sys

from headgate.observability import faults

sys.modules[__name__] = faults
