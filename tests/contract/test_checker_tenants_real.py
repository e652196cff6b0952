"""The real collector, asked by several organizations at once: each of its processes reads texts of one alone."""

import os
import random
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headgate.checker import Asker, Checker, CheckerFailed
from headgate.foundation.settings import settings
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support import sizes

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

TEXT = (
    "receivers: {{nop: }}\nexporters: {{nop/{organization}: }}\n"
    "service: {{pipelines: {{logs: {{receivers: [nop], exporters: [nop/{organization}]}}}}}}\n"
)
ORGANIZATIONS = [f"org{number}" for number in range(5)]
QUESTIONS = sizes.either(36, 120)


@pytest.fixture(params=[1, 0], ids=["with a spare", "without one, as in Lambda"])
def checker(request: pytest.FixtureRequest) -> Iterator[Checker]:
    installed = Installed(Path(settings().collectors_dir))
    limits = Limits(processes=1 + request.param, spares=request.param, recycle_calls=10, queue_seconds=60)
    made = Checker(installed, settings().collector_version, limits)
    yield made
    made.close()


@pytest.fixture
def texts_read(monkeypatch: pytest.MonkeyPatch) -> dict[Child, set[str]]:
    """The organizations whose texts each process was given to read."""
    read: dict[Child, set[str]] = defaultdict(set)
    ask = Child.ask

    def noted(child: Child, op: str, fields: Mapping[str, object], *limits: Any) -> dict[str, object]:
        read[child] |= {one for one in ORGANIZATIONS if one in str(fields["yaml"])}
        return ask(child, op, fields, *limits)

    monkeypatch.setattr(Child, "ask", noted)
    return read


def test_no_process_reads_the_texts_of_two_organizations(checker: Checker, texts_read: dict[Child, set[str]]) -> None:
    chance = random.Random(1)

    def validate(number: int) -> tuple[str, Any]:
        organization = chance.choice(ORGANIZATIONS)
        if number % 20 == 7:
            for pid in checker.pids()[:1]:
                os.kill(pid, signal.SIGKILL)
        asked = {"yaml": TEXT.format(organization=organization), "env": {}}
        try:
            answer = checker.call("validate", asked, asker=Asker(organization, f"{organization}-{number % 3}"))
        except CheckerFailed as failed:
            return organization, str(failed)
        return organization, answer["valid"]

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(validate, range(QUESTIONS)))

    assert {len(organizations) for organizations in texts_read.values()} == {1}
    assert set().union(*texts_read.values()) == {organization for organization, _ in answers}
    assert [one for _, one in answers].count(True) >= QUESTIONS - 10
