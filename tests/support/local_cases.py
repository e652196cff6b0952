"""Cases that run on the collectors of this machine, with what the sandbox left of each."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.foundation.settings import settings
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.supervisor import Checker
from headgate_engine.rules.engine import Sample
from headgate_engine.testing import sandbox
from headgate_engine.testing.cases import Judge, Preparing
from headgate_engine.testing.model import Case, CaseResult
from headgate_engine.testing.named_test import signal_of
from headgate_engine.testing.outcome import Left
from headgate_engine.testing.trace import RecordedTrace, recorded
from headgate_local.options import read_options


@dataclass(frozen=True)
class Ran:
    """What came of a case, and what the sandbox left of it."""

    result: CaseResult
    left: Left
    trace: RecordedTrace | None


def checker() -> Checker:
    """The default collector of this machine."""
    version = settings().collector_version
    return Checker(Installed(read_options(os.environ).collectors), version, Limits(processes=2, request_seconds=30))


def run(collectors: Checker, cases: Sequence[Case]) -> list[Ran]:
    """What came of each case, in their order. None of them is refused."""
    asker = Asker("tests", "tests", collectors)
    preparing, judge = Preparing(asker), Judge(asker)
    ready = [preparing.prepare(case) for case in cases]
    assert [found.reason for found, _ in ready if found.reason] == []
    left = sandbox.run(
        [(case, prepared) for case, (_, prepared) in zip(cases, ready, strict=True) if prepared],
        collectors.collectors.binary,
    )
    return [
        Ran(
            judge.result(case, found, left[case.id]),
            left[case.id],
            recorded(left[case.id].steps, case.yaml, asker=asker, version=case.collector_version)
            if case.trace
            else None,
        )
        for case, (found, _) in zip(cases, ready, strict=True)
    ]


def a_case(name: str, text: str, sample: str, pipeline: str, seconds: int) -> Case:
    """A case on the default collector, of the pipeline's own signal."""
    return Case(
        id=name,
        yaml=text,
        target_pipeline=pipeline,
        signal_type=signal_of(pipeline),
        sample=Sample(sample, is_otlp=False),
        collector_version=settings().collector_version,
        duration_seconds=seconds,
    )
