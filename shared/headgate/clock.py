"""Moved to headgate.foundation.clock; to be removed once nothing imports it from here."""

import sys

from headgate.foundation import clock

sys.modules[__name__] = clock
