"""Makes SAM publish new versions of the functions that a parameter's value changes.

SAM publishes a version if a function's properties change, and compares their text: {"Ref": "RateLimitPerMinute"} is the
same for every limit (github.com/aws/serverless-application-model, issues 1640 and 3820). Then the function changes, but
requests go to its alias, which still has the old version. So the built template gets a digest of the values, in a
variable that nothing reads.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from headgate.foundation import yaml_text

VARIABLE: Final = "HEADGATE_PARAMETERS"
# Properties of a function's definition that are not part of the function.
_BESIDE: Final = ("DeploymentPreference", "Events", "Policies")


def stamp(path: Path, values: Mapping[str, str], attempt: str = "") -> None:
    """Give each function of the built template at `path` the digest of its parameters' values.

    A parameter that is not in `values` has its default. Another `attempt` publishes every function again: the version
    of a failed deployment still exists, and Lambda does not publish the same version twice in a row.
    """
    document = cast("dict[str, Any]", yaml_text.safe_load(path.read_text(encoding="utf-8")))
    known = {name: str(definition.get("Default", "")) for name, definition in document["Parameters"].items()} | dict(
        values
    )
    shared = _own(document.get("Globals", {}).get("Function", {}))
    for function in document["Resources"].values():
        if function["Type"] == "AWS::Serverless::Function":
            properties = function["Properties"]
            named = sorted(set(_parameters([shared, _own(properties)], document)))
            digest = hashlib.sha256(json.dumps([attempt, *((name, known[name]) for name in named)]).encode())
            variables = properties.setdefault("Environment", {}).setdefault("Variables", {})
            variables[VARIABLE] = digest.hexdigest()[:16]
    path.write_text(yaml_text.safe_dump(document), encoding="utf-8")


def _own(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: node for name, node in properties.items() if name not in _BESIDE}


def _parameters(node: Any, document: Mapping[str, Any]) -> Iterator[str]:
    """The parameters on which a part of a template depends, also through conditions."""
    match node:
        case {"Ref": str(name)}:
            yield from [name] if name in document["Parameters"] else []
        case {"Condition": str(name)}:
            yield from _parameters(document["Conditions"][name], document)
        case {"Fn::If": [str(name), *branches]}:
            yield from _parameters([document["Conditions"][name], *branches], document)
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), *_]}:
            yield from (name for name in re.findall(r"\$\{(\w+)\}", text) if name in document["Parameters"])
            yield from _parameters(node["Fn::Sub"][1:] if isinstance(node["Fn::Sub"], list) else [], document)
        case dict():
            for entry in node.values():
                yield from _parameters(entry, document)
        case list():
            for entry in node:
                yield from _parameters(entry, document)
