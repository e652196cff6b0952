"""The reference of components: every component of the default collector with its settings, as its binary tells them.

Only settings of the first level are on the pages; those inside are counted. Descriptions are not: they are sentences of
the components' authors, which the service quotes and the site does not copy.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from headgate.reference import service as reference
from headgate_engine.reference.fields import Field, fields
from headgate_engine.reference.model import KINDS, Component, Kind

_LONGEST_DEFAULT: Final = 80


def pages(version: str) -> dict[str, str]:
    """The content of each page, by its path in the site."""
    matches = {kind: reference.matching(version, kind) for kind in KINDS}
    index = _page(
        "Components",
        [
            f"What collector {version} can be configured with, as its binary tells it. "
            "[components.md](../components.md) explains where this comes from, and how to see what each setting means, "
            "the settings inside of settings, and the components of another version.",
            "",
            "| Kind | Components |",
            "|---|---|",
            *(f"| [{kind.capitalize()}s]({kind}s.md) | {len(components)} |" for kind, components in matches.items()),
        ],
    )
    return {"components/index.md": index} | {
        f"components/{kind}s.md": _page(f"{kind.capitalize()}s", _of_kind(kind, components))
        for kind, components in matches.items()
    }


def _page(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"# {title}", "", *lines, ""])


def _of_kind(kind: Kind, components: Sequence[Component]) -> list[str]:
    lines = [f"`headgate component show TYPE --kind {kind}` shows all settings of one, with what they mean."]
    for component in components:
        lines += ["", f"## {component.type}", ""]
        lines += [" ".join(_about(component))]
        lines += ["", *_settings(component)]
    return lines


def _about(component: Component) -> Iterator[str]:
    deprecated = "**Deprecated.** " if component.deprecated is not None else ""
    former = f" Formerly {', '.join(f'`{alias}`' for alias in component.aliases)}." if component.aliases else ""
    yield f"{deprecated}Stability: {_stability(component)}.{former}"
    path, _, version = component.module.partition(" ")
    yield f"[Module {version}](https://pkg.go.dev/{path}@{version})"


def _stability(component: Component) -> str:
    by_level: dict[str, list[str]] = {}
    for signal, level in component.stability.items():
        by_level.setdefault(level, []).append(signal.replace("_", " "))
    return "; ".join(f"{level} ({', '.join(signals)})" for level, signals in by_level.items()) or "not known"


def _settings(component: Component) -> list[str]:
    message = fields(json.loads(component.schema))
    first = [entry for entry in message if not re.search(r"[.\[]", entry.path.replace("<key>", ""))]
    if not first:
        return ["It has no settings."]
    inside = {
        entry.path: sum(another.path.startswith((f"{entry.path}.", f"{entry.path}[")) for another in message)
        for entry in first
    }
    rows = [
        f"| `{entry.path}` | {_type(entry)} | {_default(entry)} | {_described(entry, inside[entry.path])} |"
        for entry in first
    ]
    return ["| Setting | Type | Default | |", "|---|---|---|---|", *rows]


def _type(field: Field) -> str:
    return f"one of {', '.join(f'`{value}`' for value in field.values)}" if field.values else field.type


def _default(field: Field) -> str:
    if field.default is None:
        return ""
    return f"`{_cell(field.default)}`" if len(field.default) <= _LONGEST_DEFAULT else "long"


def _described(field: Field, inside: int) -> str:
    marks = [mark for mark, has in (("Deprecated.", field.deprecated), ("Secret.", field.secret)) if has]
    settings_inside = [f"{inside} inside"] if inside else []
    return " ".join([*marks, *settings_inside])


def _cell(code: str) -> str:
    """A code span in a table: a pipe would end the cell."""
    return code.replace("|", "\\|").replace("`", "'")
