"""Moved to headgate.foundation.ids; to be removed once nothing imports it from here."""

import sys

from headgate.foundation import ids

sys.modules[__name__] = ids
