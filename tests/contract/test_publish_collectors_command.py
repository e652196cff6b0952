"""`scripts.publish_collectors`: what it publishes of a built collector, and what it refuses."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import zstandard

from headgate.storage import objects
from scripts import publish_collectors
from tests.support import faulty
from tests.support.published_here import BUCKET, Aws, here, keys

__all__ = ["here"]

pytestmark = pytest.mark.contract


@dataclass
class Built:
    """What `python -m building packed` leaves: a binary, with the compressed one beside it."""

    folder: Path
    variant: str = ""
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, *arguments: str) -> Path:
        self.asked.append(arguments)
        binary = faulty.install(self.folder, self.variant)
        packed = binary.with_name(f"{binary.name}.zst")
        packed.write_bytes(zstandard.compress(binary.read_bytes()))
        return packed


def test_the_command_publishes_what_was_built_with_its_own_words(
    here: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built = Built(tmp_path / "built", "reduced")
    monkeypatch.setattr(publish_collectors, "collector", built)
    # The number that the fault injector describes itself with.
    monkeypatch.setattr("sys.argv", ["publish", "--bucket", BUCKET, "--architecture", "arm64", faulty.VERSION])

    assert [publish_collectors.main() for _ in range(2)] == [0, 0]

    folder = f"collectors/{faulty.VERSION}/arm64"
    assert keys(here.s3) == [f"{folder}/collector.json", f"{folder}/otelcol-contrib.zst"]
    descriptor = json.loads(objects.read(f"{folder}/collector.json"))
    assert (descriptor["version"], descriptor["describe"]["reduced"]) == (faulty.VERSION, True)
    assert {"components", "feature_gates"} & set(descriptor["describe"]) == set()
    assert built.asked[:2] == [("--architecture", "arm64", "packed", faulty.VERSION), ("packed", faulty.VERSION)]
    assert [line.partition(" for ")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"Published collector {faulty.VERSION}",
        f"Collector {faulty.VERSION} is already published",
    ]


@pytest.mark.parametrize(
    ("variant", "version", "reason"),
    [
        ("release", faulty.VERSION, "This collector has no check command"),
        ("crashes", faulty.VERSION, "The collector's checker exited with status"),
        ("undescribed", faulty.VERSION, "does not describe itself"),
        ("", "9.9.9", "its binary says that it is version 1.2.3"),
    ],
)
def test_the_command_publishes_nothing_that_could_not_be_asked(
    here: Aws,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variant: str,
    version: str,
    reason: str,
) -> None:
    monkeypatch.setattr(publish_collectors, "collector", Built(tmp_path / "built", variant))
    monkeypatch.setattr("sys.argv", ["publish", "--bucket", BUCKET, "--architecture", "x86_64", version])

    assert publish_collectors.main() == 1

    said = capsys.readouterr().err
    assert (reason in said, "leave it out of CollectorVersions" in said) == (True, True), said
    assert keys(here.s3) == []
