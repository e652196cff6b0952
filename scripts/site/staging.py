"""The pages of the site in one folder.

Links of the pages may lead to any file of the repository: each of these gets a page of its own below `project/`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from scripts import third_party
from scripts.default_version import default
from scripts.site import api, commands, components, errors, policies, settings

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
STAGED: Final = ROOT / "build" / "docs"
# Whoever searches wants the documents, not what they link to.
POLICIES: Final = "policies.md"
_NOT_SEARCHED: Final = "---\nsearch: {exclude: true}\n---\n\n"
# Fences and spans of code have no links.
_CODE: Final = re.compile(r"(^```.*?^```$|`(?:[^`\n]|\n(?!\n))+`)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)((?:#[^)\s]+)?\))")


def stage(folder: Path) -> None:
    """Write every page into `folder`, which is emptied first. Raises FileNotFoundError for a link to nothing."""
    if folder.exists():
        shutil.rmtree(folder)
    written: dict[Path, Path] = {}
    waiting = sorted(DOCS.rglob("*.md"))
    while waiting:
        source = waiting.pop()
        if source in written:
            continue
        written[source] = target = folder / place(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = _indented(source.read_text(encoding="utf-8"))
            head = "" if source.is_relative_to(DOCS) else _NOT_SEARCHED
            target.write_text(head + _linked(text, source), encoding="utf-8")
            waiting += _links(text, source)
        elif source.is_relative_to(DOCS):
            shutil.copyfile(source, target)
        else:
            target.write_text(_listing(source), encoding="utf-8")
    for path, text in (generated() | built()).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    with (folder / POLICIES).open("a", encoding="utf-8") as page:
        page.write(policies.listed(default(ROOT)))


def generated() -> dict[str, str]:
    """The first page and the reference, by their path in the site."""
    return {
        "index.md": (Path(__file__).parent / "index.md").read_text(encoding="utf-8"),
        **api.pages(),
        **commands.pages(),
        "reference/errors.md": errors.page(),
        "reference/settings.md": settings.page(),
    }


def built() -> dict[str, str]:
    """Pages about the built programs from their own answers, by the page's path in the site."""
    return {**components.pages(default(ROOT)), "licences.md": third_party.written(third_party.components())}


def place(source: Path) -> Path:
    """The path in the site of a file of the repository."""
    if source.is_relative_to(DOCS):
        return source.relative_to(DOCS)
    path = Path("project") / source.relative_to(ROOT)
    return path if path.suffix == ".md" else path.with_name(f"{path.name}.md")


def _links(text: str, source: Path) -> list[Path]:
    """The files to which a page links."""
    code_free = _CODE.sub("", text)
    return [_target(result[2], source) for result in _LINK.finditer(code_free)]


def _target(link: str, source: Path) -> Path:
    target = (source.parent / link).resolve()
    if not target.is_file():
        raise FileNotFoundError(f"{source.relative_to(ROOT)} links to {link}, which is not a file")
    return target


def _linked(text: str, source: Path) -> str:
    """The text with its links as they are in the site."""
    here = place(source).parent

    def moved(result: re.Match[str]) -> str:
        return f"{result[1]}{os.path.relpath(place(_target(result[2], source)), here)}{result[3]}"

    parts = _CODE.split(text)
    return "".join(part if at % 2 else _LINK.sub(moved, part) for at, part in enumerate(parts))


def _indented(text: str) -> str:
    """Lists inside of lists with the four spaces that mkdocs needs, where GitHub takes two."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if at % 2 else re.sub(r"^ +", lambda result: result[0] * 2, part, flags=re.MULTILINE)
        for at, part in enumerate(parts)
    )


def _listing(source: Path) -> str:
    """A file that is not Markdown, as a page."""
    language = {".py": "python", ".yml": "yaml", ".yaml": "yaml"}.get(source.suffix, "text")
    text = source.read_text(encoding="utf-8")
    return f"{_NOT_SEARCHED}# {source.relative_to(ROOT)}\n\n`````{language}\n{text.rstrip()}\n`````\n"
