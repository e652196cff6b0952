"""Finds code of stores that copies the fields of a class into an item, or out of one."""

import ast
from collections.abc import Iterator
from pathlib import Path

_READING = {"text", "number", "mapping", "optional_text", "optional_number"}
_MOST_READ = 2
_MOST_WRITTEN = 2


def copying(path: Path) -> Iterator[str]:
    """Each place of a file in which more than two fields are copied."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and _class_name(node.func):
            read = [each for each in (*node.args, *(keyword.value for keyword in node.keywords)) if _reads(each)]
            if len(read) > _MOST_READ:
                yield f"{path.name}:{node.lineno} makes a {_class_name(node.func)} of attributes"
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            written = [key for key, value in pairs if isinstance(key, ast.Constant) and key.value in _attributes(value)]
            if len(written) > _MOST_WRITTEN:
                yield f"{path.name}:{node.lineno} makes an item of fields"


def _class_name(function: ast.expr) -> str:
    name = function.id if isinstance(function, ast.Name) else ""
    return name if name.lstrip("_")[:1].isupper() else ""


def _reads(value: ast.expr) -> bool:
    """Whether it has an attribute of an item in it."""
    calls = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
    asked = any(isinstance(called, ast.Attribute) and called.attr in _READING for called in calls)
    subscripts = (node.slice for node in ast.walk(value) if isinstance(node, ast.Subscript))
    return asked or any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in subscripts)


def _attributes(value: ast.expr) -> set[str]:
    return {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}


def not_given(path: Path) -> Iterator[str]:
    """Each field that a declaration of a file has elsewhere, and that no reader in it gives."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    given = {keyword.arg for call in calls if ast.unparse(call.func).endswith(".read") for keyword in call.keywords}
    for call in calls:
        for keyword in call.keywords:
            if ast.unparse(call.func).endswith("Stored") and keyword.arg == "elsewhere":
                fields = [name for name in ast.literal_eval(keyword.value) if name not in given]
                yield from (f"{path.name}:{call.lineno} reads no {name}" for name in fields)
