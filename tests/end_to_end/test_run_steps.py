"""Traced runs of the real collector, in the API and on the command line, and as the docs show them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support import run_support
from tests.support.local_service import LocalService
from tests.support.run_support import Json

pytestmark = pytest.mark.end_to_end

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
FILES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
TEST: Mapping[str, Any] = yaml.safe_load(FILES["orders.tests/abc-gets-its-own-orders.yaml"])


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def asked(**changes: Any) -> Json:
    return {"yaml": FILES["orders.yaml"], "signal_type": "logs", **TEST, **changes}


def test_one_test_file_tells_where_a_routing_connector_sends_a_record(client: httpx.Client) -> None:
    as_shown = run_support.start(client, asked())
    broken = FILES["orders.yaml"].replace('attributes["name"] == "abc"', 'attributes["name"] == "xyz"')
    misrouted = run_support.start(client, asked(yaml=broken))

    passed = run_support.finished(client, as_shown["id"])
    failed = run_support.finished(client, misrouted["id"])
    assert (passed["status"], passed["records"]) == ("Success", {"in": {"logs": 4}, "out": {"logs": 1}}), passed
    assert failed["status"] == "Fail"
    assert [result["passed"] for result in failed["validation_results"]] == [False, False]
