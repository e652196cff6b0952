"""Reasons why a collector does not run: the collector's own message, without the supervisor's additions."""

from __future__ import annotations

import re
from typing import Final

from headgate.instances.reported.model import Cause

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
_CHOICES: Final = re.compile(r" \(valid values: \[[^\[\]\n]{100,}\]\)")
# What supervisor 0.149, and ours around it, say of a config that failed. -1 is a signal; 0 is also what it says if the
# collector that it replaces ends late. A reason that is not here is unclear, and does not count by itself.
_WORDS: Final[tuple[tuple[str, Cause], ...]] = (
    # Of an upgrade of the collector, which the host has undone already.
    (r"; collector \S+ did not stay, and \S+ runs again", "version"),
    (r"^Collector \S+ cannot run here, so that nothing was changed: ", "version"),
    (r"^The offer of a collector cannot be read: ", "version"),
    (r"^The change cannot be written down: ", "host"),
    (r"^The variables of this version are not on this host: ", "host"),
    (r"Agent exited unexpectedly with exit code (?:-1|0) while applying configuration", "killed"),
    (r"config validation failed: signal: (?:killed|terminated)\b", "killed"),
    (r"failed to (?:create|write|close) temp config file", "host"),
    (r"^cannot start the agent: ", "host"),
    (r"Config apply timeout exceeded", "unclear"),
    (r"Agent exited unexpectedly with exit code [1-9]\d{0,2} while applying configuration", "version"),
    (r"config validation failed: exit status \d+", "version"),
    (r"^\(?The collector ended \d+ times in the \d+ minutes after this configuration was applied", "version"),
    (r"^yaml: ", "version"),
)
REASONS: Final = tuple((re.compile(pattern, re.MULTILINE), cause) for pattern, cause in _WORDS)


def cause(message: str) -> Cause:
    """The reason why a config failed, by the words of its supervisor."""
    said = message[:_READ]
    return next((cause for pattern, cause in REASONS if pattern.search(said)), "unclear")


def reason(message: str) -> str:
    """Each line of the message once, the first cause first; at most `LONGEST` characters."""
    text = _CHOICES.sub("", _ANNOUNCED.sub("", message[:_READ]))
    # A dict: searching a list for each line took half a second for 20,000 characters of a hostile host.
    lines: dict[str, None] = {}
    for line in text.splitlines():
        words = line.strip()
        # One after the other: both may be there.
        if _WRAPPED.match(words) or _AGAIN.match(words):
            words = _WRAPPED.sub("", _AGAIN.sub("", words, count=1), count=1)
        if words:
            lines.setdefault(words)
    return "\n".join(lines)[:LONGEST].rstrip() or message.strip()[:LONGEST]
