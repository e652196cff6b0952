"""The template as SAM transforms it, and its state machines."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from headgate_local import template

ROOT = template.PATH.parent
SAM_PYTHON = ROOT / ".venv-sam" / "bin" / "python"


@cache
def transformed(*contents: str) -> dict[str, Any]:
    """`document`, `machines` and `resources`; see tests/support/sam_transform.py."""
    variables = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "PYTHONPATH": ""}
    command = [SAM_PYTHON, ROOT / "tests" / "support" / "sam_transform.py", *contents]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The template as it reads."""
    found: dict[str, Any] = transformed()["document"]
    return found


@pytest.fixture(scope="module")
def resources() -> dict[str, Any]:
    """The resources that CloudFormation makes of it."""
    found: dict[str, Any] = transformed()["resources"]
    return found


@pytest.fixture(scope="module")
def states() -> dict[str, Any]:
    """The states of the state machine of test runs."""
    found: dict[str, Any] = transformed()["machines"]["test_run"]["States"]
    return found


def of_type(resources: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: one for name, one in resources.items() if one["Type"] == kind}


def referred(node: object) -> Iterator[str]:
    """The logical ids that a part of a template names, as CloudFormation orders by them."""
    match node:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]} | {"Fn::GetAtt": str(name)}:
            yield name.partition(".")[0]
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), *_]}:
            yield from (name.partition(".")[0] for name in re.findall(r"\$\{([A-Za-z0-9.]+)\}", text))
            yield from referred(node["Fn::Sub"][1:] if isinstance(node["Fn::Sub"], list) else [])
        case dict():
            for entry in node.values():
                yield from referred(entry)
        case list():
            for entry in node:
                yield from referred(entry)
