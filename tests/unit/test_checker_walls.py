"""The metric of the walls around the collector: counted by the function that has them, once in each environment."""

import json
from collections.abc import Iterator

import pytest

from checker import app
from headgate import checker
from headgate_engine.checker import messages

QUESTION = {"op": "installed", "organization_id": "org", "credential_id": "tok", "request": {}}


class Collectors:
    """What the handler needs of the checker's processes."""

    held = ""

    def held_by(self) -> str:
        return self.held

    def installed(self, **_: object) -> tuple[str, ...]:
        return ("0.139.0",)


@pytest.fixture
def collectors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collectors]:
    answering = Collectors()
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "headgate-checker")
    monkeypatch.setattr(checker, "of_this_process", lambda: answering)
    app._count_walls.cache_clear()
    yield answering
    app._count_walls.cache_clear()


def counted(output: str) -> list[tuple[float, str]]:
    lines = [json.loads(line) for line in output.splitlines() if "CheckerWalls" in line]
    return [(line["CheckerWalls"][0], line["walls"]) for line in lines]


def test_walls_are_counted_once_when_a_process_serves(
    collectors: Collectors, capsys: pytest.CaptureFixture[str]
) -> None:
    question = messages.packed(QUESTION)
    app.handler(question, None)
    assert counted(capsys.readouterr().out) == []

    collectors.held = "platform, system calls"
    for _ in range(2):
        app.handler(question, None)

    assert counted(capsys.readouterr().out) == [(2, "platform, system calls")]
