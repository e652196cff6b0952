"""Collectors that are published for the functions of a stack, with moto and the checker's function in this process."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import zstandard

from checker.app import handler
from headgate import checker
from headgate.checker import fetched, publish, published
from headgate.checker.function import CheckerFunction
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_local import aws_server
from tests.support import faulty
from tests.support.askers import ASKER
from tests.support.lambda_invocations import Answer, Invocations, answering, running

# What the fault injector says that it is.
SAYS = "0.0.0"
DESCRIPTION = {"version": SAYS, "distribution": "otelcol-contrib", "reduced": True, "lacks": []}
BUCKET = "headgate-test"


@dataclass(frozen=True)
class Aws:
    """The bucket, the asking side and what was invoked, each payload as it was sent."""

    s3: Any
    invocations: Invocations
    payloads: list[dict[str, Any]]
    function: CheckerFunction

    def publish(self, binary: Path, description: dict[str, object]) -> bool:
        packed = binary.with_suffix(".zst")
        if not packed.exists():
            packed.write_bytes(zstandard.compress(binary.read_bytes()))
        return publish.upload(self.s3, BUCKET, published.architecture(), binary, packed, description)

    def ask(self, version: str, **request: object) -> dict[str, object]:
        return self.function.call("any", {"echo": "answered", **request}, asker=ASKER, version=version)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Aws]:
    payloads: list[dict[str, Any]] = []
    answer = answering(lambda event: handler(event, None))

    def noting(name: str, payload: bytes) -> Answer:
        payloads.append(json.loads(payload))
        return answer(name, payload)

    faulty.install(tmp_path / "installed" / faulty.VERSION)
    variables = {
        "BUCKET": BUCKET,
        "CHECKER_FUNCTION": "headgate-checker",
        "COLLECTORS_DIR": str(tmp_path / "installed"),
        "COLLECTOR_VERSION": faulty.VERSION,
        "COLLECTOR_VERSIONS": f"{SAYS},9.9.9,{faulty.VERSION}",
    }
    # Long enough for any machine.
    monkeypatch.setattr(fetched, "_SECONDS", 120)
    with aws_server.running(), running(noting) as served:
        for name, value in variables.items():
            monkeypatch.setenv(f"HEADGATE_{name}", value)
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", served.url)
        start_afresh()
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        yield Aws(s3, served, payloads, CheckerFunction("headgate-checker"))
        checker.close()
        for key in keys(s3):
            s3.delete_object(Bucket=BUCKET, Key=key)
    monkeypatch.undo()
    start_afresh()


def start_afresh() -> None:
    settings.cache_clear()
    aws.forget_clients()
    published.forget()
    checker.close()


@pytest.fixture
def second(here: Aws, tmp_path: Path) -> Aws:
    """The fault injector is published as another version."""
    assert here.publish(faulty.install(tmp_path / "second"), DESCRIPTION)
    return here


def keys(s3: Any) -> list[str]:
    return [one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
