"""Markdown as a renderer reads it."""

import re
from functools import cache
from pathlib import Path
from typing import Final

_SPAN: Final = re.compile(r"`(?:[^`\n]|\n(?!\n))+`")
_LINK: Final = re.compile(r"\]\((?!https?://)([^)\s]+)\)")


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead to a file or an anchor that is not there."""
    broken = []
    for link in _LINK.findall(_SPAN.sub("", page.read_text())):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    return broken


def uneven_rows(page: Path) -> list[str]:
    """The rows of tables with another number of cells than their head, whose end a reader would not see."""
    uneven, cells = [], 0
    for line in page.read_text().splitlines():
        # A bar divides cells also in code, unless a backslash is before it.
        here = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        uneven += [line] if here and cells and here != cells else []
        cells = cells if here and cells else here
    return uneven


@cache
def _anchors(page: Path) -> set[str]:
    """Written with the heading, or as GitHub makes them from it: lower case, no punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+?)(?: \{: #(\w+) \})?$", page.read_text(), re.MULTILINE)
    return {written or re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading, written in headings}


def without_code(markdown: str) -> str:
    """What is neither in a block of code nor in inline code, as CommonMark has them."""
    kept, fence = [], ""
    for line in markdown.splitlines():
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if len(ticks) >= len(fence) and line == ticks else fence
        elif len(ticks) >= 3 and "`" not in line[len(ticks) :]:
            fence = ticks
        else:
            kept.append(_without_inline(line))
    assert not fence
    return "\n".join(kept)


def _without_inline(line: str) -> str:
    kept, at = "", 0
    while at < len(line):
        if line[at] != "`":
            kept, at = kept + line[at], at + 1
            continue
        size = len(line[at:]) - len(line[at:].lstrip("`"))
        end = at + size
        while end < len(line):
            run_ = len(line[end:]) - len(line[end:].lstrip("`"))
            if run_ == size:
                break
            end += run_ or 1
        assert end < len(line), line
        at = end + size
    return kept
