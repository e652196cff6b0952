"""What others wrote (a server, a file, a file's name), made fit for a terminal and for the log of a CI.

GitHub's runner takes a line for a command when it begins with `::` behind whatever white space, or holds `##[`
anywhere; Azure's takes `##vso[`. So no line that is printed for people does either, and text of several lines is marked
at each line but its first, which always stands behind words of ours.
"""

from __future__ import annotations

import json
import re
from typing import Final

# As `click.style` writes it: all of an escape that these commands print themselves.
_STYLE: Final = re.compile(r"(\x1b\[(?:0|1|3[1-6])m)")
_BEGINS_COMMAND: Final = re.compile(r"^((?:\x1b\[(?:0|1|3[1-6])m|[ \t])*)(?=::)", re.MULTILINE)
_HOLDS_COMMAND: Final = re.compile(r"##(?=\w*\[)")
_MARK: Final = "  | "
# JSON escapes the first control characters only; a terminal takes U+009B for the beginning of an escape, too.
_NOT_ASCII: Final = re.compile(r"[^\n -~]")
# In a text that is printed as it is: the runner passes over what cannot be seen.
_COMMAND: Final = re.compile(r"^\W*?::[\w-]+[ :]|##\w*\[[\w.-]+[\] ]", re.MULTILINE)


def printable(text: str) -> str:
    """Without what would drive a terminal or hide a part of it. Line ends and tabs stay."""
    return "".join(one if one.isprintable() or one in "\n\t" else "�" for one in text)


def one_line(text: str) -> str:
    """A name within a sentence. With a line end in it, it could say what we did not, to CI's log readers above all."""
    return "".join(one if one.isprintable() else "�" for one in text)


def quoted(text: str) -> str:
    """A message behind words of ours: no line of it begins as one of ours does."""
    return printable(text).replace("\n", f"\n{_MARK}")


def block(text: str) -> str:
    """Lines of another's, each marked as such."""
    return f"{_MARK}{quoted(text.rstrip())}"


def command(line: str) -> str:
    """A command of ours to a runner, of which no part is another one."""
    return _HOLDS_COMMAND.sub("#�", one_line(line))


def harmless(text: str) -> str:
    """What is printed for people, with our own colours, and without anything that a log's reader would obey."""
    shown = "".join(part if _STYLE.fullmatch(part) else printable(part) for part in _STYLE.split(text))
    return _BEGINS_COMMAND.sub(r"\1| ", _HOLDS_COMMAND.sub("#�", shown))


def harmless_json(written: str) -> str:
    """The same JSON, with escapes for what drives a terminal or a runner."""
    escaped = _NOT_ASCII.sub(lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], written)
    return _HOLDS_COMMAND.sub(r"#\\u0023", escaped)


def holds_command(text: str) -> bool:
    """Whether a runner would take a line of the text for a command."""
    return bool(_COMMAND.search(text.replace("\r", "\n")))
