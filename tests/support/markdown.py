"""Markdown as a renderer reads it."""


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
