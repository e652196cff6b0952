"""Starting test runs, and reading their results."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from headgate.checker import Asker
from headgate.configurations import service as configurations
from headgate.configurations.model import UnknownDistribution
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.runs import files, runner, store, tracing, turns
from headgate.runs.lifecycle import Lifecycle
from headgate.runs.model import CASE, ListedRun, NoSavedRules, OutputNotReady, Run, RunFilter, RunNotFound, RunRule
from headgate.runs.rules import service as rule_sets
from headgate_engine.collector import DISTRIBUTION, Signal
from headgate_engine.rules.engine import Sample
from headgate_engine.rules.model import Rule
from headgate_engine.testing import cases
from headgate_engine.testing.model import Case
from headgate_engine.testing.samples import require_small
from headgate_engine.wire.stand_ins import StandIns

# A function's answer may have 6 MB, and JSON doubles a text of quotes at worst.
LARGEST_ANSWER: Final = 2_500_000
"""In bytes."""


class TestingNotSetUp(errors.Unavailable):
    """This deployment has no test runner."""

    __test__ = False
    code = "testing_not_set_up"
    no_fault = True
    detail = "Testing is not set up on this deployment; no test run was made"


RUNS: Final[Lifecycle[Run]] = Lifecycle("test run", store, ("configuration.yaml", "sample", "cases", "prepared.json"))


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version to test."""

    configuration_id: str
    n: int


@dataclass(frozen=True, slots=True)
class Start:
    """A run to start: of a stored version or of a YAML text, with rules of its own or the version's saved ones."""

    source: StoredVersion | str
    sample: Sample
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int = 5
    collector_version: str | None = None
    collector_distribution: str | None = None
    rules: Sequence[Rule] = ()
    use_saved_rules: bool = False
    feature_gates: Sequence[str] = ()
    trace: bool = False
    stand_ins: StandIns = field(default_factory=StandIns)


@dataclass(frozen=True, slots=True)
class _Source:
    yaml: str
    collector_version: str
    published: bool
    named_at: tuple[str, ...]
    """The field of the request that names the text."""
    feature_gates: tuple[str, ...] = ()


def start(caller: Caller, asked: Start) -> Run:
    """Start a run, which is Queued then. A run that is refused is stored as Error.

    Raises ConfigurationNotFound, VersionNotFound; UnknownDistribution, NoSavedRules and other kinds of Invalid for what
    cannot be run at all; SampleTooLarge; TooManyRuns; and Unavailable, when nothing was started and no run exists.
    """
    if not settings().test_runs:
        raise TestingNotSetUp
    if asked.collector_distribution not in (None, DISTRIBUTION):
        raise UnknownDistribution(str(asked.collector_distribution))
    require_small(asked.sample)
    asker = Asker.of(caller)
    source = _source(caller, asked)
    rules = _rules(asked)
    version = asked.collector_version or source.collector_version
    gates = tuple(asked.feature_gates) or source.feature_gates
    turns.require_room(caller.organization_id)
    case = Case(
        id=CASE,
        yaml=source.yaml,
        target_pipeline=asked.target_pipeline,
        signal_type=asked.signal_type,
        sample=asked.sample,
        collector_version=version,
        duration_seconds=asked.duration_seconds,
        feature_gates=gates,
        rules=tuple(run_rule.rule for run_rule in rules),
        stand_ins=asked.stand_ins,
        may_end_early=False,
    )
    try:
        startable = cases.startable(case, asker=asker, yaml_at=source.named_at)
        prepared = startable.prepared
        traced = prepared.signals if asked.trace and prepared and startable.refusal is None else ()
        no_steps = tracing.why_not(version, traced, asker) if traced else ""
    except errors.Unavailable as outage:
        outage.add_consequence("no test run was made, try again shortly")
        raise
    signals: tuple[Signal, ...] = tuple(prepared.signals) if prepared else (asked.signal_type,)
    at = clock.now()
    run = Run(
        id=new_id("run", at),
        organization_id=caller.organization_id,
        created_by=caller.principal,
        published=source.published,
        status="Queued",
        configuration_id=asked.source.configuration_id if isinstance(asked.source, StoredVersion) else None,
        version_number=asked.source.n if isinstance(asked.source, StoredVersion) else None,
        signal_type=asked.signal_type,
        signals=signals,
        target_pipeline=asked.target_pipeline,
        duration_seconds=asked.duration_seconds,
        collector_version=version,
        sample_is_otlp=asked.sample.is_otlp,
        sample_format=asked.sample.format,
        sample_name=asked.sample.name,
        feature_gates=gates,
        trace=asked.trace,
        **asked.stand_ins.recorded(),
        env_names=tuple(sorted(asked.stand_ins.env)),
        rules=rules,
        created_at=at,
    )
    if prepared is None or startable.refusal is not None:
        refused_run = run.refuse(startable.refusal or "", at)
        store.create(refused_run)
        return refused_run
    ready = cases.Preparing(asker).ready(case, prepared)
    if no_steps:
        ready = ready.model_copy(update={"notes": ready.notes + tracing.no_steps(no_steps)})
    run = replace(run, records_in=prepared.records)

    def store_it() -> None:
        # The files come first, since the execution reads them, and the run before its turn, which changes it.
        files.put(run.id, "configuration.yaml", source.yaml)
        files.put(run.id, "sample", asked.sample.text)
        if no_steps:
            tracing.note_unavailable(run, no_steps)
        runner.put_cases(run, [ready], [(replace(case, trace=run.trace and not no_steps), prepared)])
        store.create(run)

    RUNS.launch(run, store_it)
    return run


def get(caller: Caller, run_id: str) -> Run:
    """A run; one read. On the way, one that has waited long is begun if it can be, and one that is lost ends as Error.

    Raises RunNotFound.
    """
    run = RUNS.seen(caller, run_id, clock.now())
    if run is None:
        raise RunNotFound
    return run


def listed(caller: Caller, filters: RunFilter, limit: int, after: str | None) -> Slice[ListedRun]:
    """The runs that the caller sees, newest first; one query or a few. On the way, those that are lost end as Error.

    Where many runs of others stand between the caller's, or few are wanted, a slice may be short, also empty, and still
    have a position.
    """
    at = clock.now()
    seen_by = None if caller.is_admin else caller.principal
    page = store.listed(caller.organization_id, seen_by, filters, at, limit, after)
    return replace(page, entries=[_as_it_ended(run) if run.is_lost(at) else run for run in page.entries])


def newest(caller: Caller, most: int) -> list[ListedRun]:
    """Those that the caller sees of the organization's newest runs; one query, which reads `most` of them."""
    seen_by = None if caller.is_admin else caller.principal
    return list(store.listed(caller.organization_id, seen_by, RunFilter(), clock.now(), most, None, most).entries)


def output(caller: Caller, run_id: str) -> str:
    """The collector's output, empty if it never ran. Raises RunNotFound, OutputNotReady."""
    run = _require_finished(caller, run_id)
    # A run in Error may have ended before there was any.
    text = files.text_if_there(run_id, "output") if run.status == "Error" else files.text(run_id, "output")
    return text or ""


def output_link(caller: Caller, run_id: str) -> str | None:
    """The URL of an output that is too large for a response, else None. Raises RunNotFound, OutputNotReady."""
    _require_finished(caller, run_id)
    return files.link(run_id, "output") if files.size(run_id, "output") > LARGEST_ANSWER else None


def sample(caller: Caller, run_id: str) -> str:
    """Returns the sample of the run; empty if the run was refused at its start. Raises RunNotFound."""
    return files.text_if_there(get(caller, run_id).id, "sample") or ""


def stderr(caller: Caller, run_id: str) -> str:
    """Returns the collector's standard error, unchanged; empty if it never ran.

    Raises RunNotFound, OutputNotReady.
    """
    _require_finished(caller, run_id)
    return files.text_if_there(run_id, "stderr") or ""


def _as_it_ended(lost: ListedRun) -> ListedRun:
    stored = store.find(lost.id)
    if stored is None:
        return lost
    ended = stored if stored.is_final else RUNS.finish_lost(stored)
    return replace(lost, status=ended.status, reason=ended.reason, finished_at=ended.finished_at)


def _require_finished(caller: Caller, run_id: str) -> Run:
    run = get(caller, run_id)
    if not run.is_final:
        raise OutputNotReady
    return run


def _source(caller: Caller, asked: Start) -> _Source:
    if isinstance(asked.source, str):
        return _Source(asked.source, settings().collector_version, published=False, named_at=("body", "yaml"))
    version = configurations.get_version(caller, asked.source.configuration_id, asked.source.n)
    return _Source(
        version.yaml or "",
        version.collector_version,
        published=version.status == "published",
        named_at=("body", "version_number"),
        feature_gates=version.feature_gates,
    )


def _rules(asked: Start) -> tuple[RunRule, ...]:
    if not asked.use_saved_rules or not isinstance(asked.source, StoredVersion):
        return tuple(RunRule(rule, api_owned=True) for rule in asked.rules)
    saved = rule_sets.saved_for(asked.source.configuration_id, asked.source.n, asked.target_pipeline)
    if saved is None or not saved.rules:
        raise NoSavedRules(asked.source.n, asked.target_pipeline)
    return tuple(RunRule(stored.rule, stored.api_owned) for stored in saved.rules)
