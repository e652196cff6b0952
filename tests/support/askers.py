"""Whoever asks the collector in tests that are not about who asks."""

from typing import Final

from headgate.checker import Asker

ASKER: Final = Asker("org_of_the_tests", "tok_of_the_tests")
