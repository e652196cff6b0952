"""Clients that generators make of the API's description work against the service, and its lint finds what lacks."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.openapi import DOCUMENT
from tests.support.cli_support import Founder
from tests.support.local_service import LocalService
from tests.support.transcript import blocks

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "tests" / "clients"
WALKED = {
    "yaml": "receivers: {}\n",
    "published": "published",
    "listed": True,
    "error": {"status": 409, "code": "version_published"},
}


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def walked(printed: str) -> Mapping[str, object]:
    """What a client printed at the end, without the year of the publication, which is this one."""
    answer = json.loads(printed.splitlines()[-1])
    assert answer.pop("year") == datetime.now(UTC).year
    return answer


@pytest.mark.full
def test_a_generated_python_client_creates_reads_publishes_and_is_told_an_error(
    service: LocalService, founder: Founder, tmp_path: Path
) -> None:
    generator, settings = Path(sys.executable).parent / "openapi-python-client", CLIENTS / "openapi-python-client.yaml"
    package = tmp_path / "headgate_client"
    made = run(
        generator, "generate", "--path", DOCUMENT, "--output-path", package, "--meta", "none", "--config", settings
    )
    token = founder.token("python client")
    printed = run(
        sys.executable,
        CLIENTS / "walk.py",
        PYTHONPATH=str(tmp_path),
        HEADGATE_URL=service.base_url,
        HEADGATE_TOKEN=token,
    )

    assert "WARNING" not in made.upper()
    assert walked(printed) == WALKED


def test_the_programs_of_the_page_on_clients_do_what_they_say(service: LocalService, founder: Founder) -> None:
    environment = {"HEADGATE_URL": service.base_url, "SERVICE_API_TOKEN": founder.token("example")}
    (program,) = blocks((ROOT / "docs" / "clients.md").read_text(), "python")

    assert "edge" in ast.literal_eval(run(sys.executable, "-c", program, **environment))
    refused = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | environment | {"SERVICE_API_TOKEN": "sv_x"},
    )
    assert refused.stderr.startswith("unauthenticated: ")


@pytest.mark.full
def test_the_typescript_program_of_the_page_compiles_and_does_the_same(service: LocalService, founder: Founder) -> None:
    (program,) = blocks((ROOT / "docs" / "clients.md").read_text(), "typescript")
    (CLIENTS / "generated").mkdir(exist_ok=True)
    (CLIENTS / "generated" / "example.ts").write_text(program)
    environment = {"HEADGATE_URL": service.base_url, "SERVICE_API_TOKEN": founder.token("example")}

    assert "edge" in json.loads(
        run(ROOT / "scripts" / "npm_script", "tests/clients", "example", **environment).splitlines()[-1]
    )


def test_a_generated_typescript_client_creates_reads_publishes_and_is_told_an_error(
    service: LocalService, founder: Founder
) -> None:
    npm = ROOT / "scripts" / "npm_script"
    # tsc refuses whatever does not fit the generated types.
    run(npm, "tests/clients", "typescript")
    token = founder.token("typescript client")

    assert walked(run(npm, "tests/clients", "walk", HEADGATE_URL=service.base_url, HEADGATE_TOKEN=token)) == WALKED


@pytest.mark.full
def test_the_lint_finds_all_that_a_bare_endpoint_lacks(tmp_path: Path) -> None:
    whole, shape = json.loads(DOCUMENT.read_text()), {"$ref": "#/components/schemas/it_Out"}
    bare = {
        **whole,
        "paths": {
            "/it": {
                "get": {
                    "operationId": "get_it_it_get",
                    "parameters": [{"name": "n", "in": "query", "schema": {"type": "integer", "ge": 1}}],
                    "responses": {
                        "200": {
                            "description": "It",
                            "content": {"application/json": {"schema": shape}},
                        },
                        "404": {"$ref": "#/components/responses/NotFound"},
                    },
                }
            }
        },
        "components": {
            "schemas": {"it_Out": {"type": "object", "properties": {"colour": {"type": "string"}}}},
            "responses": {"NotFound": {"description": "None", "content": {"application/json": {}}}},
        },
    }
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(bare))
    command = [ROOT / "scripts" / "npm_script", "tests/clients", "lint-other", str(document)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300).stdout)

    assert {one["code"] for one in found} >= {
        "headgate-operation-id",
        "headgate-security",
        "headgate-field-meaning",
        "headgate-schema-name",
        "headgate-parameter-example",
        "headgate-bounds",
        "headgate-problem",
        "oas3-parameter-description",
        "operation-description",
    }
