"""Offers to an instance: the desired version, or if that failed, the last version that is known to be good.

Nothing, if its host cannot be moved to another collector by Headgate: then a person can do something about it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from headgate.deployments.programs import Program
from headgate.deployments.versions import VariablesRevision
from headgate.instances.desired.model import ConfigOutcome, Desired
from headgate.instances.model import Instance

_SYSTEMS: Final = {"windows": "Windows", "macos": "macOS"}


def offer(instance: Instance, desired: Desired) -> Desired | None:
    """The config to send to the instance now; None if it has applied it, is applying it, or nothing better is known.

    A config that failed here is not offered again until a person assigns it again. Offered in its place is what ran
    healthily before, here or on another host of the group. The empty config is offered only if no such version is
    known: otherwise the supervisor keeps restarting the failed one, which is better than nothing if it ran before. A
    collector that ran before its group was managed is not stopped so.
    """
    if not instance.reported.accepts_config or obstacle(instance, desired):
        return None
    failure = instance.trials.failure_of(desired)
    if failure is None:
        return desired if _is_wanting(instance, desired) else None
    if failure.returned_in_vain:
        return None
    back_to = _back(instance, desired)
    return back_to if back_to and _is_wanting(instance, back_to) else None


def with_offer(instance: Instance, sent: Desired, text_hash: str, at: datetime) -> Instance:
    """The instance with an outcome that says it was sent this config."""
    trials, reported = instance.trials, instance.reported.config
    known = trials.outcome_of(sent.config_hash)
    again = known is not None and known.revision == sent.revision
    if known is not None and again and known is trials.last_offered():
        # Sent once more, because the host has not said yet that it has it.
        at = known.offered_at or at
    offered = ConfigOutcome.of(sent, "offered", "", text_hash, offered_at=at)
    if known is not None and again and known.status == "offered" and reported.status == "failed":
        offered = replace(offered, returns=known.returns, unclear_since=known.unclear_since)
    if known is None or known.status != "applied":
        # Counted by the offers: a supervisor that fails twice with the same words says so once.
        return replace(instance, trials=trials.with_outcome(replace(offered, returns=offered.returns + 1)))
    # It worked before, so it stays "applied", in its place: the instance does not run it again yet.
    renewed = replace(
        known,
        revision=sent.revision,
        text_hash=text_hash,
        offered_at=at,
        returns=known.returns + 1 if reported.config_hash == sent.config_hash else 1,
        unclear_since=known.unclear_since if again else None,
    )
    return replace(instance, trials=trials.with_changed(renewed))


def obstacle(instance: Instance, desired: Desired) -> str | None:
    """The reason why a version's collector or variables cannot be brought to the instance; None if they can, or run."""
    return collector_obstacle(instance, desired.collector) or variables_obstacle(instance, desired.variables)


def variables_obstacle(instance: Instance, variables: VariablesRevision | None) -> str | None:
    """The reason why these variables cannot be sealed for the instance's host, and the way out; None if they can.

    A host has to sign with a key, and with the token of its own group: who has the fleet's token, or no key, gets none.
    """
    if variables is None:
        return None
    install = f"`headgate fleet install {instance.fleet_id} --deployment {instance.deployment_id}` prints the command"
    needs = f"Revision {variables.revision} of the group's variables cannot be sealed for this host: "
    host = instance.reported.host
    if "variables" not in host.can and host.platform in _SYSTEMS:
        return f"{needs}Windows and macOS do not tell what a collector runs with. An install changes them: {install}"
    if "variables" not in host.can:
        return f"{needs}its supervisor takes none. Install the host again: {install}"
    if instance.identity.key is None:
        return f"{needs}it does not sign its messages. Install the host again: {install}"
    if instance.identity.scope != instance.deployment_id:
        return f"{needs}it signs in with the fleet's token, not with the group's own. Install the host again: {install}"
    return None


def collector_obstacle(instance: Instance, collector: Program | None) -> str | None:
    """The reason why this collector cannot be brought to the instance, and the way out; None if it can, or runs."""
    if collector is None or instance.reported.runs_collector(collector):
        return None
    host, description = instance.reported.host, instance.reported.description
    runs = description.collector_version or "a version that is not known"
    needs = f"The version needs collector {collector.version}, and this host runs {runs}. "
    if by_install := replaced_by_install(instance):
        return f"{needs}{by_install}, with the default collector of this server"
    if "upgrade_collector" not in host.can:
        return needs + _way_out(instance, collector)
    if description.arch not in collector.files:
        arch = description.arch or "an unknown architecture"
        return needs + f"That collector is not published for {arch}: the operator runs `make publish-install`"
    return None


def replaced_by_install(instance: Instance) -> str | None:
    """The way to other programs on a host of a system for which none are published; None for another host."""
    platform, install = instance.reported.host.platform, f"headgate fleet install {instance.fleet_id}"
    if platform not in _SYSTEMS:
        return None
    command = f"`{install} --deployment {instance.deployment_id} --platform {platform}` prints the command"
    return f"On {_SYSTEMS[platform]} an install replaces programs: {command}"


def _way_out(instance: Instance, collector: Program) -> str:
    host, group = instance.reported.host, instance.deployment_id
    # Supervisors that do not say how they were installed have these labels from the chart.
    if host.platform == "kubernetes" or "k8s.node.name" in host.labels:
        release = group.replace("dep_", "headgate-")
        return (
            "Helm moves it: `headgate fleet install "
            f"{instance.fleet_id} --platform kubernetes --deployment {group}` prints the command; add "
            f"`--set image.tag={collector.version}` to it (release {release})"
        )
    install = f"headgate fleet install {instance.fleet_id} --deployment {group}"
    if host.platform == "docker":
        return (
            f"Docker moves it: make an image with that collector, and replace the container by the one that "
            f"`{install} --platform docker` prints"
        )
    return f"Its supervisor cannot replace a collector. Install the host again: `{install}` prints the command"


def _is_wanting(instance: Instance, config: Desired) -> bool:
    """True if a config without a failure is to be sent: the host has another one, or is to try it once more."""
    reported, outcome = instance.reported.config, instance.trials.outcome_of(config.config_hash)
    if reported.config_hash != config.config_hash:
        return True
    if reported.status != "failed":
        return reported.status not in ("applying", "applied")
    if outcome is None or outcome.revision != config.revision:
        # It failed under another assignment.
        return True
    if outcome.unclear_since is not None:
        # Its supervisor tells that it was applied when it is asked again, whatever its collector does.
        return instance.reported.is_healthy
    return not outcome.returned_in_vain


def _back(instance: Instance, desired: Desired) -> Desired | None:
    """The version to run instead of a failed one. None to let the supervisor go on trying what it has."""
    known = _known(instance, desired)
    failures: list[tuple[Desired, ConfigOutcome]] = []
    for config in known:
        failure = instance.trials.outcome_of(config.config_hash)
        if failure is None or failure.status != "failed" or failure.returned_in_vain:
            # One that was only killed gives way to none that is older.
            return config
        failures.append((config, failure))
    for config, failure in failures:
        if failure.revision != desired.revision:
            # It failed under another assignment, and ran healthily as well.
            return config
    ran_before = any(
        (version.assignment, version.variables) == (desired.assignment, desired.variables)
        for version in instance.trials.healthy
    )
    reported = instance.reported.config
    tries_another = reported.status == "failed" and reported.config_hash != desired.config_hash
    stays = known or ran_before or tries_another or desired.assignment is None or desired.adopted
    return None if stays else Desired(None, desired.revision)


def _runs_on(instance: Instance) -> ConfigOutcome | None:
    """The healthy version by the host's report while another one was refused; None if its supervisor names none."""
    running, text_hash = instance.running(), instance.reported.host.text_hash
    if running is None or text_hash is None or not instance.reported.is_healthy:
        return None
    return running if running.status == "applied" and running.text_hash == text_hash else None


def _known(instance: Instance, desired: Desired) -> list[Desired]:
    """Versions to go back to, the best first: what runs on, what the group runs, and what ran healthily in it or here.

    If nothing did, those that were applied here. A version whose rollout was taken back is none of them, unless it ran
    healthily as an assignment of the group before; then it is the last.
    """
    back_to = Desired(None, desired.revision)
    programs: dict[str | None, Program | None] = {
        program.version: program for program in (desired.collector, desired.collector_before) if program
    }
    programs[None] = None
    taken_back = [version for version in desired.healthy if desired.forgets(version)]
    proven = [version for version in (*desired.healthy, *instance.trials.healthy) if not desired.forgets(version)]
    versions = [version.identity for version in (*proven, *taken_back)]
    if not versions:
        versions = [
            outcome.identity
            for outcome in instance.trials.outcomes
            if outcome.identity
            and outcome.status == "applied"
            and outcome.revision <= desired.revision
            and not desired.forgets(outcome)
        ]
    runs_on = _runs_on(instance)
    if runs_on and runs_on.identity and runs_on.revision <= desired.revision and not desired.forgets(runs_on):
        versions.insert(0, runs_on.identity)
    known = [
        replace(back_to, assignment=assignment, collector=programs[collector], variables=variables)
        for assignment, collector, variables in versions
        if collector in programs
    ]
    if desired.before is not None:
        before = replace(back_to, assignment=desired.before, collector=desired.collector_before)
        known.insert(0, replace(before, variables=desired.variables_before))
    return [config for config in known if config.config_hash != desired.config_hash]
