"""The regular expressions in the product's Python, and the texts that would make each of them slow.

The texts come from the structure of a pattern: for each part of it that repeats, what comes before it, the part many
times, and something that does not match; and these many times over, for a search that begins anew at each of them.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # these modules have no type stubs
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = (
    "shared/headgate",
    "engine/headgate_engine",
    "functions",
    "cli/headgate_cli",
    "local/headgate_local",
    "layers",
)
_FUNCTIONS: Final = ("compile", "search", "match", "fullmatch", "split", "sub", "subn", "findall", "finditer")
_AT_START: Final = {"match", "fullmatch"}
_MANY: Final = 100
"""A part that may repeat so often counts as one without an end."""
SIZES: Final = (12, 20, 28, 40, 60, 100, 200, 400, 2_000, 8_000)
"""Characters. Exponential growth shows below 100, the third power at 400, the square at 8,000."""
_SEPARATORS: Final = ("", " ", "!", "\n")
_ENDINGS: Final = ("", "\0", "\n!")


@dataclass(frozen=True)
class Pattern:
    """A pattern where it stands. `searched` if it is looked for at each place of a text, and not at its start alone."""

    place: str
    source: str | bytes
    flags: int
    searched: bool


class NotKnown(Exception):
    """A pattern that is put together of what is known only when it runs."""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.name.endswith("_pb2.py"):
                yield path


def calls() -> Iterator[tuple[Path, ast.Call]]:
    """Every call of a function of `re` that takes a pattern."""
    for path in sources():
        for node in ast.walk(_tree(path)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr)) if attr in _FUNCTIONS:
                    yield path, node


def pattern_of(path: Path, call: ast.Call) -> Pattern:
    """Raises NotKnown."""
    assert isinstance(call.func, ast.Attribute)
    place = f"{path.relative_to(ROOT)}: {ast.unparse(call.args[0])}"
    flags = next((word.value for word in call.keywords if word.arg == "flags"), None)
    if call.func.attr == "compile" and len(call.args) > 1:
        flags = call.args[1]
    source = _evaluated(path, call.args[0])
    searched = call.func.attr not in _AT_START
    if call.func.attr == "compile":
        uses = _uses(path, _name_of(path, call))
        searched = not uses or not uses <= _AT_START
    return Pattern(place, source, int(_evaluated(path, flags)) if flags else 0, searched)


def _evaluated(path: Path, node: ast.expr) -> Any:
    with suppress(NameError):
        return eval(ast.unparse(node), {"re": re})
    under = path.relative_to(ROOT).with_suffix("").parts
    module = importlib.import_module(".".join(under[1:]))
    try:
        return eval(ast.unparse(node), {**vars(module), "re": re})
    except (NameError, AttributeError) as error:
        raise NotKnown(ast.unparse(node)) from error


def _name_of(path: Path, call: ast.Call) -> str:
    """The constant that the pattern is assigned to; empty if it is none."""
    for node in ast.walk(_tree(path)):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if value is not None and ast.unparse(value) == ast.unparse(call):
                return name
    return ""


@cache
def _attributes() -> dict[tuple[str, str], set[str]]:
    """By file and name: the methods that are called on it there; and by "" and name, anywhere."""
    methods: dict[tuple[str, str], set[str]] = {}
    for path in sources():
        for node in ast.walk(_tree(path)):
            match node:
                case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=attr):
                    methods.setdefault((str(path), name), set()).add(attr)
                    methods.setdefault(("", name), set()).add(attr)
    return methods


def _uses(path: Path, name: str) -> set[str]:
    """The functions that are called of a pattern of that name, in its file if it is private."""
    of = str(path) if name.startswith("_") else ""
    return _attributes().get((of, name), set()) & {*_FUNCTIONS}


def growth(pattern: Pattern) -> tuple[float, str] | None:
    """How many times longer a text of eight times the length takes, and that text's beginning; None if none is slow."""
    compiled = re.compile(pattern.source, pattern.flags)
    run = compiled.search if pattern.searched else compiled.match
    for pump in attacks(pattern):
        for size in SIZES:
            took = _best(run, pump(size), 1)
            if took < 0.015:
                continue
            # Once more, when the machine may be less busy.
            took = _best(run, pump(size), 3)
            if size < SIZES[-1] and took > 0.05:
                return float("inf"), repr(pump(size))[:200]
            ratio = took / max(_best(run, pump(size // 8), 5), 1e-6)
            if ratio > 24:
                return ratio, repr(pump(size))[:200]
    return None


def _best(run: Any, text: str | bytes, times: int) -> float:
    return min(_time(run, text) for _ in range(times))


def _time(run: Any, text: str | bytes) -> float:
    began = time.thread_time()
    run(text)
    return time.thread_time() - began


def attacks(pattern: Pattern) -> Iterator[Any]:
    """Functions from a number of characters to a text."""
    tree = _parser.parse(pattern.source, pattern.flags)
    binary = isinstance(pattern.source, bytes)
    seen: set[tuple[str, str, str]] = set()
    for before, part in _repeats(tree, ""):
        for core in dict.fromkeys(part):
            shapes = [(before, core), ("", core), *(("", f"{before}{core}{between}") for between in _SEPARATORS)]
            shapes += [("", f"{before}{between}") for between in _SEPARATORS]
            for start, again in shapes:
                for ending in _ENDINGS:
                    if again and (start, again, ending) not in seen:
                        seen.add((start, again, ending))
                        yield _pump(start, again, ending, binary)


def _pump(start: str, again: str, ending: str, binary: bool) -> Any:
    def text(size: int) -> str | bytes:
        made = start + again * max(1, (size - len(start)) // len(again)) + ending
        return made.encode("latin-1", "replace") if binary else made

    return text


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """What comes before each part that repeats without end, and texts that it matches once."""
    for operator, argument in tree:
        match operator:
            case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
                _, high, body = argument
                if high >= _MANY:
                    yield before, _texts(body)
                yield from _repeats(body, before)
            case _constants.SUBPATTERN:
                yield from _repeats(argument[3], before)
            case _constants.ATOMIC_GROUP:
                yield from _repeats(argument, before)
            case _constants.BRANCH:
                for branch in argument[1]:
                    yield from _repeats(branch, before)
            case _constants.ASSERT | _constants.ASSERT_NOT:
                yield from _repeats(argument[1], before)
            case _constants.GROUPREF_EXISTS:
                yield from _repeats(argument[1] or [], before)
        before += _texts([(operator, argument)])[0]


def _texts(tree: Any) -> list[str]:
    """Some texts that the parts match one after the other; the first one is the shortest."""
    made = [""]
    for operator, argument in tree:
        made = [text + more for text in made for more in _of(operator, argument)][:6]
    return made


def _of(operator: Any, argument: Any) -> list[str]:
    match operator:
        case _constants.LITERAL:
            return [chr(argument)]
        case _constants.NOT_LITERAL:
            return [
                next(one for one in "a \"'" if ord(one) != argument),
                next(one for one in "\\/ :" if ord(one) != argument),
            ]
        case _constants.ANY:
            return ["a", " "]
        case _constants.IN:
            return _of_class(argument)
        case _constants.MAX_REPEAT | _constants.MIN_REPEAT | _constants.POSSESSIVE_REPEAT:
            low, _, body = argument
            return [one * low for one in _texts(body)] + (
                [one * max(low, 1) for one in _texts(body)] if not low else []
            )
        case _constants.SUBPATTERN:
            return _texts(argument[3])
        case _constants.ATOMIC_GROUP:
            return _texts(argument)
        case _constants.BRANCH:
            return [text for branch in argument[1] for text in _texts(branch)[:2]]
        case _constants.CATEGORY:
            return _of_class([(operator, argument)])
    # Places and groups that are named again match nothing of their own.
    return [""]


_ALPHABET: Final = "a0 -_./:#'\"\\!&|,[]{}()$<>@=+*`~^%?;\n\tA€"


def _of_class(members: Sequence[Any]) -> list[str]:
    """Up to five characters of a class, of different kinds."""
    those = [one for one in _ALPHABET if _in_class(members, ord(one))]
    if those:
        return [those[0], *those[1 :: max(1, len(those) // 4)]][:5]
    first = next(argument for operator, argument in members if operator in (_constants.LITERAL, _constants.RANGE))
    return [chr(first if isinstance(first, int) else first[0])]


def _in_class(members: Sequence[Any], character: int) -> bool:
    negated = bool(members) and members[0][0] is _constants.NEGATE
    inside = False
    for operator, argument in members:
        match operator:
            case _constants.LITERAL:
                inside |= character == argument
            case _constants.RANGE:
                inside |= argument[0] <= character <= argument[1]
            case _constants.CATEGORY:
                name = str(argument).rpartition("_")[2].lower()
                kind = {"space": r"\s", "word": r"\w", "digit": r"\d"}[name]
                kind = kind.upper() if "_NOT_" in str(argument) else kind
                inside |= re.match(kind, chr(character)) is not None
    return inside != negated
