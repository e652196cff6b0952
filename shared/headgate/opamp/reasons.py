"""Why a collector does not run: its own words, without those that a supervisor wraps around them."""

import re
from typing import Final

LONGEST: Final = 2_000
# Enough to hold what is said twice; what is longer is cut before it is looked through.
_READ: Final = 20_000
_WRAPPED: Final = re.compile(
    r"(?:configuration validation failed: |config validation failed: [^,\n]{1,60}, output:\s*|Error: "
    r"|failed to get config: |cannot unmarshal the configuration: )+"
)
_AGAIN: Final = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d collector server run finished with error: ")
# What it announces follows in a line of its own.
_ANNOUNCED: Final = re.compile(r"decoding failed due to the following error\(s\):\s+")
_CHOICES: Final = re.compile(r" \(valid values: \[[^\]\n]{100,}\]\)")


def reason(said: str) -> str:
    """Each line once, the first cause first, of at most `LONGEST` characters."""
    text = _CHOICES.sub("", _ANNOUNCED.sub("", said[:_READ]))
    # Not a list: to look through it for each line took a hostile host's 20,000 characters half a second.
    lines: dict[str, None] = {}
    for line in text.splitlines():
        words = line.strip()
        # Each by itself: one may follow the other.
        words = _WRAPPED.sub("", _AGAIN.sub("", words, count=1), count=1) if _begins(words) else words
        if words:
            lines.setdefault(words)
    return "\n".join(lines)[:LONGEST].rstrip() or said.strip()[:LONGEST]


def _begins(line: str) -> bool:
    return _WRAPPED.match(line) is not None or _AGAIN.match(line) is not None
