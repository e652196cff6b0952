"""How every stored class comes into the tables and out of them again, by the stores' own functions.

A flow is carried out with values that have something in every field, and with values that have little. What it writes
depends on nothing else, so that it can be compared with what an earlier release wrote.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from headgate.audit import store as audit
from headgate.audit.model import AuditRecord
from headgate.captures import store as captures
from headgate.captures.model import Capture, CaptureTarget, Redaction
from headgate.checker import keys as verdict_keys
from headgate.checker import verdict_store as verdicts
from headgate.configurations import store as configurations
from headgate.configurations.model import Configuration, Version
from headgate.deployments import delivery_store, history_store, selector_store, variable_store
from headgate.deployments import store as deployments
from headgate.deployments.environment import Environment, GroupVariable, InstallCode
from headgate.deployments.events import GroupEvent
from headgate.deployments.model import Deployment, Selectors
from headgate.events import store as events
from headgate.events.keys import SHARDS
from headgate.events.model import Event
from headgate.fleets import store as fleets
from headgate.fleets.model import Fleet, FleetToken
from headgate.foundation.principal import Principal
from headgate.identity import invitation_store, login_store, member_store, service_account_store, session_store
from headgate.identity.login_store import Approval
from headgate.identity.model import Invitation, Organization, ServiceAccount, Session, Token, User
from headgate.instances import store as instances
from headgate.instances.counting.census import Shard
from headgate.instances.model import Instance
from headgate.instances.timeline import store as timeline_store
from headgate.instances.timeline.model import TimelineEvent
from headgate.policies import store as policies
from headgate.policies.model import StoredPolicies
from headgate.rollouts import execution_store
from headgate.rollouts import store as rollouts
from headgate.rollouts.model import Rollout, RolloutExecution
from headgate.runs import store as runs
from headgate.runs.jobs import store as jobs
from headgate.runs.jobs.model import Job
from headgate.runs.model import Run, RunFilter
from headgate.runs.queue import Queue
from headgate.runs.rules import store as rules
from headgate.runs.rules.model import RuleSet
from headgate.storage import table
from headgate.version_tests import store as version_tests
from headgate.version_tests.model import Recorded, VersionTests
from headgate.webhooks import store as webhooks
from headgate.webhooks.model import Delivery, Webhook
from headgate_engine.validation.model import Verdict
from tests.support.stored import values
from tests.support.stored.instances import RecordedInstance
from tests.support.stored.values import Made

AT: Final = datetime(2026, 3, 4, 5, 6, 7, 89_000, UTC)
LATER: Final = datetime(2999, 1, 1, tzinfo=UTC)
"""When what expires does, so that it is read."""


@dataclass(frozen=True)
class Make:
    """Makes values of any class that begin with `start`, as `values` has them."""

    start: str

    def __call__(self, cls: type[Made], **fixed: object) -> Made:
        made: Made = getattr(values, self.start)(cls, self.start, **fixed)
        return made

    @property
    def has_all(self) -> bool:
        """Whether each field has something."""
        return self.start != "bare"


MAKES: Final = (Make("full"), Make("shallow"), Make("bare"))


@dataclass(frozen=True)
class Flow:
    """How values of a concept are stored, and what is read then, by a name for each."""

    write: Callable[[Make], None]
    read: Callable[[str], Mapping[str, object]]


def _write_configurations(make: Make) -> None:
    created = make(Configuration, published_version=None, archived_at=None, assigned=0, latest_version=1)
    first = make(Version, n=1, status="draft", published_at=None, revision=1, yaml="receivers:\n  otlp:\n")
    configurations.create(created, first)
    if make.has_all:
        published = first.publish(AT)
        configurations.publish(created, first, published)
        shown = replace(created, published_version=1)
        table.transact([configurations.assigned(shown)])
        configurations.archive(replace(shown, assigned=1), AT)


def _read_configurations(start: str) -> Mapping[str, object]:
    organization_id, configuration_id = f"{start}-organization_id", f"{start}-id"
    return {
        "configuration": configurations.configuration(organization_id, configuration_id),
        "version": configurations.version(configuration_id, 1),
        "versions": configurations.versions(configuration_id, 9, None, published_only=False).entries,
    }


def _write_rules(make: Make) -> None:
    configurations.create(
        make(Configuration, id=f"{make.start}-of-rules", latest_version=1, assigned=0),
        make(Version, n=1, status="draft"),
    )
    rules.save(f"{make.start}-of-rules", 1, make(RuleSet, revision=1))


def _read_rules(start: str) -> Mapping[str, object]:
    return {"rules": rules.rule_set(f"{start}-of-rules", 1, f"{start}-pipeline")}


def _write_tests(make: Make) -> None:
    id = f"{make.start}-of-tests"
    version_tests.save(id, 1, VersionTests(), make(VersionTests, revision=1))
    table.transact([version_tests.recording(id, 1, Recorded(), make(Recorded, revision=1))])


def _read_tests(start: str) -> Mapping[str, object]:
    tests, evidence = version_tests.tests_and_evidence(f"{start}-of-tests", 1)
    return {"tests": tests, "evidence": evidence}


def _write_verdicts(make: Make) -> None:
    verdicts.put(verdict_keys.verdict(make.start, "sha", "1"), make(Verdict), LATER)


def _read_verdicts(start: str) -> Mapping[str, object]:
    return verdicts.verdicts([verdict_keys.verdict(start, "sha", "1")])


def _write_fleets(make: Make) -> None:
    fleets.create(make(Fleet, groups_added=0), f"{make.start}-hash", 9)
    table.transact([fleets.put_token(f"{make.start}-of-group", make(FleetToken))])
    if make.has_all:
        table.transact([fleets.group_added(f"{make.start}-organization_id", f"{make.start}-id")])


def _read_fleets(start: str) -> Mapping[str, object]:
    return {
        "fleet": fleets.fleet(f"{start}-organization_id", f"{start}-id"),
        "token": fleets.token(f"{start}-hash"),
        "token of a group": fleets.token(f"{start}-of-group"),
    }


def _write_groups(make: Make) -> None:
    group = make(Deployment)
    table.transact(deployments.writes_of_new(group))
    secret = {"secret": make(GroupVariable, value=None)} if make.has_all else {}
    variables = {"plain": make(GroupVariable, secret=None, value="text"), **secret}
    variable_store.put(group, Environment(), Environment(variables, 1))
    delivery_store.put(f"{make.start}-code", make(InstallCode))
    table.transact(
        [
            selector_store.put(group.fleet_id, Selectors(), make(Selectors, revision=1)),
            history_store.put(make(GroupEvent)),
        ]
    )


def _read_groups(start: str) -> Mapping[str, object]:
    fleet_id, group_id = f"{start}-fleet_id", f"{start}-deployment_id"
    return {
        "group": deployments.deployment(fleet_id, f"{start}-id"),
        "variables": variable_store.get(fleet_id, f"{start}-id"),
        "code": delivery_store.get(f"{start}-code"),
        "selectors": selector_store.get(fleet_id),
        "event": history_store.newest(fleet_id, group_id, 9, None).entries,
    }


def _instance(make: Make) -> Instance:
    recorded = make(RecordedInstance, fleet_id=f"{make.start}-of-hosts", deployment_id="group", revision=0)
    hashes = [f"{number:064x}" for number in range(9)]
    outcomes = [replace(outcome, text_hash=hashes.pop()) for outcome in recorded.outcomes]
    return replace(recorded, outcomes=tuple(outcomes)).instance()


def _write_instances(make: Make) -> None:
    instance = _instance(make)
    group = make(Deployment, fleet_id=instance.fleet_id, id="group", name="of-hosts")
    table.transact(deployments.writes_of_new(group))
    shard = make(Shard, number=1, revision=0)
    instances.save(None, instance, Shard(1), shard if make.has_all else Shard(1), [])
    happened = [make(TimelineEvent)]
    table.transact(timeline_store.put(instance.fleet_id, instance.id, 1, happened))


def _read_instances(start: str) -> Mapping[str, object]:
    fleet_id, instance_id = f"{start}-of-hosts", f"{start}-id"
    instance = instances.instance(fleet_id, instance_id)
    return {
        "instance": RecordedInstance.of(instance) if instance else None,
        "shard": instances.shard(fleet_id, 1),
        "event": timeline_store.newest(fleet_id, instance_id, 9, None).entries,
    }


def _write_rollouts(make: Make) -> None:
    execution = make(RolloutExecution)
    table.transact([*rollouts.created(make(Rollout)), execution_store.put(execution, AT)])


def _read_rollouts(start: str) -> Mapping[str, object]:
    return {
        "rollout": rollouts.rollout(f"{start}-deployment_id", f"{start}-id"),
        "open": [each for each in execution_store.open_rollouts() if each.execution.name.startswith(start)],
    }


def _write_captures(make: Make) -> None:
    # Items were recorded with the name that the field had then.
    inner = values.bare if make.start == "shallow" else getattr(values, make.start)
    target = inner(CaptureTarget, f"{make.start}-wanted")
    ended, open_ = make(Capture, target=target), make(Capture, id=f"{make.start}-open", reason=None, target=target)
    table.transact([captures.creating(ended), captures.creating(open_)])
    captures.put_redaction(make.start, make(Redaction), 0, audit.put(make(AuditRecord, id=f"{make.start}-redacted")))


def _read_captures(start: str) -> Mapping[str, object]:
    return {
        "ended": captures.capture(f"{start}-fleet_id", f"{start}-id"),
        "open": captures.capture(f"{start}-fleet_id", f"{start}-open"),
        "redaction": captures.redaction(start),
    }


def _write_runs(make: Make) -> None:
    run = make(Run, id=f"run_{make.start}", status="Fail")
    results = [
        replace(each, rule=rule.rule, api_owned=rule.api_owned)
        for each, rule in zip(run.results, run.rules, strict=True)
    ]
    runs.create(replace(run, results=tuple(results)))
    runs.save_queue(make(Queue, revision=0), make(Queue, revision=0))
    jobs.create(make(Job, id=f"{make.start}-job"), "/jobs")


def _read_runs(start: str) -> Mapping[str, object]:
    organization_id = f"{start}-organization_id"
    return {
        "run": runs.find(f"run_{start}"),
        "listed": runs.listed(organization_id, None, RunFilter(), AT - timedelta(days=900), 9, None).entries,
        "queue": runs.queue(organization_id),
        "job": jobs.find(f"{start}-job"),
    }


def _write_events(make: Make) -> None:
    event = make(Event)
    table.transact([events.put(event)])
    table.write(audit.put(make(AuditRecord)))
    webhooks.create(make(Webhook), audit.put(make(AuditRecord, id=f"{make.start}-webhook")))
    webhooks.add(make(Delivery))


def _read_events(start: str) -> Mapping[str, object]:
    return {
        "event": [event for number in range(SHARDS) for event in events.waiting(number, 9)],
        "record": audit.records(f"{start}-organization_id", 9, None).entries,
        "webhook": webhooks.webhook(f"{start}-organization_id", f"{start}-id"),
        "delivery": webhooks.delivery(f"{start}-webhook_id", f"{start}-id"),
    }


def _write_policies(make: Make) -> None:
    stored = make(StoredPolicies, revision=1, updated_at=AT, updated_by=make(Principal))
    policies.save(make.start, StoredPolicies(), stored)


def _read_policies(start: str) -> Mapping[str, object]:
    return {"policies": policies.get(start)}


def _write_people(make: Make) -> None:
    user, organization = make(User), make(Organization)
    member_store.put_user(user)
    member_store.put_organization(organization, user, "active")
    invitation = make(Invitation, organization_id=organization.id, id=f"inv_{make.start}", expires_at=LATER)
    invitation_store.put(replace(invitation, organization_name=organization.name), None)
    session = make(Session, user=user, expires_at=LATER)
    session_store.take_place(session)
    session_store.begin(session, [], None)


def _read_people(start: str) -> Mapping[str, object]:
    organization_id = f"{start}-id"
    return {
        "user": member_store.user_by_email(f"{start}-email"),
        "members": member_store.members(organization_id, 9, None).entries,
        "memberships": member_store.memberships(f"{start}-id"),
        "invitations": invitation_store.of_address(f"{start}-email"),
        "session": session_store.get(f"{start}-value_hash", AT),
        "places": session_store.places(f"{start}-id"),
    }


def _write_tokens(make: Make) -> None:
    account = make(ServiceAccount)
    service_account_store.create(account)
    expires_at = LATER if make.has_all else None
    token = make(Token, service_account_id=account.id, expires_at=expires_at)
    service_account_store.create_token(token, f"{make.start}-hash", "Acme", account, 0)


def _read_tokens(start: str) -> Mapping[str, object]:
    organization_id, account_id = f"{start}-organization_id", f"{start}-id"
    return {
        "account": service_account_store.get(organization_id, account_id),
        "tokens": service_account_store.tokens(organization_id, account_id),
        "caller": service_account_store.caller_of_token(f"{start}-hash", AT),
        "member": member_store.member(organization_id, account_id),
    }


def _write_logins(make: Make) -> None:
    login_store.create_device(f"{make.start}-device", f"{make.start}-short", "192.0.2.1", LATER)
    login_store.create_code(f"{make.start}-code", "challenge", make(Approval), LATER)


def _read_logins(start: str) -> Mapping[str, object]:
    return {kind: login_store.by_secret(f"{start}-{kind}", AT) for kind in ("device", "code")}


FLOWS: Final[Mapping[str, Flow]] = {
    "configurations": Flow(_write_configurations, _read_configurations),
    "rules": Flow(_write_rules, _read_rules),
    "tests": Flow(_write_tests, _read_tests),
    "verdicts": Flow(_write_verdicts, _read_verdicts),
    "fleets": Flow(_write_fleets, _read_fleets),
    "groups": Flow(_write_groups, _read_groups),
    "instances": Flow(_write_instances, _read_instances),
    "rollouts": Flow(_write_rollouts, _read_rollouts),
    "captures": Flow(_write_captures, _read_captures),
    "runs": Flow(_write_runs, _read_runs),
    "events": Flow(_write_events, _read_events),
    "policies": Flow(_write_policies, _read_policies),
    "people": Flow(_write_people, _read_people),
    "tokens": Flow(_write_tokens, _read_tokens),
    "logins": Flow(_write_logins, _read_logins),
}
