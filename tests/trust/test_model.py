"""The service against the model of its specification: one client step by step, and several at once.

`HEADGATE_TRUST_STEPS` is how many operations are made by each of the two, `HEADGATE_TRUST_SEED` makes them others.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase
from hypothesis import seed as seeded
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from headgate import aws
from headgate.settings import settings
from headgate_local import template
from tests.trust import linearizable
from tests.trust.model import Actor, Answer, Mismatch, Model, Operation
from tests.trust.model_client import TEXTS, Clients, History, Observed, jitter
from tests.trust.world import service

STEPS: Final = int(os.environ.get("HEADGATE_TRUST_STEPS", "600"))
SEED: Final = int(os.environ.get("HEADGATE_TRUST_SEED", "20261121"))
FLEET_LIMIT: Final = 3
ACTORS: Final[list[Actor]] = ["ann", "ann", "bob", "admin", "reader"]
NAMES: Final = ["a", "b", "c", "Ω"]
LABELS: Final = ["north", "south", "east", "west"]
RULE_NAMES: Final = [["one"], ["one", "two"], ["three"]]
STEPS_OF_ONE_MACHINE: Final = 60
OPERATIONS_OF_ONE_THREAD: Final = 5
THREADS: Final = 4


@pytest.fixture(scope="module")
def http(aws_here: template.Template) -> Iterator[TestClient]:
    with service(aws_here) as http, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADGATE_FLEET_LIMIT", str(FLEET_LIMIT))
        settings.cache_clear()
        yield http


@pytest.fixture(autouse=True)
def _limit_of_fleets(http: TestClient) -> None:
    # The settings are read anew for each test.
    os.environ["HEADGATE_FLEET_LIMIT"] = str(FLEET_LIMIT)
    settings.cache_clear()


def test_one_client_gets_what_the_model_says(http: TestClient) -> None:
    counted: Counter[str] = Counter()

    class Machine(RuleBasedStateMachine):
        """One organization, whose actors do one thing after the other."""

        def __init__(self) -> None:
            super().__init__()
            self.clients = Clients.founded(http)
            self.model = Model(FLEET_LIMIT)

        def do(self, kind: str, actor: Actor, *args: object) -> None:
            operation = Operation(kind, actor, args)
            answer = self.clients.perform(operation)
            counted[f"{kind} {answer.status}"] += 1
            self.model.step(operation, answer)
            if kind == "get":
                self.model.text_of_latest(actor, answer, str(args[0]))

        def of(self, data: st.DataObject, known: dict[str, object]) -> str:
            return data.draw(st.sampled_from(sorted(known)))

        def version(self, data: st.DataObject) -> tuple[str, int]:
            """Of what there is, and the number after the last."""
            key = self.of(data, self.model.configurations)  # type: ignore[arg-type]  any values
            return key, data.draw(st.integers(1, len(self.model.configurations[key].versions) + 1))

        @rule(actor=st.sampled_from(ACTORS), name=st.sampled_from(NAMES), yaml=st.sampled_from(TEXTS))
        def create(self, actor: Actor, name: str, yaml: str) -> None:
            self.do("create", actor, name, yaml)

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), kind=st.sampled_from(["get", "versions", "rules", "read"]))
        def look(self, actor: Actor, data: st.DataObject, kind: str) -> None:
            key, n = self.version(data)
            self.do(kind, actor, *((key, n) if kind in ("rules", "read") else (key,)))

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), yaml=st.sampled_from(TEXTS))
        def append(self, actor: Actor, data: st.DataObject, yaml: str) -> None:
            self.do("append", actor, self.version(data)[0], yaml)

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), name=st.sampled_from(NAMES))
        def rename(self, actor: Actor, data: st.DataObject, name: str) -> None:
            self.do("rename", actor, self.version(data)[0], name)

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), yaml=st.sampled_from(TEXTS))
        def edit(self, actor: Actor, data: st.DataObject, yaml: str) -> None:
            key, n = self.version(data)
            if_match = data.draw(st.sampled_from([None, None, f'"{n}-1"', f'"{n}-2"']))
            self.do("edit", actor, key, n, yaml, if_match)

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data())
        def publish(self, actor: Actor, data: st.DataObject) -> None:
            self.do("publish", actor, *self.version(data))

        @precondition(lambda self: self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), names=st.sampled_from(RULE_NAMES))
        def save_rules(self, actor: Actor, data: st.DataObject, names: list[str]) -> None:
            self.do("save_rules", actor, *self.version(data), "logs", names)

        @rule(actor=st.sampled_from(ACTORS), kind=st.sampled_from(["configurations_of", "fleets_of"]))
        def lists(self, actor: Actor, kind: str) -> None:
            self.do(kind, actor)

        @rule(actor=st.sampled_from(ACTORS), label=st.sampled_from(LABELS))
        def create_fleet(self, actor: Actor, label: str) -> None:
            self.do("create_fleet", actor, label)

        @precondition(lambda self: self.model.fleets and self.model.configurations)
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), name=st.sampled_from([*NAMES, "Default"]))
        def add_group(self, actor: Actor, data: st.DataObject, name: str) -> None:
            fleet = self.of(data, self.model.fleets)  # type: ignore[arg-type]  any values
            self.do("add_group", actor, fleet, name, *self.version(data))

        @precondition(lambda self: any(one.groups for one in self.model.fleets.values()))
        @rule(actor=st.sampled_from(ACTORS), data=st.data(), name=st.sampled_from(NAMES))
        def change_group(self, actor: Actor, data: st.DataObject, name: str) -> None:
            fleet = data.draw(st.sampled_from(sorted(k for k, one in self.model.fleets.items() if one.groups)))
            group = data.draw(st.sampled_from(sorted(self.model.fleets[fleet].groups)))
            key = data.draw(st.sampled_from([None, *sorted(self.model.configurations)]))
            changes = data.draw(
                st.sampled_from([{"name": name}, {"configuration_id": key}, {"name": name, "configuration_id": key}])
            )
            self.do("change_group", actor, fleet, group, changes)
            self.do("group", actor, fleet, group)
            self.do("groups", actor, fleet)

        @precondition(lambda self: len(self.model.tokens) < 20)
        @rule()
        def create_token(self) -> None:
            self.do("create_token", "admin")

        @precondition(lambda self: self.model.tokens)
        @rule(data=st.data(), kind=st.sampled_from(["use_token", "use_token", "delete_token"]))
        def token(self, data: st.DataObject, kind: str) -> None:
            self.do(kind, "admin", self.of(data, self.model.tokens))  # type: ignore[arg-type]  any values

    seeded(SEED)(Machine)
    run_state_machine_as_test(
        Machine,
        settings=limits(
            max_examples=max(1, -(-STEPS // STEPS_OF_ONE_MACHINE)),
            stateful_step_count=STEPS_OF_ONE_MACHINE,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        ),
    )
    print(f"{counted.total()} operations: {dict(sorted(counted.items()))}")


def test_what_several_clients_see_could_be_one_after_the_other(http: TestClient) -> None:
    events = aws.dynamodb().meta.events
    wait = jitter(0.003)
    events.register("before-call.dynamodb", wait)
    counted: Counter[str] = Counter()
    rounds = max(1, STEPS // (THREADS * OPERATIONS_OF_ONE_THREAD))
    try:
        for number in range(rounds):
            clients = Clients.founded(http)
            model, history = prepared(clients), History(clients)
            with ThreadPoolExecutor(THREADS) as pool:
                work = [pool.submit(client, history, model, SEED + number * THREADS + one) for one in range(THREADS)]
                for done in work:
                    done.result()
            after, refused = linearizable.explain(model, history.observed)
            assert not refused, "\n".join([f"round {number}", *refused, *map(_line, history.observed)])
            counted.update(f"{one.operation.kind} {one.answer.status}" for one in history.observed)
            as_it_is_left(clients, after)
    finally:
        events.unregister("before-call.dynamodb", wait)
    print(f"{counted.total()} operations: {dict(sorted(counted.items()))}")


def prepared(clients: Clients) -> Model:
    """One configuration with a published version and a draft, two fleets, a group, a token."""
    model = Model(FLEET_LIMIT)

    def do(kind: str, actor: Actor, *args: object) -> Answer:
        operation = Operation(kind, actor, args)
        answer = clients.perform(operation)
        model.step(operation, answer)
        return answer

    key = do("create", "ann", "shared", TEXTS[0]).body["id"]
    do("publish", "ann", key, 1)
    do("append", "ann", key, TEXTS[1])
    do("create_fleet", "ann", "prepared")
    fleet = do("create_fleet", "ann", "second").body["id"]
    do("add_group", "ann", fleet, "prepared", key, 1)
    do("create_token", "admin")
    return model


def client(history: History, model: Model, seed: int) -> None:
    """A few operations on what all share; each client draws its own."""
    draw = random.Random(seed)
    (key,) = model.configurations
    fleet = max(model.fleets)
    (group,) = model.fleets[fleet].groups
    (token,) = model.tokens
    for _ in range(OPERATIONS_OF_ONE_THREAD):
        actor, n, name = draw.choice(ACTORS), draw.choice([1, 2, 2, 3]), draw.choice(NAMES[:2])
        writer = "reader" if draw.random() < 0.1 else draw.choice(["ann", "admin"])
        operation = draw.choice(
            [
                Operation("append", writer, (key, draw.choice(TEXTS))),
                Operation("append", writer, (key, draw.choice(TEXTS))),
                Operation("edit", writer, (key, n, draw.choice(TEXTS), draw.choice([None, None, f'"{n}-1"']))),
                Operation("edit", "ann", (key, 2, draw.choice(TEXTS), None)),
                Operation("publish", writer, (key, n)),
                Operation("rename", writer, (key, name)),
                Operation("read", actor, (key, n)),
                Operation("get", actor, (key,)),
                Operation("versions", actor, (key,)),
                Operation("save_rules", "ann", (key, 2, "logs", draw.choice(RULE_NAMES))),
                Operation("rules", "ann", (key, 2)),
                Operation("create_fleet", actor, (draw.choice(LABELS),)),
                Operation("fleets_of", actor),
                Operation("add_group", writer, (fleet, name, key, draw.choice([1, 2]))),
                Operation("change_group", writer, (fleet, group, {"name": name})),
                Operation("change_group", writer, (fleet, group, {"configuration_id": draw.choice([key, None])})),
                Operation("group", actor, (fleet, group)),
                Operation("use_token", "admin", (token,)),
                Operation("delete_token", "admin", (token,)),
            ]
        )
        history.perform(operation)


def as_it_is_left(clients: Clients, model: Model) -> None:
    """What a single client then finds is what the order that was found comes to."""
    (key,) = model.configurations
    found = [
        Operation("versions", "ann", (key,)),
        Operation("fleets_of", "ann"),
        *(Operation("groups", "ann", (fleet,)) for fleet in model.fleets),
        *(Operation("use_token", "admin", (token,)) for token in model.tokens),
    ]
    for operation in found:
        answer = clients.perform(operation)
        try:
            model.step(operation, answer)
        except Mismatch as error:
            raise AssertionError(f"{operation}: {error}") from error


def _line(one: Observed) -> str:
    shown = str(one.answer.body)[:160]
    return f"{one.began:.4f}–{one.ended:.4f} {one.operation} -> {one.answer.status} {one.answer.etag} {shown}"
