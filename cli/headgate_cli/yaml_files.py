"""Reading YAML files: rules, tests, and the pipelines of a configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line, quoted
from headgate_engine import yaml_text
from headgate_engine.yaml_text import NotYaml
from headgate_engine.yaml_text import Place as Place

if TYPE_CHECKING:
    import yaml

# An OTTL path such as attributes["x"], within { }.
_UNQUOTED: Final = ("but got '['", "but got '{'")
STABLE_SIGNALS: Final = ("logs", "metrics", "traces")
SIGNALS: Final = (*STABLE_SIGNALS, "profiles")


def parse(content: str, label: str) -> object:
    """The parsed text. Raises Failed, with line and column, if it is not YAML."""
    return parse_with_lines(content, label)[0]


def parse_with_lines(content: str, label: str) -> tuple[object, Mapping[Place, int]]:
    """The parsed text, and the lines, from 1, of its keys and entries down to the third level.

    Raises Failed, with line and column, if it is not YAML, or if a key of these levels is given twice.
    """
    try:
        return yaml_text.parse_with_lines(content)
    except NotYaml as error:
        if error.line is None:
            raise Failed(f"{one_line(label)} is not valid YAML: {quoted(error.reason)}") from error
        reason = error.reason
        if reason.endswith(_UNQUOTED):
            reason = f"{reason}: put a text that contains it in quotes"
        raise Failed(f"{one_line(label)}:{error.line}:{error.column}: {quoted(reason)}") from error


def span_of(content: str, label: str, key: str) -> tuple[int, int] | None:
    """The span of a top-level key's value in the text; None if it has no such key. Raises Failed."""
    import yaml

    parse(content, label)
    node = yaml.compose(content, yaml.SafeLoader)
    for named, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if named.value == key:
            return value.start_mark.index, value.end_mark.index
    return None


def dump_yaml(value: object) -> str:
    """The value as YAML, texts of several lines as blocks, and each other text on one line."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, block)
    # Answers with types are dicts, too.
    Dumper.add_multi_representer(dict, yaml.SafeDumper.represent_dict)
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
