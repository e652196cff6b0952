"""A value in a YAML text is replaced or added, and every other byte stays.

The place comes from the parser's marks. What was written is read again: it must be the same document but for the value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from headgate_engine.errors import Invalid
from headgate_engine.yaml_text import NotYaml, parse_with_lines

if TYPE_CHECKING:
    import yaml

# A component of a section, or a part of the service: below these, settings that are missing are added.
_SHORTEST: Final = 2
_INDENT: Final = 2
LONGEST_PATH: Final = 1_000
LONGEST_VALUE: Final = 10_000
_LARGEST: Final = 200_000
_MOST_KEYS: Final = 20
_NEEDS_QUOTES: Final = re.compile(r"^[\s\-?:,\[\]{}#&*!|>'\"%@`]|: |\s#|:$|\s$")
_IN_FLOW: Final = re.compile(r"[,\[\]{}]")


@dataclass(frozen=True, slots=True)
class Setting:
    """`path` are keys, and indexes of lists, from the top of the text; `written` is the value as YAML on one line."""

    path: tuple[str, ...]
    written: str
    value: object

    @property
    def shown(self) -> str:
        return "::".join(self.path)


class NotSettable(Invalid):
    """The value cannot be set in this text. `line` is where, None if that is not known."""

    def __init__(self, detail: str, line: int | None = None) -> None:
        super().__init__(detail)
        self.line = line


class Absent(NotSettable):
    """The text does not have the component or the list entry that the path leads through, `missing`."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"It has no {missing}")
        self.missing = missing


def read_setting(path: str, written: str) -> Setting:
    """A setting as a person types it: keys with `.` or `::` between them. Raises Invalid, naming `path` or `value`."""
    keys = tuple(path.split("::" if "::" in path else "."))
    if len(path) > LONGEST_PATH or not _SHORTEST < len(keys) + 1 <= _MOST_KEYS or not all(keys):
        raise _wrong(
            "path",
            f"{path[:LONGEST_PATH]!r} is not the path of a setting: write the section, the component and the setting, "
            "such as exporters.otlphttp.endpoint; with :: between them if a name contains a dot",
        )
    if "\n" in written or "\r" in written:
        raise _wrong("value", "the value has several lines: write it on one line, as {a: 1} or [a, b]")
    if len(written) > LONGEST_VALUE:
        raise _wrong("value", f"the value has more than {LONGEST_VALUE:,} characters")
    if not written.startswith(("{", "[", "'", '"')):
        written = _scalar(written)
    elif written.startswith("[") and not written.endswith("]"):
        # An address such as [::]:4317.
        written = _quoted(written)
    try:
        value = _parse(written)
    except NotYaml as error:
        raise _wrong("value", f"the value is not YAML: {error.reason}") from error
    _require_small(written)
    return Setting(keys, written, value)


def edited(content: str, settings: Sequence[Setting]) -> str:
    """The text with each value. Raises Absent, NotYaml, and NotSettable if a value cannot be replaced by itself."""
    for setting in settings:
        content = _with(content, setting)
    return content


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(message, at=("setting", field))


def _parse(content: str) -> object:
    return parse_with_lines(content)[0]


def _with(content: str, setting: Setting) -> str:
    import yaml

    before = _parse(content)
    root = _require_small(content)
    if _get(before, setting.path) == (True, setting.value):
        return content
    node, at, in_flow = root, 0, False
    while at < len(setting.path) and (inner := _step(node, setting.path[at])) is not None:
        in_flow = in_flow or (isinstance(node, yaml.CollectionNode) and bool(node.flow_style))
        node, at = inner, at + 1
    missing = setting.path[at:]
    if node is None or at < min(_SHORTEST, len(setting.path) - 1) or (missing and isinstance(node, yaml.SequenceNode)):
        raise Absent("::".join(setting.path[: max(at + 1, _SHORTEST)]))
    if missing:
        after = _added(content, node, missing, setting.written, in_flow=in_flow)
    else:
        after = _replaced(content, node, setting.written, in_flow=in_flow)
    if _same(after, before, setting):
        return after
    raise NotSettable(
        f"{setting.shown} cannot be set by itself, since an anchor or a merge shares what is there",
        node.start_mark.line + 1,
    )


def _require_small(content: str) -> yaml.Node | None:
    """The nodes of a document. Raises NotSettable if aliases of aliases make it large: comparing it would not end."""
    import yaml

    node = yaml.compose(content, yaml.SafeLoader)
    if node is not None and _size(node, {}) > _LARGEST:
        raise NotSettable(f"its anchors expand to more than {_LARGEST:,} values")
    return node


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Count the node's values with its aliases expanded; more than `_LARGEST` for one that contains itself."""
    import yaml

    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = _LARGEST + 1
    size = 1
    if isinstance(node, yaml.MappingNode):
        size += sum(_size(key, sizes) + _size(value, sizes) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_size(entry, sizes) for entry in node.value)
    sizes[id(node)] = size
    return size


def _scalar(written: str) -> str:
    if written == "":
        return '""'
    return _quoted(written) if _NEEDS_QUOTES.search(written) else written


def _quoted(written: str) -> str:
    return "'" + written.replace("'", "''") + "'"


def _step(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key or entry. A key that a merge brings is not there: it is added beside the merge."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in reversed(node.value) if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and name.isdecimal() and int(name) < len(node.value):
        return cast("yaml.Node", node.value[int(name)])
    return None


def _replaced(content: str, node: yaml.Node, written: str, *, in_flow: bool) -> str:
    start, end = _span(content, node)
    if start == end and content[end:].lstrip(" ")[:1] in ("}", "]", ","):
        end = len(content) - len(content[end:].lstrip(" "))
    space = " " if start and content[start - 1] in ":-" else ""
    return content[:start] + space + (_for_flow(written) if in_flow else written) + content[end:]


def _added(content: str, node: yaml.Node, missing: Sequence[str], written: str, *, in_flow: bool) -> str:
    import yaml

    keys = [_scalar(key) for key in missing]
    inside = "".join(f"{key}: {{" for key in keys[:-1]) + f"{keys[-1]}: {_for_flow(written)}" + "}" * (len(keys) - 1)
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        end = node.end_mark.index - 1
        return f"{content[:end]}{', ' if node.value else ''}{inside}{content[end:]}"
    if isinstance(node, yaml.MappingNode):
        column = node.value[0][0].start_mark.column
        _, end = _span(content, _last(node))
    elif node.tag != "tag:yaml.org,2002:null":
        raise NotSettable(f"there is no place for {missing[0]}, it is not a mapping", node.start_mark.line + 1)
    elif in_flow:
        return _replaced(content, node, f"{{{inside}}}", in_flow=False)
    else:
        # `batch:` without a value: the settings go below it.
        start, end = _span(content, node)
        content, end = content[:start].rstrip(" ") + content[end:], len(content[:start].rstrip(" "))
        line = content.rfind("\n", 0, end) + 1
        column = len(content[line:end]) - len(content[line:end].lstrip(" ")) + _INDENT
    newline = content.find("\n", max(end - 1, 0))
    at = len(content) if newline < 0 else newline
    lines = [f"{' ' * (column + _INDENT * depth)}{key}:" for depth, key in enumerate(keys)]
    block = "\n".join([*lines[:-1], f"{lines[-1]} {written}"])
    return f"{content[:at]}\n{block}{content[at:]}"


def _for_flow(written: str) -> str:
    """The value as it can stand between braces."""
    if written[0] in "{['\"" or not _IN_FLOW.search(written):
        return written
    return _quoted(written)


def _last(node: yaml.Node) -> yaml.Node:
    """The last node that is written in a block."""
    import yaml

    while isinstance(node, yaml.MappingNode | yaml.SequenceNode) and not node.flow_style and node.value:
        inner = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
        if inner.start_mark.index < node.start_mark.index:
            # An alias: what it names stands further up.
            return cast("yaml.Node", node.value[-1][0]) if isinstance(node, yaml.MappingNode) else node
        node = inner
    return node


def _span(content: str, node: yaml.Node) -> tuple[int, int]:
    start, end = node.start_mark.index, node.end_mark.index
    text = content[start:end]
    # The marks of blocks reach up to what follows, with comments.
    return start, start + len(text.rstrip()) if text.strip() else start


def _get(document: object, path: Sequence[str]) -> tuple[bool, object]:
    for name in path:
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            return False, None
    return True, document


def _same(after: str, before: object, setting: Setting) -> bool:
    """True if the text is the former document, with the setting and nothing else changed."""
    try:
        return _parse(after) == _changed(before, setting.path, setting.value)
    except NotYaml:
        return False


def _changed(document: object, path: Sequence[str], value: object) -> object:
    if not path:
        return value
    name, *rest = path
    if isinstance(document, list):
        return [_changed(entry, rest, value) if str(at) == name else entry for at, entry in enumerate(document)]
    content = document if isinstance(document, dict) else {}
    return {**content, name: _changed(content.get(name), rest, value)}
