"""Hooks of mkdocs, which loads this file in an environment that has nothing else of the project."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

# The plugin `offline` names a script of another host, unless there is one with this name.
WORKER: Final = "assets/no-iframe-worker.js"
_ELSEWHERE: Final = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^\s>]*""")
_WORKER: Final = """\
// Browsers start no worker from a file of a folder, and start one from a text. The search is the only worker.
if (location.protocol === "file:") {
  const Native = Worker;
  window.Worker = class extends Native {
    constructor() { super(URL.createObjectURL(new Blob([%s], { type: "text/javascript" }))); }
  };
}
"""


def on_config(config: Any) -> Any:
    config["nav"] = expanded(config["nav"], Path(config["docs_dir"]))
    return config


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page with a name for the search's dialog. Exits if it would load something from another host."""
    if result := _ELSEWHERE.search(output):
        raise SystemExit(f"{page} would load something from another host: {result[0]}")
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def on_post_build(config: Any) -> None:
    site = Path(config["site_dir"])
    (search,) = site.glob("assets/javascripts/workers/search.*.min.js")
    (site / WORKER).write_text(_WORKER % json.dumps(search.read_text(encoding="utf-8")), encoding="utf-8")


def expanded(entries: list[Any], pages: Path) -> list[Any]:
    """A navigation in which an entry that ends with a slash has become the pages of that folder, its index first."""
    results: list[Any] = []
    for entry in entries:
        match entry:
            case str():
                results.append(entry)
            case dict():
                ((title, inner),) = entry.items()
                if isinstance(inner, list):
                    inner = expanded(inner, pages)
                elif inner.endswith("/"):
                    names = sorted(path.name for path in (pages / inner).glob("*.md"))
                    inner = [inner + name for name in sorted(names, key=lambda name: name != "index.md")]
                results.append({title: inner})
    return results
