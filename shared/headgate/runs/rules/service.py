"""Operations on a version's rules, with the permissions that each requires."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headgate.audit import service as audit
from headgate.checker import Asker
from headgate.configurations import service as configurations
from headgate.configurations.model import Version
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, Unavailable
from headgate.foundation.ids import new_id
from headgate.runs.rules import store
from headgate.runs.rules.model import RuleSet, StoredRule, default_name
from headgate.storage.retry import retried
from headgate.storage.table import Write
from headgate_engine.collector import Signal
from headgate_engine.rules import engine
from headgate_engine.rules.model import Rule


def saved(caller: Caller, configuration_id: str, n: int) -> list[RuleSet]:
    """The version's sets by pipeline; two reads. Raises ConfigurationNotFound, VersionNotFound."""
    configurations.get_version(caller, configuration_id, n)
    return saved_with(configuration_id, n)


def saved_with(configuration_id: str, n: int) -> list[RuleSet]:
    """The sets of a version that the caller is known to see, without empty ones; one read."""
    return [rule_set for rule_set in store.rule_sets(configuration_id, n) if rule_set.rules]


def saved_for(configuration_id: str, n: int, pipeline: str) -> RuleSet | None:
    """The set of one pipeline of a version that the caller is known to see; one read."""
    return store.rule_set(configuration_id, n, pipeline)


def save(
    caller: Caller,
    configuration_id: str,
    n: int,
    pipeline: str,
    signal_type: Signal,
    rules: Sequence[Rule],
    name: str | None,
    *,
    api_owned: bool = True,
) -> RuleSet:
    """Replace the rules of that ownership in a pipeline's set; rules of the other kind stay.

    A published version's rules may change too: they describe tests, not the collector. Rules by hand are saved together
    with an audit record. Raises ConfigurationNotFound, VersionNotFound, NotTheOwner; Invalid for a pipeline that the
    version does not have and for a rule that the OTTL parser refuses; Unavailable if the parser could not be asked.
    Nothing is saved then.
    """
    version = configurations.get_changeable_version(caller, configuration_id, n)
    require_testable(caller, version, pipeline, signal_type, rules)
    added = [StoredRule(new_id("rul"), api_owned, rule) for rule in rules]

    def changed(before: RuleSet) -> RuleSet:
        return before.replace(added, name or default_name(pipeline), api_owned=api_owned)

    records = () if api_owned else (record_by_hand(caller, configuration_id, n, pipeline, "rules_by_hand.saved"),)
    return save_changed(configuration_id, n, RuleSet(pipeline, "", signal_type, (), 0), changed, *records)


def require_testable(
    caller: Caller, version: Version, pipeline: str, signal_type: Signal, rules: Sequence[Rule]
) -> None:
    """Raises Invalid unless the version has the pipeline and the OTTL parser accepts the rules, and Unavailable.

    The parser is that of the version's collector, or of the default one if that is an official release or is missing.
    """
    try:
        signals = engine.signals_of(
            version.yaml or "",
            pipeline,
            signal_type,
            asker=Asker.of(caller),
            version=version.collector_version,
            yaml_at=("path", "n"),
        )
        engine.require_compilable(signals, rules, asker=Asker.of(caller), version=version.collector_version)
    except engine.RunRefused as refused:
        raise Invalid(refused.reason, at=("path", "pipeline")) from refused
    except engine.Unpreparable as problem:
        place = ("body", "signal_type") if problem.field == "signal_type" else ("path", "pipeline")
        raise Invalid(problem.message, at=place) from problem
    except Unavailable as outage:
        outage.add_consequence("no rule was saved, try again shortly" if outage.may_pass else "no rule was saved")
        raise


@retried
def save_changed(
    configuration_id: str,
    n: int,
    none: RuleSet,
    changed: Callable[[RuleSet], RuleSet],
    *records: Write,
) -> RuleSet:
    """Save a pipeline's set as `changed` returns it; it gets `none` if there is no set yet. Raises Contention."""
    after = changed(store.rule_set(configuration_id, n, none.pipeline) or none)
    store.save(configuration_id, n, after, *records)
    return after


def record_by_hand(caller: Caller, configuration_id: str, n: int, pipeline: str, action: str, **details: str) -> Write:
    """The audit record of a change in the application."""
    target, name = (
        f"configurations/{configuration_id}/versions/{n}",
        configurations.summary(caller, configuration_id).name,
    )
    return audit.entry(caller, action, target, name=name, pipeline=pipeline, **details)
