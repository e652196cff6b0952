"""Coverage-guided fuzzing of the fleet service: `python -m tests.trust.coverage_guided SECONDS`.

The messages go through the whole exchange, with the tables in moto, so that one finds what the ones before have left.
Nothing but `NotOpamp` may come of a message, every answer has to be one, and the fleet's counters have to agree with
its collectors all along. A message that breaks this is written to the working directory.
"""

import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import atheris
import pytest

# Before anything else brings them in.
with atheris.instrument_imports(include=["headgate.opamp", "headgate.instances"]):
    from headgate.opamp import messages, service

from headgate.fleets import tokens
from headgate.foundation.log import logger
from headgate_opamp import opamp_pb2 as wire
from tests.support import world
from tests.support.aws import aws_for
from tests.support.opamp_agent import Agent

UIDS: Final = 16
LOOKED_AT: Final = 500


def message(data: atheris.FuzzedDataProvider, offered: bytes) -> bytes:
    """A message of one of a few agents, its parts there or not, sometimes with bytes that are none."""
    uid = bytes([data.ConsumeIntInRange(1, UIDS)]) * 16
    said = wire.AgentToServer(instance_uid=uid, sequence_num=data.ConsumeIntInRange(0, 2**64 - 1))
    said.capabilities = data.ConsumeIntInRange(0, 2**16 - 1)
    said.flags = data.ConsumeIntInRange(0, 3)
    if data.ConsumeBool():
        for attributes in (
            said.agent_description.identifying_attributes,
            said.agent_description.non_identifying_attributes,
        ):
            for _ in range(data.ConsumeIntInRange(0, 3)):
                pair = attributes.add()
                pair.key = data.PickValueInList(["host.name", "os.type", "host.arch", "service.version", "x"])
                pair.value.string_value = data.ConsumeUnicodeNoSurrogates(20)
    if data.ConsumeBool():
        said.health.healthy = data.ConsumeBool()
        said.health.last_error = data.ConsumeUnicodeNoSurrogates(50)
    if data.ConsumeBool():
        said.remote_config_status.status = data.ConsumeIntInRange(0, 5)
        said.remote_config_status.last_remote_config_hash = offered if data.ConsumeBool() else data.ConsumeBytes(32)
        said.remote_config_status.error_message = data.ConsumeUnicodeNoSurrogates(50)
    body = said.SerializeToString()
    return body + data.ConsumeBytes(30) if data.ConsumeBool() else body


def main(seconds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="headgate-fuzz-"))
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        template = stack.enter_context(contextmanager(aws_for)(environment, folder))
        http = stack.enter_context(world.service(template))
        logger.setLevel("CRITICAL")
        acme = world.founded(http, "Acme")
        fleet_id, deployment_id = acme.ids["fleet_id"], acme.ids["deployment_id"]
        token = tokens.value_of(fleet_id, 1)
        counts = {"messages": 0, "refused": 0}
        offered = [b""]

        def look() -> None:
            path = f"{world.PUBLIC}/fleets/{fleet_id}"
            listed, query = [], ""
            while query is not None:
                page = acme.call(acme.admin, "GET", f"{path}/instances?limit=100{query}", 200)
                listed += page["items"]
                query = page["next_cursor"] and f"&cursor={page['next_cursor']}"
            counted = acme.call(acme.admin, "GET", path, 200)["instances"]
            states = Counter(str(one["state"]) for one in listed)
            assert counted == {**dict.fromkeys(counted, 0), **states, "total": len(listed)}, states
            print(counts, counted, flush=True)

        def exchange(data: bytes) -> None:
            provider = atheris.FuzzedDataProvider(data)
            body = (
                message(provider, offered[-1])
                if provider.ConsumeBool()
                else provider.ConsumeBytes(provider.remaining_bytes())
            )
            counts["messages"] += 1
            if counts["messages"] % LOOKED_AT == 0:
                look()
            try:
                answer = wire.ServerToAgent.FromString(service.exchange(token, deployment_id, body).encode())
            except messages.NotOpamp:
                counts["refused"] += 1
                return
            if answer.HasField("remote_config"):
                offered[:] = [answer.remote_config.config_hash]
            assert answer.instance_uid == wire.AgentToServer.FromString(body).instance_uid

        corpus = folder / "corpus"
        corpus.mkdir()
        (corpus / "hello").write_bytes(b"\0" + Agent(lambda body: body).full().SerializeToString())
        atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096", str(corpus)], exchange)
        atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]))
