"""With which step of a rollout a host comes."""

import pytest

from headgate.deployments.running import NOBODY, RolloutPlace
from headgate.rollouts.model import Begun, Progress

PROGRESS = Progress(begun=(Begun(1, NOBODY), Begun(3, RolloutPlace(5, "ins_5"))))


@pytest.mark.parametrize(
    ("progress", "place", "step"),
    [
        (Progress(), RolloutPlace(3, "ins_3"), 0),
        (PROGRESS, NOBODY, 0),
        (PROGRESS, RolloutPlace(3, "ins_3"), 1),
        (PROGRESS, RolloutPlace(5, "ins_5"), 1),
        (PROGRESS, RolloutPlace(6, "ins_6"), 3),
    ],
)
def test_a_host_comes_with_the_last_step_that_began_before_its_place(
    progress: Progress, place: RolloutPlace, step: int
) -> None:
    assert progress.step_of(place) == step
