"""Whether template.yaml takes a parameter: asked before a build of minutes, and where SAM would pass a slip over."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from headgate_local import template
from scripts.stack import Stop


def check(parameters: Mapping[str, str]) -> None:
    """Raises Stop for a name that the template does not have, and a value that it refuses."""
    ours = template.read()
    for name, value in parameters.items():
        if name not in ours.parameters():
            near = get_close_matches(name, ours.parameters(), n=1)
            raise Stop(f"There is no parameter {name}; {f'is it {near[0]}?' if near else 'template.yaml has them'}")
        definition = ours.parameter(name)
        for complaint in _complaints(definition, value):
            raise Stop(f"{name} cannot be {value!r}: {complaint}. {definition['Description']}.")


def _complaints(definition: Mapping[str, object], value: str) -> Iterator[str]:
    allowed = definition.get("AllowedValues")
    if isinstance(allowed, list) and value not in map(str, allowed):
        yield f"it has to be one of {', '.join(map(str, allowed))}"
    if definition["Type"] == "Number":
        if re.fullmatch(r"-?[0-9]+", value) is None:
            yield "it has to be a whole number"
        else:
            yield from _beyond(definition, "Value", int(value), "be at least {}", "be at most {}")
    else:
        yield from _beyond(
            definition, "Length", len(value), "have at least {} characters", "have at most {} characters"
        )
    pattern = definition.get("AllowedPattern")
    if isinstance(pattern, str) and re.fullmatch(pattern, value) is None:
        yield "it has another form"


def _beyond(definition: Mapping[str, object], what: str, size: int, least: str, most: str) -> Iterator[str]:
    lower, upper = definition.get(f"Min{what}"), definition.get(f"Max{what}")
    if isinstance(lower, int) and size < lower:
        yield f"it has to {least.format(lower)}"
    if isinstance(upper, int) and size > upper:
        yield f"it has to {most.format(upper)}"
