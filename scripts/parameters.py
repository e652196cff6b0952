"""Checks parameters against template.yaml before the build, which takes minutes. SAM ignores unknown ones silently."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from headgate_local import template
from scripts.stack import Stop


def check(parameters: Mapping[str, str]) -> None:
    """Raises Stop for an unknown name, and for a value that the template does not allow."""
    ours = template.read()
    for name, value in parameters.items():
        if name not in ours.parameters():
            near = get_close_matches(name, ours.parameters(), n=1)
            hint = f"did you mean {near[0]}?" if near else "template.yaml lists the parameters"
            raise Stop(f"There is no parameter {name}; {hint}")
        definition = ours.parameter(name)
        for complaint in _complaints(definition, value):
            raise Stop(f"{name} cannot be {value!r}: {complaint}. {definition['Description']}.")


def _complaints(definition: Mapping[str, object], value: str) -> Iterator[str]:
    allowed = definition.get("AllowedValues")
    if isinstance(allowed, list) and value not in map(str, allowed):
        yield f"it must be one of {', '.join(map(str, allowed))}"
    if definition["Type"] == "Number":
        if re.fullmatch(r"-?[0-9]+", value) is None:
            yield "it must be a whole number"
        else:
            yield from _beyond(definition, "Value", int(value), "be at least {}", "be at most {}")
    else:
        yield from _beyond(
            definition, "Length", len(value), "have at least {} characters", "have at most {} characters"
        )
    pattern = definition.get("AllowedPattern")
    if isinstance(pattern, str) and re.fullmatch(pattern, value) is None:
        yield f"it does not match {pattern}"


def _beyond(definition: Mapping[str, object], what: str, size: int, least: str, most: str) -> Iterator[str]:
    lower, upper = definition.get(f"Min{what}"), definition.get(f"Max{what}")
    if isinstance(lower, int) and size < lower:
        yield f"it must {least.format(lower)}"
    if isinstance(upper, int) and size > upper:
        yield f"it must {most.format(upper)}"
