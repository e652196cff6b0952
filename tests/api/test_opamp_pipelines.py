"""A configuration without pipelines is never Applied, whatever a supervisor says, and the version before runs on."""

import pytest

from headgate.opamp.pipelines import runs_nothing
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Fleet, ann, fleet, hash_of, version

__all__ = ["ann", "fleet"]

APPLIED = wire.RemoteConfigStatuses_APPLIED
WHY = "service::pipelines: service must have at least one pipeline"
WITHOUT = [
    "receivers: {nop: }\n",
    "# nothing\n",
    "service:\n",
    "service: {}\n",
    "service: {pipelines: }\n",
    "service: {pipelines: {}}\n",
    "service: {pipelines: ~, extensions: [zpages]}\n",
    "x: &x {}\nservice: {pipelines: *x}\n",
    "x: &x {pipelines: {}}\nservice: {<<: *x}\n",
    "x: &x {extensions: []}\nservice: {<<: [*x, *x]}\n",
    "service: &s {<<: *s}\n",
    "a0: &a0 {}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 3_000)) + "<<: *a2999\n",
    "receivers: {}\n---\nservice: {pipelines: {logs: {}}}\n",
    "%TAG !a! tag:example.com,2026:\n---\nservice: {}\n",
]
WITH = [
    version(1),
    "service: {pipelines: {logs: }}\n",
    "service: {pipelines: []}\n",
    "service: {pipelines: '${env:PIPELINES}'}\n",
    "service: []\n",
    "[]\n",
    "{\n",
    "[" * 100_000,
    # What takes libyaml more than the length says: each token by the depth, each tag by those before it.
    f"x: {'[' * 65}{']' * 65}\nservice: {{}}\n",
    "".join(f"%TAG !a{n}! x\n" for n in range(101)) + "---\nservice: {}\n",
    "x: &x {pipelines: {logs: {}}}\nservice: *x\n",
    "x: &x {pipelines: {logs: {}}}\nservice: {<<: *x}\n",
    "x: &x {service: {pipelines: {logs: {}}}}\n<<: [*x]\n",
    "service::pipelines: {logs: {}}\n",
    "service: {pipelines::logs: {}}\n",
    "service: {pipelines: {logs: {}}}\n---\nservice: {}\n",
]


@pytest.mark.parametrize("text", WITHOUT)
def test_a_text_without_pipelines_is_known(text: str) -> None:
    assert runs_nothing(text)


@pytest.mark.parametrize("text", WITH)
def test_any_other_text_is_for_the_collector_to_judge(text: str) -> None:
    assert not runs_nothing(text)


def test_a_version_without_pipelines_fails_and_the_one_before_runs_on(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    fleet.assign(fleet.publish("receivers: {nop: }\n"))
    answer = agent.heartbeat()

    assert not answer.HasField("remote_config")
    (seen,) = fleet.instances()
    assert (fleet.state(), seen["state_message"], fleet.running()) == ("apply_failed", WHY, 1)
    for _ in range(3):
        assert not agent.heartbeat().HasField("remote_config")
    assert not agent.start().HasField("remote_config")
    assert (fleet.state(), fleet.running()) == ("apply_failed", 1)
    fleet.assign(3)
    agent.heartbeat()
    agent.applies()
    assert (fleet.state(), fleet.running()) == ("applied", 3)


def test_a_first_version_without_pipelines_is_never_sent(fleet: Fleet) -> None:
    fleet.assign(fleet.publish("receivers: {nop: }\n"))
    agent = fleet.agent()
    agent.start()

    assert agent.config == b""
    agent.report(APPLIED)
    assert (fleet.state(), fleet.running()) == ("apply_failed", None)


def test_a_supervisor_that_says_to_have_applied_one_is_not_believed(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    n = fleet.publish("receivers: {nop: }\n")
    fleet.assign(n)
    # From a server before this one, which offered it.
    agent.status = wire.RemoteConfigStatus(last_remote_config_hash=bytes.fromhex(hash_of(fleet, n)))
    agent.report(APPLIED)

    assert agent.config == version(1).encode()
    (seen,) = fleet.instances()
    assert (seen["state"], seen["state_message"]) == ("apply_failed", WHY)
    agent.applies()
    assert (fleet.state(), fleet.running()) == ("apply_failed", 1)


def test_the_version_to_go_back_to_has_pipelines_too(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    n = fleet.publish("receivers: {nop: }\n")
    fleet.assign(n)
    agent.status = wire.RemoteConfigStatus(last_remote_config_hash=bytes.fromhex(hash_of(fleet, n)))
    agent.report(APPLIED)
    fleet.assign(n + 1)
    agent.heartbeat()
    agent.report(wire.RemoteConfigStatuses_FAILED, "no")

    assert agent.config == version(1).encode()
