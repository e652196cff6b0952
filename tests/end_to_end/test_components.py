"""The schema and the reference through a running service, as an editor, a shell and a browser get them."""

import gzip
import json

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support.cli_support import Cli
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

SCHEMA = "/api/v1/public/components/schema.json"
# The first one is computed, which takes a second on a machine that does nothing else.
SECONDS = 30


def test_an_editor_loads_the_schema_once(service: LocalService) -> None:
    with httpx.Client(base_url=service.base_url, headers={"Accept-Encoding": "gzip"}, timeout=SECONDS) as editor:
        with editor.stream("GET", SCHEMA) as first:
            sent = b"".join(first.iter_raw())
        again = editor.get(SCHEMA, headers={"If-None-Match": first.headers["etag"]})
        plain = editor.get(SCHEMA, headers={"Accept-Encoding": "identity"})

    assert (first.status_code, first.headers["content-encoding"]) == (200, "gzip")
    assert (again.status_code, again.content) == (304, b"")
    assert gzip.decompress(sent) == plain.content
    assert "receiver/otlp" in json.loads(plain.content)["$defs"]


def test_the_command_line_writes_the_same_schema_to_a_file(service: LocalService, cli: Cli) -> None:
    printed = cli.ok("schema", "--version", settings().collector_version)

    assert printed == httpx.get(f"{service.base_url}{SCHEMA}", timeout=SECONDS).text


def test_a_component_is_looked_up_in_a_shell(cli: Cli) -> None:
    listed = cli.run("component", "list", "--kind", "processor", "--json").json
    shown = cli.ok("component", "show", "batch")

    assert "batch" in [one["type"] for one in listed]
    assert any(line.split()[:3] == ["timeout", "duration", '"200ms"'] for line in shown.splitlines())
