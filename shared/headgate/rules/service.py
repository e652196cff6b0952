"""What can be done with a version's rules, and by whom."""

from collections.abc import Sequence

from headgate import engine, errors
from headgate.configurations import service as configurations
from headgate.errors import FieldError, Invalid
from headgate.identity.model import Caller
from headgate.ids import new_id
from headgate.rules import store
from headgate.rules.model import Rule, RuleSet, Signal, StoredRule, default_name

_RACES = 10


def saved(caller: Caller, configuration_id: str, n: int) -> list[RuleSet]:
    """The version's sets by pipeline; two reads. Raises ConfigurationNotFound, VersionNotFound."""
    configurations.get_version(caller, configuration_id, n)
    return store.rule_sets(configuration_id, n)


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
    """Replace the rules of that ownership in a pipeline's set; rules of the other kind are kept.

    A published version's rules may change too: they describe tests, not the collector. Raises ConfigurationNotFound,
    VersionNotFound, NotTheOwner; Invalid for a pipeline that the version does not have and for a rule that the OTTL
    parser refuses; Unavailable when it could not be asked; nothing is saved then.
    """
    version = configurations.get_changeable_version(caller, configuration_id, n)
    try:
        signals = engine.signals_of(version.yaml or "", pipeline, signal_type)
    except engine.RunRefused as refused:
        raise Invalid(refused.reason, [FieldError(("path", "pipeline"), refused.reason)]) from refused
    except engine.Unpreparable as problem:
        place = ("body", "signal_type") if problem.field == "signal_type" else ("path", "pipeline")
        raise Invalid(problem.message, [FieldError(place, problem.message)]) from problem
    engine.require_compilable(signals, rules)
    added = [StoredRule(new_id("rul"), api_owned, rule) for rule in rules]
    for _ in range(_RACES):
        before = store.rule_set(configuration_id, n, pipeline) or RuleSet(pipeline, "", signal_type, (), 0)
        after = before.replace(added, name or default_name(pipeline), api_owned=api_owned)
        try:
            store.save(configuration_id, n, after)
        except store.LostRace:
            continue
        return after
    raise errors.Contention("Too many changes at once; nothing was saved, try again shortly")
