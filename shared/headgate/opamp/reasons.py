"""Why a collector does not run: the collector's own message, without what the supervisor adds to it."""

import re
from typing import Final

LONGEST: Final = 2_000
# Enough for a message that is repeated; a longer text is cut before it is searched.
_READ: Final = 20_000
_WRAPPED: Final = re.compile(
    r"(?:configuration validation failed: |config validation failed: [^,\n]{1,60}, output:\s*|Error: "
    r"|failed to get config: |cannot unmarshal the configuration: )+"
)
_AGAIN: Final = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d collector server run finished with error: ")
# The errors that it announces follow in lines of their own.
_ANNOUNCED: Final = re.compile(r"decoding failed due to the following error\(s\):\s+")
_CHOICES: Final = re.compile(r" \(valid values: \[[^\]\n]{100,}\]\)")
# Supervisor 0.149's words. -1 is a signal; 0 is also what it says if the collector that it replaces ends late.
_KILLED: Final = re.compile(
    r"Agent exited unexpectedly with exit code (?:-1|0) while applying configuration"
    r"|config validation failed: signal: (?:killed|terminated)\b"
)


def was_killed(message: str) -> bool:
    """Whether a failed config's message says that the collector was ended by somebody else, as for want of memory."""
    return _KILLED.search(message[:_READ]) is not None


def reason(message: str) -> str:
    """Each line of the message once, the first cause first; at most `LONGEST` characters."""
    text = _CHOICES.sub("", _ANNOUNCED.sub("", message[:_READ]))
    # A dict: searching a list for each line took half a second for 20,000 characters of a hostile host.
    lines: dict[str, None] = {}
    for line in text.splitlines():
        words = line.strip()
        # One after the other: both may be there.
        words = _WRAPPED.sub("", _AGAIN.sub("", words, count=1), count=1) if _begins(words) else words
        if words:
            lines.setdefault(words)
    return "\n".join(lines)[:LONGEST].rstrip() or message.strip()[:LONGEST]


def _begins(line: str) -> bool:
    return _WRAPPED.match(line) is not None or _AGAIN.match(line) is not None
