"""The version that a group goes back to, by what its hosts ran and which rollouts completed."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment, HealthyVersion, NamedVersion
from headgate.foundation.principal import Principal
from headgate.rollouts.good_versions import good_version
from headgate.rollouts.model import HostFailure, Rollout, Status

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
ROLLBACK: Final = "Rollback: slow"
FAILURE: Final = HostFailure("ins_1", "rollback_failed", "no such exporter")


def group(now: int, *healthy: int) -> Deployment:
    versions = [HealthyVersion(assignment(n)) for n in healthy]
    return Deployment(
        "dep_1", "flt_1", "web", False, None, None, None, assignment(now), AT, AT, healthy=versions, assigned_revision=1
    )


def assignment(n: int) -> Assignment:
    return Assignment("cfg_1", n)


def rollout(status: Status, to: int, before: int, message: str = "") -> Rollout:
    after, earlier = (NamedVersion(assignment(n), "shop") for n in (to, before))
    ann = Principal("user", "usr_1", "Ann")
    return Rollout("rol_1", "org_1", "flt_1", "dep_1", after, earlier, None, None, message, status, ann, AT, AT)


@pytest.mark.parametrize(
    ("completed", "now", "good"),
    [
        ([(2, 1, "")], 2, 1),
        ([(2, 1, ""), (3, 2, "")], 3, 2),
        # Gone back: the next time it goes back further, and not forth again.
        ([(2, 1, ""), (3, 2, ""), (2, 3, ROLLBACK)], 2, 1),
        ([(2, 1, ""), (3, 2, ""), (2, 3, ROLLBACK), (1, 2, ROLLBACK)], 1, None),
        ([(2, 1, ""), (3, 2, ""), (2, 3, ROLLBACK), (4, 2, "")], 4, 2),
        # Assigned once more, which is not a rollback.
        ([(1, 3, ""), (3, 1, "")], 3, 1),
        ([(1, 3, ""), (3, 1, ""), (1, 3, ROLLBACK)], 1, 3),
        # Assigned again as it was, for hosts where it failed.
        ([(2, 1, ""), (2, 2, "")], 2, 1),
        # It runs what no rollout is known of.
        ([(2, 1, "")], 7, 2),
        ([], 2, None),
    ],
)
def test_the_last_completed_version_before_is_good(
    completed: list[tuple[int, int, str]], now: int, good: int | None
) -> None:
    rollouts = [rollout("completed", *each) for each in reversed(completed)]

    assert good_version(group(now), rollouts) == (None if good is None else assignment(good))
    assert good_version(group(now, 9), rollouts) == assignment(9), "what ran healthily goes before"


@pytest.mark.parametrize("status", ["rolled_back", "aborted"])
def test_hosts_that_did_not_go_back_try_the_groups_own_version_again(status: Status) -> None:
    taken_back = replace(rollout(status, 9, 3), failures=[FAILURE])

    assert good_version(group(3, 2), [taken_back, rollout("completed", 3, 2)]) == assignment(3)
    assert good_version(group(3, 2), [rollout(status, 9, 3), rollout("completed", 3, 2)]) == assignment(2)
    assert good_version(group(3), [rollout(status, 4, 3)]) == assignment(3), "nothing is known before"
