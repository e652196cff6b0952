"""Writes docs/cli-json.md: what each command of the command line prints with --json, from docs/cli-json.yaml.

python -m scripts.cli_json
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from scripts.openapi import DOCUMENT

DOCS: Final = Path(__file__).parents[1] / "docs"
SOURCE: Final = DOCS / "cli-json.yaml"
PAGE: Final = DOCS / "cli-json.md"
Schema = dict[str, Any]
_HEAD: Final = """\
# What commands print with `--json`

`python -m scripts.cli_json` writes this page from [cli-json.yaml](cli-json.yaml), which has the JSON Schemas. A name
such as `FleetOut` is a shape of the API: the server describes it at `/docs/FleetOut`, and
`/api/v1/public/openapi.json` has its schema. Results go to standard output, everything else to standard error. More
fields may be added to an object; none is removed or changes its type.

| Command | Prints |
|---|---|
"""


@cache
def described() -> Mapping[str, Mapping[str, Schema]]:
    """`commands` and `shapes` of the source."""
    result: dict[str, dict[str, Schema]] = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return result


def schema_of(command: str) -> Schema:
    """The JSON Schema of what a command prints, with every shape that it refers to."""
    shapes = json.loads(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"] | described()["shapes"]
    resolved: Schema = _resolved({**described()["commands"][command], "$defs": shapes})
    return resolved


def page() -> str:
    """docs/cli-json.md."""
    rows = [f"| `headgate {name}` | {_told(schema)} |" for name, schema in sorted(described()["commands"].items())]
    shapes = [f"## {name}\n\n{_fields(schema)}\n" for name, schema in described()["shapes"].items()]
    return _HEAD + "\n".join(rows) + "\n\n" + "\n".join(shapes)


def _resolved(node: Any) -> Any:
    match node:
        case dict():
            return {
                key: f"#/$defs/{value.rpartition('/')[2]}" if key == "$ref" else _resolved(value)
                for key, value in node.items()
            }
        case list():
            return [_resolved(entry) for entry in node]
        case _:
            return node


def _told(schema: Schema) -> str:
    """`a list of FleetOut`, and the like."""
    note = f" ({schema['description'][0].lower()}{schema['description'][1:]})" if "description" in schema else ""
    match schema:
        case {"$ref": name}:
            shown = f"[{name}](#{name.lower()})" if name in described()["shapes"] else f"`{name}`"
        case {"anyOf": choices}:
            shown = ", or ".join(map(_told, choices))
        case {"allOf": parts}:
            shown = " with ".join(map(_told, parts))
        case {"type": "array", "items": items}:
            shown = f"a list of {_told(items)}"
        case {"type": "object", "required": names}:
            shown = "an object with " + ", ".join(f"`{name}`" for name in names)
        case {"type": kind}:
            shown = f"a JSON {kind}"
    return shown + note


def _fields(schema: Schema) -> str:
    rows = [f"| `{name}` | {field.get('description', '')} |" for name, field in schema["properties"].items()]
    return "| Field | Meaning |\n|---|---|\n" + "\n".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(DOCS.parent)}")
