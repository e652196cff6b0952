"""`headgate component`, `headgate schema` and `headgate ottl`, of servers that answer what a test wants."""

import json

import pytest

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

PUBLIC = "/api/v1/public"


def entry(kind: str, type_: str, *aliases: str, **more: object) -> dict[str, object]:
    usual: dict[str, object] = {"stability": {"logs": "beta"}, "deprecated": None, "summary": "What it does"}
    return {"kind": kind, "type": type_, "aliases": aliases, **usual, **more}


ENTRIES = [
    entry("exporter", "debug"),
    entry("exporter", "otlp", stability={"logs": "stable", "traces": "stable", "profiles": "alpha"}),
    entry("exporter", "otlp_http", "otlphttp"),
    entry("receiver", "otlp"),
]


def field(path: str, type_: str, **more: object) -> dict[str, object]:
    usual: dict[str, object] = {"default": None, "description": "", "values": [], "deprecated": False, "secret": False}
    return {"path": path, "type": type_, **usual, **more}


FIELDS = [
    field("verbosity", "string", default='"basic"', values=["basic", "detailed"], description="How much"),
    field("token", "string", secret=True, deprecated=True, description="Not this"),
]
DEBUG = entry(
    "exporter", "debug", fields=FIELDS, schema={}, example={"flow": "nginx", "yaml": "exporters:\n  debug:\n"}
)
OTTL = {
    "component": "transform",
    "kind": "processor",
    "context": "log",
    "paths": [
        {"path": "log.body", "type": "any", "writable": True, "description": "The body"},
        {"path": 'log.attributes[""]', "type": "any", "writable": True, "description": "One attribute"},
    ],
    "functions": [
        {
            "name": "set",
            "kind": "editor",
            "signature": "set(target, value)",
            "in": ["statement"],
            "description": "Sets it",
        }
    ],
    "enums": [{"name": "SPAN_KIND_SERVER", "value": 2, "description": ""}],
}
TAKING = {
    "components": [{"component": name, "kind": "processor", "contexts": ["log"]} for name in ("filter", "transform")]
}


@pytest.fixture
def server(server: Server) -> Server:
    def answer(asked: str) -> Answer:
        path = asked.partition(" ")[2].removeprefix(PUBLIC)
        if path.startswith("/components?"):
            return 200, {}, {"items": ENTRIES, "next_cursor": None}
        if path.startswith("/components/schema.json"):
            return 200, {}, b'{"$schema": "x"}\n'
        if path.startswith("/components/"):
            return 200, {}, DEBUG
        return 200, {}, OTTL if "component=" in path else TAKING

    server.answering = answer
    return server


def asked(server: Server) -> list[str]:
    return [one.removeprefix(f"GET {PUBLIC}") for one, _, _ in server.requests]


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_components_are_listed_with_their_former_names(run: Run, server: Server) -> None:
    code, out, _ = run("component list --kind exporter --version v0.139.0")

    assert code == 0
    assert lines(out)[1:3] == [
        "exporter debug beta What it does",
        "exporter otlp stable: logs, traces; alpha: profiles What it does",
    ]
    assert "otlp_http (formerly otlphttp)" in out
    assert asked(server) == ["/components?kind=exporter&version=0.139.0&limit=100"]


def test_a_component_is_shown_with_its_fields_and_an_example(run: Run, server: Server) -> None:
    code, out, _ = run("component show debug")

    assert code == 0
    assert lines(out)[-3:] == [
        "FIELD TYPE DEFAULT DESCRIPTION",
        'verbosity string: basic, detailed "basic" How much',
        "token string - (deprecated) (secret) Not this",
    ]
    assert lines(out)[0] == "debug exporter"
    assert "exporters:\n  |   debug:" in out
    assert asked(server)[1:] == ["/components/exporter/debug"]


def test_for_programs_a_component_is_printed_as_it_is(run: Run) -> None:
    code, out, err = run("component show debug --kind exporter --json")

    assert (code, json.loads(out), err) == (0, json.loads(json.dumps(DEBUG)), "")


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("component show otlp", 1, "otlp is exporter and receiver: choose one with --kind"),
        ("component show debgu", 1, "this collector has no component debgu, did you mean debug?"),
        ("component show ../identity", 2, "is not a component type, such as otlp"),
        ("component show otlp --kind gadget", 2, "'gadget' is not one of"),
        ("schema --version latest", 2, "is not a collector version"),
    ],
)
def test_what_cannot_be_shown_is_told_with_the_way_out(line: str, code: int, message: str, run: Run) -> None:
    ended, out, err = run(line)

    assert (ended, out) == (code, "")
    assert message in err


def test_a_former_name_and_an_id_with_a_name_lead_to_the_component(run: Run, server: Server) -> None:
    run("component show otlphttp/backup")

    assert asked(server)[1:] == ["/components/exporter/otlphttp"]


def test_the_schema_is_printed_byte_for_byte(run: Run, server: Server) -> None:
    assert run("schema --version 0.139.0") == (0, '{"$schema": "x"}\n', "")
    assert asked(server) == ["/components/schema.json?version=0.139.0"]


def test_ottl_is_shown_by_component_and_context(run: Run, server: Server) -> None:
    code, out, _ = run("ottl reference transform log")

    assert code == 0
    assert [line for line in lines(out) if line] == [
        "PATH TYPE DESCRIPTION",
        "log.body any - The body",
        'log.attributes["<key>"] any - One attribute',
        "FUNCTION KIND IN DESCRIPTION",
        "set(target, value) editor statement Sets it",
        "ENUM VALUE DESCRIPTION",
        "SPAN_KIND_SERVER 2 -",
    ]
    assert asked(server) == ["/ottl/reference?component=transform&context=log"]


@pytest.mark.parametrize(
    ("line", "shown"), [("ottl reference", ["filter", "transform"]), ("ottl reference transform", ["transform"])]
)
def test_without_a_context_the_components_and_their_contexts_are_listed(line: str, shown: list[str], run: Run) -> None:
    code, out, _ = run(line)

    assert (code, [one.split()[0] for one in lines(out)[1:]]) == (0, shown)


def test_an_answer_that_is_not_a_reference_is_told(run: Run, server: Server) -> None:
    server.answering = lambda _: (200, {}, {"components": "none", "items": [{"kind": 5}], "next_cursor": None})

    for command, field in (("ottl reference", "components"), ("component list", "kind")):
        code, _, err = run(command)
        assert (code, f"the field {field} of the server's answer is of another type" in err) == (1, True)
