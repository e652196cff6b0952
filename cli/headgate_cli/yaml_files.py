"""Reading YAML files: rules, tests, and the pipelines of a configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line, quoted

if TYPE_CHECKING:
    import yaml

# An OTTL path such as attributes["x"], within { }.
_UNQUOTED: Final = ("but got '['", "but got '{'")
_MOST_MERGED: Final = 200_000
# How deep the lines of keys are known: a field of an entry of a field, such as `rules[0].condition`.
_DEEPEST_LINE: Final = 3
_MOST_LINES: Final = 10_000
STABLE_SIGNALS: Final = ("logs", "metrics", "traces")
SIGNALS: Final = (*STABLE_SIGNALS, "profiles")

# Keys and indexes from the top of a document: ("rules", 0, "condition").
Place = tuple[str | int, ...]


def parse(content: str, label: str) -> object:
    """The parsed text. Raises Failed, with line and column, if it is not YAML."""
    return parse_with_lines(content, label)[0]


def parse_with_lines(content: str, label: str) -> tuple[object, Mapping[Place, int]]:
    """The parsed text, and the lines, from 1, of its keys and entries down to the third level.

    Raises Failed, with line and column, if it is not YAML, or if a key of these levels is given twice.
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
        # Before the values are made: making them resolves merges in the nodes.
        _add_lines(node, (), lines)
        return loader.construct_document(node) if node is not None else None, lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        # "expected a single document in the stream", "but found another document"
        parts = [error.context, error.problem] if (error.problem or "").startswith("but ") else [error.problem]
        reason = ", ".join(part for part in parts if part)
        if reason.endswith(_UNQUOTED):
            reason = f"{reason}: put a text that contains it in quotes"
        raise Failed(f"{one_line(label)}{where}: {quoted(reason)}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Failed(f"{one_line(label)} is not valid YAML: {quoted(str(error))}") from error
    finally:
        if loader is not None:
            loader.dispose()


def span_of(content: str, label: str, key: str) -> tuple[int, int] | None:
    """Where the value of a top-level key begins and ends in the text; None if it has no such key. Raises Failed."""
    import yaml

    parse(content, label)
    node = yaml.compose(content, yaml.SafeLoader)
    for named, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if named.value == key:
            return value.start_mark.index, value.end_mark.index
    return None


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


def dump_yaml(value: object) -> str:
    """The value as YAML, texts of several lines as blocks, and each other text on one line."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, block)
    return yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=sys.maxsize)


def pipelines(content: str, label: str) -> list[str]:
    """The names of the configuration's pipelines."""
    document = parse(content, label)
    service = document.get("service") if isinstance(document, Mapping) else None
    defined = service.get("pipelines") if isinstance(service, Mapping) else None
    return [str(name) for name in defined] if isinstance(defined, Mapping) else []


def signal_of(pipeline: str) -> str:
    """The pipeline's signal: `logs` for `logs/edge`. Raises Failed for any other name."""
    signal = pipeline.partition("/")[0]
    if signal not in SIGNALS:
        raise Failed(f"{pipeline!r} is not a pipeline name: it must start with logs, metrics, traces or profiles")
    return signal
