"""Operations on configurations and versions, with the permissions that each requires."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from headgate.checker import Asker, verdicts
from headgate.configurations import keys, store
from headgate.configurations.model import (
    Archived,
    Configuration,
    ConfigurationNotFound,
    ConfigurationPublished,
    UnknownDistribution,
    Version,
    VersionChanged,
    VersionIsPublished,
    VersionNotFound,
)
from headgate.configurations.requirements import PublishRequirements, Unmet, of_policies, of_tests
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.identity import checks
from headgate.policies import service as policies
from headgate.storage.retry import LostRace, retried
from headgate.storage.table import Write
from headgate.version_tests import service as version_tests
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.policies.model import PolicyChoices, Suppression
from headgate_engine.threads import Threads
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import CheckRequest


def visible(caller: Caller, limit: int, after: str | None, archived: Archived = "false") -> Slice[Configuration]:
    """The caller's own and the organization's published ones, most recently updated first.

    Two queries side by side, with `all` four: archived ones have lists of their own.

    Both lists have the same order, so a published one that is the caller's own is at the same place in the caller's
    list: leaving it out never makes a page too short.
    """
    organization_id = caller.organization_id
    lists = {"false": [False], "true": [True], "all": [False, True]}[archived]

    def own(archived: bool) -> list[Configuration]:
        return store.own_slice(organization_id, caller.principal, limit + 1, after, archived=archived)

    def of_others(archived: bool) -> list[Configuration]:
        published = store.published_slice(organization_id, limit + 1, after, archived=archived)
        return [entry.as_seen_by(caller) for entry in published if not entry.owned_by(caller)]

    queries = [_side_by_side().submit(query, archived) for query in (own, of_others) for archived in lists]
    # One that is archived between two queries may be in both.
    visible = {entry.id: entry for query in queries for entry in query.result()}
    merged = sorted(visible.values(), key=position, reverse=True)
    return Slice(merged[:limit], position(merged[limit - 1]) if len(merged) > limit else None)


def position(entry: Configuration) -> str:
    """The position of a list after this entry."""
    return keys.by_update(clock.rfc3339(entry.updated_at), entry.id)


def get(caller: Caller, configuration_id: str) -> tuple[Configuration, Version]:
    """A configuration with its latest version, as the caller sees them; two reads. Raises ConfigurationNotFound."""
    configuration = _visible(caller, configuration_id).as_seen_by(caller)
    version = store.version(configuration_id, configuration.latest_version)
    if version is None:
        raise ConfigurationNotFound
    return configuration, version


def summary(caller: Caller, configuration_id: str) -> Configuration:
    """A configuration without a text, as the caller sees it; one read. Raises ConfigurationNotFound."""
    return _visible(caller, configuration_id).as_seen_by(caller)


def names(organization_id: str, ids: Iterable[str]) -> Mapping[str, str]:
    """The names by id, without those that are gone; one batch read for each hundred.

    Only for what everybody in the organization may see: configurations of which a version is assigned.
    """
    return {configuration.id: configuration.name for configuration in store.configurations(organization_id, set(ids))}


def get_version(caller: Caller, configuration_id: str, n: int) -> Version:
    """One version with its text; one read. Raises ConfigurationNotFound, VersionNotFound."""
    return _version(caller, configuration_id, n)[1]


def snapshot(caller: Caller, configuration_id: str, n: int) -> tuple[Configuration, Version]:
    """A configuration with one of its versions and that one's text; one read.

    Raises ConfigurationNotFound, VersionNotFound.
    """
    configuration, version = _version(caller, configuration_id, n)
    return configuration.as_seen_by(caller), version


def get_version_without_text(caller: Caller, configuration_id: str, n: int) -> Version:
    """One version; one read. Raises ConfigurationNotFound, VersionNotFound."""
    return _version_without_text(caller, configuration_id, n)[1]


def changing_draft(caller: Caller, configuration_id: str, n: int, at: datetime) -> list[Write]:
    """For a transaction that changes what a draft has beside its text, and fails unless it is still a draft; one read.

    The configuration counts as updated then. Raises ConfigurationNotFound, VersionNotFound, NotTheOwner,
    VersionIsPublished.
    """
    configuration, version = _version_without_text(caller, configuration_id, n)
    configuration.require_changeable_by(caller)
    if version.status == "published":
        raise VersionIsPublished(n)
    return [store.is_draft(configuration_id, n), store.updated(configuration, at)]


def get_changeable_version(caller: Caller, configuration_id: str, n: int) -> Version:
    """One version with its text, to someone who may change the configuration; one read.

    Raises ConfigurationNotFound, VersionNotFound, NotTheOwner.
    """
    return _changeable_version(caller, configuration_id, n)[1]


def versions(caller: Caller, configuration_id: str, limit: int, after: str | None) -> Slice[Version]:
    """The versions that the caller sees, newest first, without texts; two reads. Raises ConfigurationNotFound."""
    configuration = _visible(caller, configuration_id)
    return store.versions(configuration_id, limit, after, published_only=not configuration.owned_by(caller))


def newest_published(caller: Caller, configuration_id: str) -> int | None:
    """The number of the newest published version; one read. Raises ConfigurationNotFound."""
    return _visible(caller, configuration_id).published_version


def create(
    caller: Caller,
    name: str,
    yaml: str,
    distribution: str,
    description: str | None,
    managed_by: str | None = None,
) -> tuple[Configuration, Version]:
    """Store a new configuration and its text as draft version 1, which is not checked. Raises UnknownDistribution."""
    if distribution != DISTRIBUTION:
        raise UnknownDistribution(distribution)
    at = clock.now()
    configuration = Configuration(
        id=new_id("cfg", at),
        organization_id=caller.organization_id,
        name=name,
        description=description,
        collector_distribution=distribution,
        owner=caller.principal,
        latest_version=1,
        published_version=None,
        created_at=at,
        updated_at=at,
        managed_by=managed_by,
    )
    first = _draft(caller, configuration, 1, yaml, settings().collector_version, None, at)
    store.create(configuration, first)
    return configuration, first


@retried
def describe(caller: Caller, configuration_id: str, changes: Mapping[str, str | None]) -> Configuration:
    """Change `name`, `description` and `managed_by`, whichever are given. Raises ConfigurationNotFound, NotTheOwner."""
    before = _changeable(caller, configuration_id)
    return store.describe(before, changes, clock.now()).as_seen_by(caller)


def assigned(configuration: Configuration) -> Write:
    """For the transaction that makes hosts run a version of it. Raises ConfigurationArchived.

    The transaction loses its race if the configuration is archived meanwhile.
    """
    configuration.require_not_archived()
    return store.assigned(configuration)


@retried
def archive(caller: Caller, configuration_id: str, require_unused: Callable[[Configuration], None]) -> Configuration:
    """Archive it, unless `require_unused` raises; an archived one is returned as it is.

    An assignment meanwhile makes it look again. Raises ConfigurationNotFound, NotTheOwner.
    """
    before = _changeable(caller, configuration_id)
    if before.archived_at is not None:
        return before.as_seen_by(caller)
    require_unused(before)
    return store.archive(before, clock.now()).as_seen_by(caller)


@retried
def restore(caller: Caller, configuration_id: str) -> Configuration:
    """Restore what is archived; another one is returned as it is. Raises ConfigurationNotFound, NotTheOwner."""
    before = _changeable(caller, configuration_id)
    if before.archived_at is None:
        return before.as_seen_by(caller)
    return store.archive(before, clock.now()).as_seen_by(caller)


@retried
def delete(caller: Caller, configuration_id: str) -> Configuration:
    """Delete what was never published, with all its versions, for good. Returns what was deleted.

    Raises ConfigurationNotFound, NotTheOwner, ConfigurationPublished.
    """
    before = _changeable(caller, configuration_id)
    if before.published_version is not None:
        raise ConfigurationPublished
    of_versions = [version_tests.deleting(before.id, n) for n in range(1, before.latest_version + 1)]
    store.delete(before, *(write for writes in of_versions for write in writes))
    return before


@retried
def append(
    caller: Caller,
    configuration_id: str,
    yaml: str,
    description: str | None,
    if_match: frozenset[str] | None = None,
) -> tuple[Configuration, Version]:
    """Add a draft, which inherits the latest version's collector version, gates, and the tests of the latest one sees.

    Numbers have no gaps and no duplicates, however many requests append at once. `if_match` are the states that the
    latest version that the caller sees may have. Raises ConfigurationNotFound, NotTheOwner, ConfigurationArchived, and
    VersionChanged.
    """
    before = _changeable(caller, configuration_id)
    before.require_not_archived()
    latest = store.version_without_text(configuration_id, before.latest_version)
    if latest is None:
        raise LostRace
    n = latest.n + 1
    added = _draft(caller, before, n, yaml, latest.collector_version, description, clock.now())
    added = replace(added, feature_gates=latest.feature_gates)
    # The tests of a draft that an Admin does not see are not told by way of a new version.
    seen = latest.n if before.shows_version(caller, latest) else before.published_version
    conditions = version_tests.carried(configuration_id, seen, n) if seen else []
    if if_match is not None:
        shown = latest if seen == latest.n else store.version_without_text(configuration_id, seen or 0)
        if shown is None:
            raise LostRace
        _require_match(shown, if_match)
        conditions.append(store.unchanged(configuration_id, shown))
    store.append(before, added, *conditions)
    return before, added


@retried
def edit(
    caller: Caller,
    configuration_id: str,
    n: int,
    *,
    yaml: str | None,
    collector_version: str | None,
    description: str | None = None,
    feature_gates: tuple[str, ...] | None = None,
    if_match: frozenset[str] | None,
    validate: bool,
) -> tuple[Configuration, Version]:
    """Change a draft; with `validate`, only if the collector accepts the result.

    Raises ConfigurationNotFound, VersionNotFound, NotTheOwner, ConfigurationArchived, VersionIsPublished,
    VersionChanged, validation's YamlInvalid, TooCostly, UnknownGate and CollectorVersionNotInstalled, and Unavailable
    if it could not be checked. Nothing is saved then.
    """
    configuration, before = _changeable_version(caller, configuration_id, n)
    configuration.require_not_archived()
    _require_match(before, if_match)
    after = before.edit(yaml, collector_version, clock.now(), description, feature_gates)
    if validate:
        text = after.yaml or ""
        asker = Asker.of(caller).gated(after.feature_gates)
        result = validation.require_valid(text, after.collector_version, asker=asker)
        if not after.feature_gates:
            verdicts.remember(caller.organization_id, text, result)
    store.edit(configuration, before, after)
    return configuration, after


@retried
def publish(
    caller: Caller,
    configuration_id: str,
    n: int,
    if_match: frozenset[str] | None = None,
    *,
    if_tests_pass: bool = False,
) -> tuple[Configuration, Version]:
    """Publish a version, if it has what the organization requires; a published one is returned as it is.

    What is published is what was checked, by the settings, tests and evidence as they are then: another change of any
    makes it check again. `if_match` are the states that the draft may have, or had when it was published;
    `if_tests_pass` requires that its tests passed, if it has any. Raises ConfigurationNotFound, VersionNotFound,
    NotTheOwner, ConfigurationArchived, VersionChanged, and where something is required PublishRequirements; where
    policies are, TooManyChecks, and what checking policies does. Nothing is published then.
    """
    configuration, before = _changeable_version(caller, configuration_id, n)
    _require_match(before, if_match, before.draft_etag)
    after = before.publish(clock.now())
    if after is not before:
        configuration.require_not_archived()
        known = policies.stored(caller)
        conditions = [
            policies.unchanged(caller, known),
            *_required(caller, known.settings, configuration_id, before, if_tests_pass=if_tests_pass),
        ]
        about = About(configuration_id=configuration_id, version_number=n)
        event = events.write("configuration.published", caller.organization_id, about, clock.now())
        store.publish(configuration, before, after, *conditions, event)
    return configuration, after


def _require_match(version: Version, if_match: frozenset[str] | None, *also: str) -> None:
    """Raises VersionChanged if the version has none of these states; `also` are ETags that it had."""
    if if_match is not None and if_match.isdisjoint(("*", version.etag, *also)):
        raise VersionChanged(version.etag)


def _required(
    caller: Caller, settings: PolicyChoices, configuration_id: str, version: Version, *, if_tests_pass: bool
) -> Sequence[Write]:
    """The conditions of a transaction that publishes. Raises PublishRequirements."""
    conditions: Sequence[Write] = ()
    unmet: list[Unmet] = []
    by_organization = "tests" in settings.publish_requires
    if by_organization or if_tests_pass:
        proof = tests_of(configuration_id, version)
        conditions = proof.still_so
        missing = [error for error in proof.missing if by_organization or error.code != version_tests.NO_TESTS]
        if missing:
            unmet.append(of_tests(missing, asked=not by_organization))
    if "policies" in settings.publish_requires:
        with checks.under_way(caller):
            result = policies.judge(caller, settings, _text(version))
        if not result.passed:
            unmet.append(of_policies(result))
    if unmet:
        raise PublishRequirements(unmet)
    return conditions


def tests_of(configuration_id: str, version: Version) -> version_tests.Proof:
    """Returns the evidence of the tests of a version that the caller may see; one read."""
    subject = version_tests.subject(version.yaml or "", version.collector_version, version.feature_gates)
    return version_tests.proof(configuration_id, version.n, subject)


def suppressions(caller: Caller, configuration_id: str, n: int) -> Sequence[Suppression]:
    """The comments in a version that suppress findings of policies, as its collector reads them.

    Raises ConfigurationNotFound, VersionNotFound, and what checking policies does.
    """
    return policies.check(caller, _text(_version(caller, configuration_id, n)[1])).suppressions


def _text(version: Version) -> CheckRequest:
    at = ("path", "n")
    return CheckRequest(
        version.yaml or "", version.collector_version, {}, version.feature_gates, loc=at, version_loc=at
    )


def _visible(caller: Caller, configuration_id: str) -> Configuration:
    configuration = store.configuration(caller.organization_id, configuration_id)
    if configuration is None or not configuration.visible_to(caller):
        raise ConfigurationNotFound
    return configuration


def _changeable(caller: Caller, configuration_id: str) -> Configuration:
    configuration = _visible(caller, configuration_id)
    configuration.require_changeable_by(caller)
    return configuration


def _version(caller: Caller, configuration_id: str, n: int) -> tuple[Configuration, Version]:
    return _seen(caller, store.snapshot(caller.organization_id, configuration_id, n))


def _version_without_text(caller: Caller, configuration_id: str, n: int) -> tuple[Configuration, Version]:
    return _seen(caller, store.snapshot_without_text(caller.organization_id, configuration_id, n))


def _seen(caller: Caller, snapshot: store.Snapshot | None) -> tuple[Configuration, Version]:
    if snapshot is None or not snapshot.configuration.visible_to(caller):
        raise ConfigurationNotFound
    if snapshot.version is None or not snapshot.configuration.shows_version(caller, snapshot.version):
        raise VersionNotFound
    return snapshot.configuration, snapshot.version


def _changeable_version(caller: Caller, configuration_id: str, n: int) -> tuple[Configuration, Version]:
    configuration, version = _version(caller, configuration_id, n)
    configuration.require_changeable_by(caller)
    return configuration, version


def _draft(
    caller: Caller,
    configuration: Configuration,
    n: int,
    yaml: str,
    collector_version: str,
    description: str | None,
    at: datetime,
) -> Version:
    return Version(
        n=n,
        status="draft",
        collector_version=collector_version,
        collector_distribution=configuration.collector_distribution,
        description=description,
        created_by=caller.principal,
        created_at=at,
        updated_at=at,
        published_at=None,
        revision=1,
        yaml=yaml,
    )


@cache
def _side_by_side() -> Threads:
    return Threads(max_workers=8, thread_name_prefix="query")
