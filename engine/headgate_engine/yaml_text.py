"""YAML texts of people: read within bounds, with the lines of their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import yaml

_MOST_MERGED: Final = 200_000
# How deep the lines of keys are known: a field of an entry of a field, such as `rules[0].condition`.
_DEEPEST_LINE: Final = 3
_MOST_LINES: Final = 10_000

# Keys and indexes from the top of a document: ("rules", 0, "condition").
Place = tuple[str | int, ...]


class NotYaml(Exception):
    """The text is not YAML. `line` and `column` are from 1, None if the place is not known."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def parse_with_lines(content: str) -> tuple[object, Mapping[Place, int]]:
    """The parsed text, and the lines, from 1, of its keys and entries down to the third level.

    Raises NotYaml if it is not YAML, or if a key of these levels is given twice.
    """
    # Imported here: most commands do without it.
    import yaml

    class Loader(yaml.SafeLoader):
        """Bounds merges (`<<`): merges of merges can double the size with each line."""

        merged = 0

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            self.merged += len(node.value)
            if self.merged > _MOST_MERGED:
                raise yaml.YAMLError(f"its merges (<<) expand to more than {_MOST_MERGED:,} entries")

    loader = None
    try:
        loader = Loader(content)
        node = loader.get_single_node()
        lines: dict[Place, int] = {}
        # Before the values are built, which resolves merges in the nodes.
        _add_lines(node, (), lines)
        return loader.construct_document(node) if node is not None else None, lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        # "expected a single document in the stream", "but found another document"
        parts = [error.context, error.problem] if (error.problem or "").startswith("but ") else [error.problem]
        reason = ", ".join(part for part in parts if part)
        raise NotYaml(reason, mark.line + 1 if mark else None, mark.column + 1 if mark else None) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise NotYaml(str(error)) from error
    except (ArithmeticError, AttributeError, LookupError) as error:
        # PyYAML raises these at `!!bool perhaps`, or at a number that is too large.
        raise NotYaml("a value is not what its tag says, or is too large") from error
    finally:
        if loader is not None:
            loader.dispose()


def _add_lines(node: yaml.Node | None, place: Place, lines: dict[Place, int]) -> None:
    """Record the lines of a node's keys or entries, and of those below them."""
    from yaml import MappingNode, MarkedYAMLError, ScalarNode, SequenceNode

    if not node or len(place) >= _DEEPEST_LINE:
        return
    entries: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, MappingNode):
        entries = [(key.value, key, value) for key, value in node.value if isinstance(key, ScalarNode)]
    elif isinstance(node, SequenceNode):
        entries = [(at, value, value) for at, value in enumerate(node.value)]
    for name, marked, value in entries:
        if len(lines) >= _MOST_LINES:
            return
        below = (*place, name)
        if below in lines and name != "<<":
            problem = f"{name} is given twice, first in line {lines[below]}"
            raise MarkedYAMLError(problem=problem, problem_mark=marked.start_mark)
        lines[below] = marked.start_mark.line + 1
        _add_lines(value, below, lines)
