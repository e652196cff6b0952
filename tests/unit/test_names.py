"""Names and log lines that a stranger understands, over the sources of the product."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("cli", "engine", "functions", "local", "scripts", "shared")
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


@cache
def trees(folder: str) -> dict[str, ast.Module]:
    files = [path for path in (ROOT / folder).rglob("*.py") if not path.name.endswith("_pb2.py")]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in files}


def test_a_log_line_is_an_event_with_fields() -> None:
    lines = {
        f"{path}:{call.lineno}": ast.unparse(call.args[0])
        for folder in FOLDERS
        for path, tree in trees(folder).items()
        for call in _log_calls(tree)
    }

    assert lines
    assert {place: event for place, event in lines.items() if not re.fullmatch(r"'[a-z_]+'", event)} == {}


def _log_calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="logger"), attr=level)) if level in LEVELS:
                yield node
