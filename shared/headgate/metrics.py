"""Moved to headgate.observability.metrics; to be removed once nothing imports it from here."""

import sys

from headgate.observability import metrics

sys.modules[__name__] = metrics
