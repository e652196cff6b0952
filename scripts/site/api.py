"""The reference of the API: the service's own reference of its description, a page for each section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from components import api_pages
from components.api_document import ApiDocument, Operation, document
from headgate.http.paths import PUBLIC
from scripts.site.markdown import code, heading, table

_INDEX: Final = "index"
_HEAD: Final = """\
# The API

{description}

For programs, every server has the same as `{prefix}/openapi.json`. Its page `/docs` has a search in all fields.
Paths below begin with `{prefix}`.

## Operations and who may use them

A token may do what was chosen when it was made, a session what its person's role allows
([identity](../../identity.md)). [Errors](../errors.md) lists the codes of errors.
"""
_LINK: Final = re.compile(r'href="/docs/(\w+)"')


def pages() -> dict[str, str]:
    """A page for each section, and the list of all operations."""
    whole = document()
    sections = {
        tag.name: [operation for operation in whole.operations.values() if operation.tags[0] == tag.name]
        for tag in whole.tags
    }
    homes = _homes(whole, sections)
    rows = (
        [
            f"[{operation.id}]({_file(name)}#{operation.id})",
            code(f"{operation.method} {operation.path.removeprefix(PUBLIC)}"),
            " or ".join(operation.credentials) or "no credential",
        ]
        for name, operations in sections.items()
        for operation in operations
    )
    index = [
        _HEAD.format(description=whole.info.description.strip(), prefix=PUBLIC),
        *table(["Operation", "Request", "Credential"], rows),
        *_section(whole, (), _INDEX, homes),
    ]
    written = {
        tag.name: [f"# {tag.name}", "", tag.description, *_section(whole, sections[tag.name], tag.name, homes)]
        for tag in whole.tags
    }
    return {f"reference/api/{_file(name)}": "\n".join(lines) for name, lines in ({_INDEX: index} | written).items()}


def _file(section: str) -> str:
    return f"{section.lower().replace(' ', '-')}.md"


def _homes(whole: ApiDocument, sections: Mapping[str, Iterable[Operation]]) -> dict[str, str]:
    """By operation and shape, the section that describes it: for a shape the first that uses it, however indirectly.

    What errors look like is described on the first page.
    """
    homes = {operation.id: name for name, operations in sections.items() for operation in operations}
    used = {_INDEX: ["Problem"]} | {
        name: [shape for operation in operations for shape in sorted(operation.shapes)]
        for name, operations in sections.items()
    }
    for section, waiting in used.items():
        while waiting:
            name = waiting.pop()
            if name not in homes:
                homes[name] = section
                waiting += whole.components.schemas[name].shapes
    return homes


def _section(whole: ApiDocument, operations: Iterable[Operation], section: str, homes: Mapping[str, str]) -> list[str]:
    shapes = {name: whole.components.schemas[name] for name in sorted(whole.components.schemas)}
    parts = {operation.id: api_pages.operation(whole, operation) for operation in operations} | {
        name: api_pages.shape(schema) for name, schema in shapes.items() if homes.get(name) == section
    }

    def link(reference: re.Match[str]) -> str:
        page = _file(homes[reference[1]]).replace(".md", ".html")
        return f'href="{page}#{reference[1]}"'

    # A bracket could begin a link of Markdown.
    html = {name: _LINK.sub(link, part).replace("](", "&#93;(") for name, part in parts.items()}
    return [line for name, part in html.items() for line in ("", heading(name), "", part)]
