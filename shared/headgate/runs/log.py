"""What a collector wrote on its standard error, for a reader: what matters first, and nothing twice.

A collector writes its whole resource into each line of its log, and Go's stack trace below each error.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

# Time, level, and the rest: a place in the source, a message, and fields in JSON.
_RECORD: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+\t(debug|info|warn|error|dpanic|panic|fatal)\t(.*)")
_RESOURCE: Final = '{"resource": '
_QUIET: Final = ("debug", "info")
# The second line of a frame of a stack trace.
_PLACE: Final = re.compile(r"\t\S+\.\w+:\d+( \+0x[0-9a-f]+)?")
_GOROUTINE: Final = re.compile(r"goroutine \d+ [^\[]*\[[^\]]*\]:")
_CRASH: Final = re.compile(r"^(?:panic|fatal error): ", re.MULTILINE)


@dataclass(slots=True)
class _Line:
    text: str
    matters: bool
    times: int = 1


def told(stderr: str) -> str:
    """Errors, warnings and what is not the collector's log come first, then the rest, each in its order.

    The resource, stack traces of log records, and repetitions are left out. A crash keeps the goroutine that crashed.
    """
    lines = _without_repetitions(stderr)
    ordered = chain((line for line in lines if line.matters), (line for line in lines if not line.matters))
    return "".join(f"{line.text} ({line.times} times)\n" if line.times > 1 else f"{line.text}\n" for line in ordered)


def crashed(stderr: str) -> bool:
    """Whether there is Go's report of a crash."""
    return _CRASH.search(stderr) is not None


def _without_repetitions(stderr: str) -> list[_Line]:
    lines: list[_Line] = []
    known: dict[str, _Line] = {}
    for text in _without_traces(stderr):
        record = _RECORD.fullmatch(text)
        if record is None:
            lines.append(_Line(text, matters=True))
            continue
        level, rest = record[1], _without_resource(record[2])
        same = known.get(f"{level}\t{rest}")
        if same is not None:
            same.times += 1
            continue
        time, _, _ = text.partition("\t")
        line = known[f"{level}\t{rest}"] = _Line(f"{time}\t{level}\t{rest}", matters=level not in _QUIET)
        lines.append(line)
    return lines


def _without_traces(stderr: str) -> Iterator[str]:
    """The lines but those of stack traces below log records, and of goroutines beside the one that crashed."""
    # Not splitlines, which also splits at characters that a log line may contain.
    lines = stderr.removesuffix("\n").split("\n") if stderr else []
    place, goroutines = 0, 0
    while place < len(lines):
        text = lines[place]
        if _RECORD.fullmatch(text):
            goroutines = 0
        elif _GOROUTINE.fullmatch(text):
            goroutines += 1
        in_trace = place + 1 < len(lines) and _PLACE.fullmatch(lines[place + 1]) is not None
        if in_trace and goroutines != 1:
            place += 2
            continue
        if goroutines < 2:
            yield text
        place += 1


def _without_resource(rest: str) -> str:
    """The collector writes the resource as the first field."""
    before, tab, fields = rest.rpartition("\t")
    if not fields.startswith(_RESOURCE):
        return rest
    try:
        _, end = json.JSONDecoder().raw_decode(fields, len(_RESOURCE))
    except (ValueError, RecursionError):
        return rest
    others = fields[end:].removeprefix(", ")
    return before if others == "}" else f"{before}{tab}{{{others}"
