"""References in the values of stored variables, which hosts resolve."""

import pytest

from headgate.deployments.environment import Environment, GroupVariable, refers
from headgate.deployments.references import findings
from headgate.foundation import clock

TEXT = "exporters: {otlphttp: {endpoint: '${env:PLACE}', headers: {key: '${env:KEY}'}}}"


def stored(**values: str) -> Environment:
    return Environment({name: GroupVariable(clock.now(), value=value) for name, value in values.items()}, 1)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("${file:/run/secrets/key}", True),
        ("https://${env:HOST}:4318", True),
        ("${file:${env:CREDENTIALS_DIRECTORY}/key}", True),
        ("$$${file:/key}", True),
        ("$${file:/key}", False),
        ("pa$$word", False),
        ("plain", False),
    ],
)
def test_a_value_refers_as_the_collector_reads_it(value: str, is_one: bool) -> None:
    assert refers(value) is is_one
    assert stored(KEY=value).for_check["KEY"] == ("stand-in-of-a-secret" if is_one else value)


def test_the_check_names_what_it_used_a_stand_in_for() -> None:
    environment = stored(KEY="${file:/run/secrets/key}", PLACE="${vault:kv/place}", OTHER="${env:X}", ZONE="a")

    (key, place) = findings(environment, TEXT)

    assert (key.code, key.message) == (
        "depends_on_host",
        "The variable KEY refers to what its host has: it was checked with a stand-in",
    )
    assert place.message.startswith("The variable PLACE refers to vault, for which the official collector has no")
