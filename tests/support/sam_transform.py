"""Prints template.yaml as JSON: as it reads, and after SAM's transformation. Runs in the environment of the SAM CLI.

Arguments `Layer=content` give layers another content, as a new build of them would; `Parameter=value` is what a
deployment would be given; `template=path` reads another file.
"""

import copy
import json
import sys
from pathlib import Path
from typing import Any

from samtranslator.public.translator import ManagedPolicyLoader
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]


class NoManagedPolicies(ManagedPolicyLoader):
    """The template names none; asking AWS for the list would need an account."""

    def __init__(self) -> None:
        pass

    def load(self) -> dict[str, str]:
        return {}


def main() -> None:
    contents = dict(argument.split("=", 1) for argument in sys.argv[1:])
    document: dict[str, Any] = yaml_parse(Path(contents.get("template", ROOT / "template.yaml")).read_text())
    files = (ROOT / "statemachines").glob("*.asl.yaml")
    machines = {path.name.removesuffix(".asl.yaml"): yaml_parse(path.read_text()) for path in files}
    packaged = copy.deepcopy(document)
    for name, resource in packaged["Resources"].items():
        match resource["Type"]:
            case "AWS::Serverless::Function":
                resource["Properties"]["CodeUri"] = "s3://bucket/code"
            case "AWS::Serverless::LayerVersion":
                resource["Properties"]["ContentUri"] = f"s3://bucket/{contents.get(name, name)}"
            case "AWS::Serverless::StateMachine":
                resource["Properties"]["DefinitionUri"] = "s3://bucket/machine"
    values = {name: contents.get(name, one.get("Default", "")) for name, one in document["Parameters"].items()}
    transformed = transform(packaged, values, NoManagedPolicies())
    print(json.dumps({"document": document, "machines": machines, "resources": transformed["Resources"]}))


if __name__ == "__main__":
    main()
