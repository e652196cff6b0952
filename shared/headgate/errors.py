"""Moved to headgate.foundation.errors; to be removed once nothing imports it from here."""

import sys

from headgate.foundation import errors

sys.modules[__name__] = errors
