"""Events stand in the outbox if, and only if, what they tell of was stored."""

import pytest

from configurations.app import router as configurations_router
from headgate.events import service as events
from headgate.events.model import About
from headgate.foundation import clock
from headgate.storage import table
from headgate.storage.retry import LostRace
from tests.support.configurations import create, publish
from tests.support.events import waiting
from tests.support.members import JoinWith, Member


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router], "ann")


def test_a_publication_is_one_event(ann: Member, organization_id: str) -> None:
    configuration_id = create(ann)
    publish(ann, configuration_id)
    publish(ann, configuration_id)
    (event,) = waiting(organization_id)

    assert event.type == "configuration.published"
    assert event.about == About(configuration_id=configuration_id, version_number=1)


def test_a_change_that_loses_a_race_leaves_no_event(aws_here: object, organization_id: str) -> None:
    told = events.write("fleet.limit_near", organization_id, About(), clock.now())
    gone = table.identity.must_exist({"pk": "organization#none", "sk": "organization"})

    with pytest.raises(LostRace):
        table.transact([told, gone])
    assert waiting(organization_id) == []
