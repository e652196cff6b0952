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

from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_local import template
from tests.support import sizes
from tests.support.in_process import TestClient
from tests.support.model import linearizable
from tests.support.model.model import Actor, Answer, Mismatch, Model, Operation
from tests.support.model.model_client import TEXTS, Clients, History, Observed, jitter
from tests.support.world import service

pytestmark = pytest.mark.sized

SEED: Final = int(os.environ.get("HEADGATE_TRUST_SEED", "20261121"))
FLEET_LIMIT: Final = 3
ACTORS: Final[list[Actor]] = ["ann", "ann", "bob", "admin", "reader"]
NAMES: Final = ["a", "b", "c", "Ω"]
LABELS: Final = ["north", "south", "east", "west"]
RULE_NAMES: Final = [["one"], ["one", "two"], ["three"]]
STEPS_OF_ONE_ORGANIZATION: Final = 150
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
    for number in range(max(1, sizes.STEPS // STEPS_OF_ONE_ORGANIZATION)):
        draw = random.Random(SEED + number)
        clients, model = Clients.founded(http), Model(FLEET_LIMIT)
        done: list[str] = []
        for _ in range(STEPS_OF_ONE_ORGANIZATION):
            operation = any_operation(draw, model)
            answer = clients.perform(operation)
            done.append(f"{operation} -> {answer.status} {str(answer.body)[:160]}")
            counted[f"{operation.kind} {answer.status}"] += 1
            try:
                model.step(operation, answer)
                if operation.kind == "get":
                    model.text_of_latest(operation.actor, answer, *operation.args)
            except Mismatch as error:
                raise AssertionError("\n".join([f"organization {number}: {error}", *done])) from error
    print(f"{counted.total()} operations: {dict(sorted(counted.items()))}")


def any_operation(draw: random.Random, model: Model) -> Operation:
    """Any operation on what exists, or on the version after the last."""
    actor = draw.choice(ACTORS)
    kinds = [
        *("create", "create_fleet", "create_token", "configurations_of", "fleets_of"),
        *(["get", "versions", "rules", "read", "publish"] * bool(model.configurations)),
        *(["append", "rename", "edit", "edit", "edit", "save_rules"] * bool(model.configurations)),
        *(["add_group", "add_group", "groups"] * bool(model.configurations and model.fleets)),
        *(["change_group", "change_group", "group"] * any(one.groups for one in model.fleets.values())),
        *(["use_token", "delete_token"] * bool(model.tokens)),
    ]
    kind = draw.choice(kinds)
    key = draw.choice(sorted(model.configurations)) if model.configurations else ""
    n = draw.randint(1, len(model.configurations[key].versions) + 1) if key else 0
    fleets = sorted(name for name, one in model.fleets.items() if one.groups or kind in ("add_group", "groups"))
    fleet = draw.choice(fleets) if fleets else ""
    groups = sorted(model.fleets[fleet].groups) if fleet else []
    group = draw.choice(groups) if groups else ""
    name, text = draw.choice(NAMES), draw.choice(TEXTS)
    match kind:
        case "create":
            return Operation(kind, actor, (name, text))
        case "create_fleet":
            return Operation(kind, actor, (draw.choice(LABELS),))
        case "create_token":
            return Operation(kind, "admin")
        case "use_token" | "delete_token":
            return Operation(kind, "admin", (draw.choice(sorted(model.tokens)),))
        case "configurations_of" | "fleets_of":
            return Operation(kind, actor)
        case "get" | "versions":
            return Operation(kind, actor, (key,))
        case "rules" | "read" | "publish":
            return Operation(kind, actor, (key, n))
        case "append":
            return Operation(kind, actor, (key, text))
        case "rename":
            return Operation(kind, actor, (key, name))
        case "edit":
            return Operation(kind, actor, (key, n, text, draw.choice([None, None, f'"{n}-1"', f'"{n}-2"'])))
        case "save_rules":
            return Operation(kind, actor, (key, n, "logs", draw.choice(RULE_NAMES)))
        case "add_group":
            return Operation(kind, actor, (fleet, draw.choice([*NAMES, "Default"]), key, n))
        case "groups":
            return Operation(kind, actor, (fleet,))
        case "group":
            return Operation(kind, actor, (fleet, group))
        case "change_group":
            assigned = draw.choice([None, key])
            changes = [{"name": name}, {"configuration_id": assigned}, {"name": name, "configuration_id": assigned}]
            return Operation(kind, actor, (fleet, group, draw.choice(changes)))
    raise AssertionError(kind)


def test_what_several_clients_see_could_be_one_after_the_other(http: TestClient) -> None:
    events = aws.dynamodb().meta.events
    wait = jitter(0.003)
    events.register("before-call.dynamodb", wait)
    counted: Counter[str] = Counter()
    rounds = max(1, sizes.STEPS // (THREADS * OPERATIONS_OF_ONE_THREAD))
    try:
        for number in range(rounds):
            clients = Clients.founded(http)
            model, history = prepared(clients), History(clients)
            with ThreadPoolExecutor(THREADS) as pool:
                work = [pool.submit(client, history, model, SEED + number * THREADS + one) for one in range(THREADS)]
                for done in work:
                    done.result()
            look_at_what_is_left(history, model)
            refused = linearizable.unexplained(model, history.observed)
            assert not refused, "\n".join([f"round {number}", *refused, *map(_line, history.observed)])
            counted.update(f"{one.operation.kind} {one.answer.status}" for one in history.observed)
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


def look_at_what_is_left(history: History, model: Model) -> None:
    """Read all of it once more, alone: of the orders that explain the rest, one has to come to this."""
    (key,), (token,) = model.configurations, model.tokens
    history.perform(Operation("versions", "ann", (key,)))
    for fleet in history.perform(Operation("fleets_of", "ann")).body["items"]:
        history.perform(Operation("groups", "ann", (fleet["id"],)))
    history.perform(Operation("use_token", "admin", (token,)))


def _line(one: Observed) -> str:
    shown = str(one.answer.body)[:160]
    return f"{one.began:.4f}–{one.ended:.4f} {one.operation} -> {one.answer.status} {one.answer.etag} {shown}"
