"""Names and log lines that a stranger understands, over the sources of the product."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("cli", "engine", "functions", "local", "scripts", "shared")
GENERATED = ("_pb2.py", "headgate_cli/shapes.py")
VAGUE = frozenset({"one", "found", "told", "made", "wanted", "given", "other", "kept", "taken", "of"})
MOST_VAGUE_NAMES = {"cli": 0, "engine": 0, "functions": 0, "local": 0, "scripts": 0, "shared": 2}
"""How many variables, arguments and functions have such a name, by folder. A limit only falls: name the new one.

The two of `shared` are the field `of` in which a supervisor reports its counters."""
MOST_CLASSES_OF_ONE_NAME = 9
"""How many names two public classes or more have. The limit only falls.

Left are names of the API's schemas beside the engine's classes that they show, exceptions, whose names log lines
carry, and an `Asker` of the service that extends the engine's."""
MOST_ODD_DOCSTRINGS = {"cli": 0, "engine": 0, "functions": 0, "local": 0, "scripts": 0, "shared": 0}
"""How many docstrings begin with a word that begins a question or a clause, by folder. A limit only falls: begin with a
verb or a noun of the field."""
CLAUSE = re.compile(r"(What|Whether|Who|Whose|Which|Where|When|How|Why|That|It|As|Of|Whatever|They|There|Nothing)\b")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


@cache
def trees(folder: str) -> dict[str, ast.Module]:
    files = [path for path in (ROOT / folder).rglob("*.py") if not str(path).endswith(GENERATED)]
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


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_say_what_they_are(folder: str) -> None:
    vague = [f"{path}: {name}" for path, tree in trees(folder).items() for name in _bound(tree) if name in VAGUE]

    assert len(vague) <= MOST_VAGUE_NAMES[folder], vague


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    odd = [
        f"{path}: {text}" for path, tree in trees(folder).items() for text in _docstrings(tree) if CLAUSE.match(text)
    ]

    assert len(odd) <= MOST_ODD_DOCSTRINGS[folder], odd


def test_a_class_has_one_name_in_the_whole_project() -> None:
    classes: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for path, tree in trees(folder).items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    classes.setdefault(node.name, []).append(path)

    shared = {name: paths for name, paths in classes.items() if len(paths) > 1}
    assert len(shared) <= MOST_CLASSES_OF_ONE_NAME, shared


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="of", decorator_list=[ast.Name(id="classmethod"), *_]):
                # A constructor is read behind its class: `Asker.of(caller)`.
                continue
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield name


def _docstrings(tree: ast.Module) -> Iterator[str]:
    """The first line of each, those of constants and fields included."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(node, ast.Module | ast.ClassDef | FUNCTION) else []:
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    yield text.strip().partition("\n")[0]
