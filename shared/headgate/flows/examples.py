"""Examples of components from the gallery: the component's own lines of the shortest flow that uses it.

Only publishing needs it, which reads the flows' YAML.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import yaml

from headgate.flows.model import ComponentExample, FullFlow
from headgate.foundation import yaml_text

_SECTIONS: Final = ("receivers", "processors", "exporters", "connectors", "extensions")


def of_flows(flows: Sequence[FullFlow]) -> list[ComponentExample]:
    """An example of each component that a flow uses, by kind and type; one with settings goes before one without."""
    shortest: dict[tuple[str, str], tuple[tuple[bool, int], ComponentExample]] = {}
    for flow in flows:
        for example, is_bare in _of_flow(flow):
            key, rank = (example.kind, example.type), (is_bare, len(example.yaml))
            if key not in shortest or rank < shortest[key][0]:
                shortest[key] = rank, example
    return [example for _, (_, example) in sorted(shortest.items())]


def _of_flow(flow: FullFlow) -> Iterator[tuple[ComponentExample, bool]]:
    lines = flow.yaml.splitlines()
    document = yaml.compose(flow.yaml, yaml_text.SafeLoader)
    whole = yaml_text.safe_load(flow.yaml)
    assert isinstance(document, yaml.MappingNode)
    assert isinstance(whole, dict)
    for section, components in document.value:
        if section.value not in _SECTIONS or not isinstance(components, yaml.MappingNode):
            continue
        for name, settings in components.value:
            # What is written in lines ends where the next begins; anything else, on a line of its own.
            in_lines = isinstance(settings, yaml.MappingNode) and not settings.flow_style
            end = settings.end_mark.line + (0 if in_lines else 1)
            own = lines[name.start_mark.line : end]
            indent = name.start_mark.column
            text = "\n".join([f"{section.value}:", *(f"  {line[indent:]}".rstrip() for line in _without_tail(own))])
            if _meaning(text) == {section.value: {name.value: whole[section.value][name.value]}}:
                type_, _, _ = name.value.partition("/")
                yield (
                    ComponentExample(section.value.removesuffix("s"), type_, f"{text}\n", flow.flow.slug),
                    not settings.value,
                )


def _without_tail(lines: Sequence[str]) -> Sequence[str]:
    """Without the empty lines and comments at the end, which belong to what follows."""
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[:end]


def _meaning(text: str) -> object:
    """Parse lines alone; None if they do not stand alone, as with an anchor elsewhere."""
    try:
        return yaml_text.safe_load(text)
    except yaml.YAMLError:
        return None
