"""The functions' routes on moto in this process, with the template's tables."""

from collections.abc import Iterator
from functools import partial

import pytest

from headgate.identity import invitations
from headgate.identity import service as identity
from headgate.settings import settings
from headgate_local import template
from tests.support import members
from tests.support.aws import aws_for
from tests.support.members import JoinWith


@pytest.fixture(autouse=True)
def _settings_of_one_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Of a running service, tests wait for it.
    monkeypatch.setattr(invitations, "_ANSWERED_EVERY_SECONDS", 0.001)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """Tables and bucket of the template, for all tests of a module: each makes organizations of its own."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


@pytest.fixture
def organization_id(aws_here: template.Template) -> str:
    """A new organization."""
    return identity.create_organization("Acme").id


@pytest.fixture
def join(organization_id: str) -> JoinWith:
    """Makes a member: `join(routers, name, access=…, organization_id=…)`."""
    return partial(members.join, default_organization_id=organization_id)
