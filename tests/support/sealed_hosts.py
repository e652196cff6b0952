"""A group with stored variables, whose hosts sign their messages and run with what is sealed for them."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from nacl.public import SealedBox

from headgate.fleets import tokens
from headgate.rollouts import service
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.signing_host import SigningHost

WRONG = "wrong"
"""A value with which the collector refuses to start."""
STEPS = {"steps": [{"hosts": 1, "soak_seconds": 60}, {"percent": 100, "soak_seconds": 60}]}
Rollout = dict[str, Any]


@dataclass
class SealedHost:
    """A host as our supervisor is. `files` are what it opened, by digest; its collector has those of `digest`.

    One that `keeps` says that it applied what it is offered, and runs on with the variables that it has; the disk of
    one that `is_full` takes no file.
    """

    signing: SigningHost
    agent: Agent
    can: tuple[str, ...] = ("restart", "renew_token", "variables")
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    digest: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    offers: list[dict[str, Any]] = field(default_factory=list)
    keeps: bool = False
    platform: str = "linux"
    is_full: bool = False

    @property
    def environment(self) -> dict[str, str]:
        """What its collector's process has beside the variables of its install."""
        found: dict[str, str] = self.files[self.digest]["variables"] if self.digest else {}
        return found

    def starts(self) -> None:
        self.agent.start()
        self.beats()

    def beats(self) -> None:
        report = {"v": 1, "supervisor": {"version": "1"}, "can": self.can, "platform": self.platform}
        report |= {"variables": {"digest": self.digest}}
        self.agent.tells(json.dumps(report).encode())
        self._takes()

    def _takes(self) -> None:
        answer = self.agent.answer
        token = json.loads(answer.custom_message.data or b"{}").get("token")
        if token:
            self.signing.token = self._open(token).decode()
        if not answer.HasField("remote_config"):
            return
        self.told = json.loads(answer.custom_message.data or b"{}").get("variables", {})
        self.offers.append(self.told)
        opened = self.opened()
        if opened and self.is_full and self.told["digest"] not in self.files:
            why = "The variables of this version are not on this host: no space left on device"
            self.agent.report(wire.RemoteConfigStatuses_FAILED, why, own=True)
            return
        if opened:
            assert opened["config"] == answer.remote_config.config_hash.hex()
            self.files[self.told["digest"]] = opened
        before = self.digest
        if not self.keeps:
            self.digest = self.told.get("digest", "")
        if WRONG in self.environment.values():
            self.digest = before
            self.agent.report(wire.RemoteConfigStatuses_FAILED, "invalid value")
            self._takes()
            return
        self.agent.applies()

    def fails(self, why: str) -> None:
        """The collector ends with what it runs."""
        self.agent.report(wire.RemoteConfigStatuses_FAILED, why)
        self._takes()

    def opened(self) -> dict[str, Any] | None:
        """What the last offer has sealed for it."""
        sealed = self.told.get("sealed")
        if sealed is None:
            return None
        content: dict[str, Any] = json.loads(self._open(sealed))
        return content

    def _open(self, sealed: str) -> bytes:
        return SealedBox(self.signing.key.to_curve25519_private_key()).decrypt(base64.b64decode(sealed))


@dataclass
class SealedGroup:
    """A group that runs version 1, with a variable and a secret that its hosts were installed with.

    `said` are the messages of its hosts' states.
    """

    fleet: Fleet
    clock: Clock
    id: str
    hosts: list[SealedHost] = field(default_factory=list)
    said: set[object] = field(default_factory=set)

    @classmethod
    def of(cls, fleet: Fleet, clock: Clock, hosts: int) -> "SealedGroup":
        group = cls(fleet, clock, fleet.add_group("sealed", 1))
        assert group.stores(variables={"ZONE": "a"}, secrets={"API_KEY": "first"}) == 1
        for n in range(hosts):
            group.join(f"edge-{n}")
        group.beats()
        return group

    @property
    def path(self) -> str:
        return f"{API}/fleets/{self.fleet.id}/deployments/{self.id}"

    def join(self, name: str, token: str | None = None, **fields: Any) -> SealedHost:
        signing = SigningHost.of(self.fleet, self.id, token or tokens.value_of(self.id, 1))
        host = SealedHost(signing, signing.agent(host_name=name), **fields)
        host.starts()
        self.hosts.append(host)
        return host

    def unsigned(self, name: str) -> SealedHost:
        """A host with the group's own token that does not sign."""
        signing = SigningHost.of(self.fleet, self.id, tokens.value_of(self.id, 1))

        def post(body: bytes) -> bytes:
            response = self.fleet.post(body, token=signing.token, group=self.id)
            assert response.status_code == 200, response.text
            return response.content

        host = SealedHost(signing, Agent(post, host_name=name))
        host.starts()
        self.hosts.append(host)
        return host

    def newest(self) -> int:
        return int(self.fleet.member.http.get(f"{self.path}/env").json()["revision"])

    def beats(self, seconds: int = 30) -> None:
        self.clock.moves(seconds=seconds)
        for host in self.hosts:
            host.beats()

    def stores(self, **changes: object) -> int:
        """Change the stored variables; gives their revision."""
        response = self.fleet.member.http.patch(f"{self.path}/env", json=changes)
        assert response.status_code == 200, response.text
        return int(response.json()["revision"])

    def asks(self, revision: int, **fields: object) -> Any:
        body = {"version_number": 1, "variables_revision": revision, "strategy": STEPS, **fields}
        return self.fleet.member.http.post(f"{self.path}/rollouts", json=body)

    def starts(self, revision: int, **fields: object) -> Rollout:
        response = self.asks(revision, **fields)
        assert response.status_code == 201, response.text
        rollout: Rollout = response.json()
        return rollout

    def now(self, rollout: Rollout) -> Rollout:
        shown: Rollout = self.fleet.member.http.get(f"{self.path}/rollouts/{rollout['id']}").json()
        return shown

    def ends(self, rollout: Rollout) -> Rollout:
        """Heartbeats and ticks until it has ended."""
        for _ in range(40):
            service.tick(self.fleet.id, self.id, str(rollout["id"]))
            shown = self.now(rollout)
            if shown["status"] in ("completed", "halted", "rolled_back", "aborted", "superseded"):
                return shown
            self.said |= {one["state_message"] for one in self.fleet.instances()}
            self.beats()
        raise AssertionError(self.now(rollout))

    def of_hosts(self) -> Any:
        """What runs where, by the API."""
        return self.fleet.member.http.get(f"{self.path}/env/hosts").json()
