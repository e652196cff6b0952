"""The template as SAM transforms it, and its state machine."""

import json
import os
import subprocess
from functools import cache
from typing import Any

import pytest

from headgate_local import template

ROOT = template.PATH.parent
SAM_PYTHON = ROOT / ".venv-sam" / "bin" / "python"


@cache
def transformed(*contents: str) -> dict[str, Any]:
    """`document`, `machine` and `resources`; see tests/sam_transform.py."""
    variables = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "PYTHONPATH": ""}
    command = [SAM_PYTHON, ROOT / "tests" / "sam_transform.py", *contents]
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
    """The states of the state machine's file."""
    found: dict[str, Any] = transformed()["machine"]["States"]
    return found
