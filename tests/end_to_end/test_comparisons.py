"""Comparisons on the running service: flows with themselves, two collectors, and the command line in a checkout."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from headgate.flows import source
from headgate.foundation.settings import settings
from tests.support import sizes
from tests.support.cli_support import Cli
from tests.support.local_service import LocalService
from tests.support.second_version import needs_second_version, second_version
from tests.support.service import ROOT
from tests.support.transcript import blocks, transcript

pytestmark = [pytest.mark.end_to_end, pytest.mark.sized]

Json = dict[str, Any]
FLOWS = ROOT / "flows"
SLUGS = sorted(folder.name for folder in FLOWS.iterdir() if folder.is_dir())
# With times that the collector makes, and without: span-metrics has more, and takes longer.
SOME = ["log-dedup", "heartbeat"]
COMPARED = sizes.either(SOME, SLUGS)
AT_ONCE: Final = 4
PATIENCE_SECONDS: Final = 300


@pytest.fixture(scope="module")
def client(service: LocalService) -> Iterator[httpx.Client]:
    with service.client() as made:
        yield made


def compared(client: httpx.Client, left: Json, right: Json, *tests: Json) -> Json:
    """The result of a comparison."""
    asked = {"left": left, "right": right, "tests": list(tests)}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (started := client.post("/testing/comparisons", json=asked)).status_code in (429, 503):
        assert time.monotonic() < deadline, started.text
        time.sleep(1)
    assert started.status_code == 201, started.text
    while True:
        found: Json = client.get(f"/testing/comparisons/{started.json()['id']}").json()
        if found.get("status") == "Done":
            result: Json = found["result"]
            return result
        assert found.get("status") != "Error", found
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


@pytest.fixture(scope="module")
def with_themselves(client: httpx.Client) -> Iterator[dict[str, Future[Json]]]:
    """Flows compared with themselves, under way."""

    def compare(slug: str) -> Json:
        flow = source.read(FLOWS / slug)
        trial = flow.file.test.model_dump(include={"target_pipeline", "signal_type", "duration_seconds"})
        return compared(
            client, {"yaml": flow.yaml}, {"yaml": flow.yaml}, {"name": slug, "sample": flow.sample, **trial}
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {slug: pool.submit(compare, slug) for slug in COMPARED}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("slug", COMPARED)
def test_a_flow_puts_out_the_same_twice(slug: str, with_themselves: dict[str, Future[Json]]) -> None:
    result = with_themselves[slug].result()

    print(json.dumps(result, indent=1))
    assert result["equal"]
    assert sum(counts["same"] for counts in result["signals"].values()) > 0


@needs_second_version
def test_two_collector_versions_are_told_apart_by_what_they_log_while_they_start(client: httpx.Client) -> None:
    text = """\
receivers: {otlp: {protocols: {grpc: {}}}}
processors: {batch: {}}
exporters: {otlphttp: {endpoint: "https://otel.example.com"}}
service: {pipelines: {logs: {receivers: [otlp], processors: [batch], exporters: [otlphttp]}}}
"""
    old, new = settings().collector_version, second_version()
    sample = {"name": "a", "target_pipeline": "logs", "sample": "a line\n"}

    result = compared(
        client, {"yaml": text, "collector_version": old}, {"yaml": text, "collector_version": new}, sample
    )

    print(json.dumps(result, indent=1))
    assert result["equal"]
    assert (result["left"]["collector_version"], result["right"]["collector_version"]) == (old, new)
    assert result["starts"]["left"] == []
    assert [message["component"] for message in result["starts"]["right"]] == ["exporters::otlphttp"]
    assert "deprecated" in result["starts"]["right"][0]["message"]


def test_the_example_of_the_docs_is_what_the_command_prints(service: LocalService, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    written = (ROOT / "docs" / "test-comparisons.md").read_text()
    before, test = blocks(written, "yaml")
    [patch] = blocks(written, "diff")
    [(command, printed)] = transcript(written)
    (tmp_path / "shop.yaml").write_text(before)
    (tmp_path / "shop.tests").mkdir()
    (tmp_path / "shop.tests" / "checkout.yaml").write_text(test)
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "first")
    after = before
    removed = [line[1:] for line in patch.splitlines() if line.startswith("-")]
    added = [line[1:] for line in patch.splitlines() if line.startswith("+")]
    for old, new in zip(removed, added, strict=True):
        assert old in after
        after = after.replace(old, new)
    (tmp_path / "shop.yaml").write_text(after)
    cli = Cli(tmp_path, service.base_url, service.read_write_token)
    done = cli.run(*command.removeprefix("headgate ").split())

    print(done)
    assert done.code == 1
    assert re.sub(r"main \([0-9a-f]{8}\)", "main (10a03959)", done.out + done.err) == printed
