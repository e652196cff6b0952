"""What is made of a check process's answers about its components and OTTL: kept, checked, and refused if it is odd."""

import base64
import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from headgate import checker
from headgate.checker import Asker, CheckerBusy, NoChecker, NotInstalled, Refused
from headgate.foundation.errors import HeadgateError
from headgate.foundation.settings import settings
from headgate.reference import answers, builds, service
from headgate_engine.checker.messages import MAX_BYTES
from headgate_engine.collectors.model import Lacking
from headgate_engine.reference import documents
from headgate_engine.reference.model import (
    ComponentNotFound,
    Kind,
    NotInOttl,
    NotInThisBuild,
    ReferenceNotPossible,
    ReferenceUnavailable,
)
from headgate_engine.validation.model import CollectorVersionNotInstalled

DEFAULT, OTHER = settings().collector_version, "9.9.9"


def entry(kind: str, type_: str, *aliases: str, **more: object) -> dict[str, object]:
    usual: dict[str, object] = {"module": "m v1", "stability": {"logs": "beta"}, "summary": "", "deprecated": None}
    return {"kind": kind, "type": type_, "aliases": aliases, "schema": {"type": "object"}, **usual, **more}


COMPONENTS = [
    entry("receiver", "otlp", summary="Receives OTLP"),
    entry("exporter", "otlp_http", "otlphttp", summary="Sends OTLP over HTTP"),
    entry("exporter", "debug"),
]
OTTL = {"components": [{"component": "transform", "kind": "processor", "contexts": ["log", "span"]}]}
LOG = {"component": "transform", "kind": "processor", "context": "log", "paths": [], "functions": [], "enums": []}


def packed(content: object) -> dict[str, object]:
    text = json.dumps(content).encode()
    digest = hashlib.sha256(text).hexdigest()
    return {"digest": digest, "gzip": base64.b64encode(gzip.compress(text)).decode()}


@dataclass
class Collector:
    """A check process that answers what a test wants, and what it was asked."""

    answer: Callable[[str, Mapping[str, object]], Mapping[str, object]]
    asked: list[tuple[str, Mapping[str, object], str | None, Asker]] = field(default_factory=list)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    def usual(op: str, fields: Mapping[str, object]) -> Mapping[str, object]:
        if op == "reference":
            return packed({"version": DEFAULT, "distribution": "otelcol-contrib", "components": COMPONENTS})
        return LOG if fields else OTTL

    made = Collector(usual)

    def call(
        op: str, fields: Mapping[str, object], *, asker: Asker, version: str | None = None, timeout: float | None = None
    ) -> Mapping[str, object]:
        made.asked.append((op, fields, version, asker))
        return made.answer(op, fields)

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    monkeypatch.setattr("headgate_engine.collectors.service.lacks", lambda *_, **__: frozenset())
    builds.forget()
    yield made
    builds.forget()


def raising(error: Exception) -> Callable[[str, Mapping[str, object]], Mapping[str, object]]:
    def fail(*_: object) -> Mapping[str, object]:
        raise error

    return fail


def types(version: str | None = None, kind: Kind | None = None, text: str = "") -> list[str]:
    return [entry.position for entry in service.matching(version, kind, text)]


def test_components_come_by_kind_and_type(collector: Collector) -> None:
    assert types() == ["exporter/debug", "exporter/otlp_http", "receiver/otlp"]
    assert types(kind="exporter") == ["exporter/debug", "exporter/otlp_http"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("OTLP http", ["exporter/otlp_http"]), ("otlphttp", ["exporter/otlp_http"]), ("receives", ["receiver/otlp"])],
)
def test_every_word_is_looked_for_in_names_and_summary(text: str, expected: list[str], collector: Collector) -> None:
    assert types(text=text) == expected


def test_pages_begin_behind_the_last_one(collector: Collector) -> None:
    first = service.listed(None, None, 2, None)
    second = service.listed(None, None, 2, first.position)

    assert [entry.position for entry in first.entries] == ["exporter/debug", "exporter/otlp_http"]
    assert ([entry.position for entry in second.entries], second.position) == (["receiver/otlp"], None)


def test_a_component_is_found_by_a_former_name(collector: Collector) -> None:
    assert service.component(None, "exporter", "otlphttp").type == "otlp_http"


def test_an_unknown_component_is_told_with_similar_ones(collector: Collector) -> None:
    with pytest.raises(ComponentNotFound, match=f"Collector {DEFAULT} has no exporter debgu; did you mean debug"):
        service.component(None, "exporter", "debgu")


def test_what_only_a_reduced_build_lacks_is_not_unknown(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = frozenset({Lacking("receiver", "hostmetrics")})
    monkeypatch.setattr("headgate_engine.collectors.service.lacks", lambda *_, **__: lacking)

    with pytest.raises(NotInThisBuild, match="lacks the receiver hostmetrics of the official release"):
        service.component(OTHER, "receiver", "hostmetrics")
    with pytest.raises(ComponentNotFound):
        service.component(OTHER, "exporter", "hostmetrics")


def test_a_build_is_asked_once(collector: Collector) -> None:
    for version in (None, DEFAULT, OTHER, OTHER):
        service.component(version, "receiver", "otlp")

    assert [(op, version) for op, _, version, _ in collector.asked] == [("reference", DEFAULT), ("reference", OTHER)]


def test_it_is_asked_in_nobodys_name(collector: Collector) -> None:
    """A process that has read somebody's text could be lying to everybody else."""
    service.matching(None)
    service.ottl("transform", "log", None)

    assert {asker for _, _, _, asker in collector.asked} == {answers.ASKER}


def test_a_name_that_the_collector_did_not_tell_never_reaches_it(collector: Collector) -> None:
    for component, context in (("evil", "log"), ("transform", "evil"), (None, "log"), ("transform", None)):
        with pytest.raises(NotInOttl):
            service.ottl(component, context, None)

    assert [fields for _, fields, _, _ in collector.asked] == [{}]


def test_an_unknown_context_is_told_with_those_that_there_are(collector: Collector) -> None:
    with pytest.raises(NotInOttl) as raised:
        service.ottl("transform", "metric", None)

    assert raised.value.detail == "query.context: transform has no context metric: choose one of log, span"


@pytest.mark.parametrize(
    ("error", "version", "expected"),
    [
        (NotInstalled(OTHER, (DEFAULT,)), OTHER, CollectorVersionNotInstalled),
        (NotInstalled(DEFAULT), DEFAULT, ReferenceUnavailable),
        (NoChecker("no check"), OTHER, ReferenceNotPossible),
        (NoChecker("no check"), DEFAULT, ReferenceUnavailable),
        (Refused("unknown_op", "there is no operation"), OTHER, ReferenceNotPossible),
        (Refused("unknown_op", "there is no operation"), DEFAULT, ReferenceUnavailable),
        (Refused("failed", "it broke"), OTHER, ReferenceUnavailable),
        (CheckerBusy("all are taken"), OTHER, ReferenceUnavailable),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else None,
)
def test_why_it_is_not_known_is_told(
    error: Exception, version: str, expected: type[HeadgateError], collector: Collector
) -> None:
    collector.answer = raising(error)

    for ask in (service.matching, service.document, service.ottl_components):
        with pytest.raises(expected):
            ask(version)


def test_an_outage_does_not_take_away_what_is_known(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_FRESH_SECONDS", -1.0)
    before = types()
    collector.answer = raising(CheckerBusy("all are taken"))

    assert types() == before
    assert len(collector.asked) == 2


def test_a_build_that_was_replaced_is_asked_again(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_FRESH_SECONDS", -1.0)
    types()
    collector.answer = lambda *_: packed({"version": DEFAULT, "components": COMPONENTS[:1]})

    assert types() == ["receiver/otlp"]


def test_only_so_many_builds_are_kept(collector: Collector) -> None:
    versions = [f"1.0.{n}" for n in range(9)]
    for version in (*versions, versions[0]):
        types(version)

    assert len(collector.asked) == 10


def test_versions_that_there_are_not_push_out_none_that_there_is(collector: Collector) -> None:
    types()
    usual = collector.answer
    collector.answer = raising(NotInstalled(OTHER, (DEFAULT,)))
    for n in range(20):
        with pytest.raises(CollectorVersionNotInstalled):
            service.matching(f"1.0.{n}")
    collector.answer = usual
    asked = len(collector.asked)

    types()
    assert len(collector.asked) == asked


def test_while_one_asks_again_the_others_have_the_last_answer(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_FRESH_SECONDS", -1.0)
    types()
    asking, answered = threading.Event(), threading.Event()

    def slow(*_: object) -> Mapping[str, object]:
        asking.set()
        assert answered.wait(30)
        return packed({"version": DEFAULT, "components": []})

    collector.answer = slow
    with ThreadPoolExecutor() as pool:
        first = pool.submit(types)
        assert asking.wait(30)
        assert len(types()) == len(COMPONENTS)
        answered.set()
        assert first.result() == []


def test_nobody_waits_without_end_for_whoever_asks(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_PATIENCE_SECONDS", 0.01)
    asking, answered = threading.Event(), threading.Event()
    usual = collector.answer

    def slow(op: str, fields: Mapping[str, object]) -> Mapping[str, object]:
        asking.set()
        assert answered.wait(30)
        return usual(op, fields)

    collector.answer = slow
    with ThreadPoolExecutor() as pool:
        first = pool.submit(types)
        assert asking.wait(30)
        with pytest.raises(ReferenceUnavailable, match="is being asked"):
            types()
        answered.set()
        assert len(first.result()) == len(COMPONENTS)


DEEP = b'{"version": "1", "components": ' + b"[" * 100 + b"]" * 100 + b"}"
GOOD = packed({"version": "1", "components": []})


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {**GOOD, "digest": "0" * 64},
        {**GOOD, "gzip": "not base64!"},
        {**GOOD, "gzip": base64.b64encode(b"not gzip").decode()},
        {**GOOD, "gzip": base64.b64encode(gzip.compress(b"{}")[:-4]).decode()},
        {"digest": hashlib.sha256(DEEP).hexdigest(), "gzip": base64.b64encode(gzip.compress(DEEP)).decode()},
        packed([]),
        packed({"version": "1", "components": [{"kind": "receiver"}]}),
        packed({"version": "1", "components": [entry("gadget", "otlp")]}),
        packed({"version": "1", "components": [entry("receiver", "../otlp")]}),
        packed({"version": "1", "components": [entry("receiver", "otlp", schema="anything")]}),
    ],
)
def test_an_answer_in_another_form_is_an_outage(answer: dict[str, object], collector: Collector) -> None:
    collector.answer = lambda *_: answer

    with pytest.raises(ReferenceUnavailable, match="in an unknown form"):
        service.matching(None)


def test_an_answer_that_would_fill_the_memory_is_not_unpacked(collector: Collector) -> None:
    bomb = gzip.compress(b" " * (MAX_BYTES + 1))
    collector.answer = lambda *_: {"digest": "0" * 64, "gzip": base64.b64encode(bomb).decode()}

    assert len(bomb) < 100_000
    with pytest.raises(ReferenceUnavailable, match="in an unknown form"):
        service.document(None)


def test_a_document_is_passed_on_as_it_was_compressed(collector: Collector) -> None:
    told = packed({"$schema": "x"})
    collector.answer = lambda *_: told

    document = service.document(None)

    assert (document.digest, base64.b64encode(document.compressed).decode()) == (told["digest"], told["gzip"])
    assert documents.plain(document.compressed) == b'{"$schema": "x"}'


@pytest.mark.parametrize("told", [{"components": "none"}, {"components": [{"component": "x"}]}])
def test_ottl_in_another_form_is_an_outage(told: dict[str, object], collector: Collector) -> None:
    collector.answer = lambda *_: told

    with pytest.raises(ReferenceUnavailable):
        service.ottl_components(None)
