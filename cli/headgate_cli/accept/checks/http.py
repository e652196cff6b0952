"""Behaviour that all endpoints share: problems, ids of requests, lists, limits of sizes, repeated requests."""

from __future__ import annotations

from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.model import check

_MEGABYTE: Final = 1_048_576


@check("http.request-id", "A request's own X-Request-Id is in the answer and in the problem.")
def request_id(bench: Bench) -> None:
    own = bench.name("id")
    answer = bench.write.send("GET", "/flows/headgate-accept-none", headers={"X-Request-Id": own})
    expect.equal("X-Request-Id", answer.headers.get("X-Request-Id"), own)
    expect.problem(answer, 404)


@check("http.unknown-path", "A path that does not exist is a problem with 404.")
def unknown_path(bench: Bench) -> None:
    expect.problem(bench.write.get("/headgate-accept-none"), 404, code="not_found")


@check("http.methods", "A method that a path does not have is 405 with Allow; HEAD works where GET does.")
def methods(bench: Bench) -> None:
    answer = bench.write.send("DELETE", "/identity")
    expect.problem(answer, 405)
    expect.that("GET" in answer.headers.get("Allow", ""), "Allow does not name GET")
    head = bench.write.send("HEAD", "/identity")
    expect.status(head, 200)
    expect.equal("the body of HEAD", head.content, b"")


@check("http.unknown-field", "A field that the API does not know is 422 with its name, and no type is converted.")
def unknown_field(bench: Bench) -> None:
    name = bench.name("fields")
    for body, field in (
        ({"name": name, "yaml": "a: 1", "colour": "red"}, "colour"),
        ({"name": 5, "yaml": "a: 1"}, "name"),
        ({"name": name}, "yaml"),
    ):
        expect.names_field(expect.problem(bench.write.post("/configurations", body), 422), field)


@check("http.body-limit", "A body over 1 MB is 413.")
def body_limit(bench: Bench) -> None:
    expect.problem(bench.write.post("/validate", {"yaml": "a" * (_MEGABYTE + 1)}), 413)


@check("http.lists", "Lists are read page by page, each entry once; a made-up cursor or limit is 422.")
def lists(bench: Bench) -> None:
    configuration_id = expect.text(bench.configuration("lists", "a: 1"), "id")
    for number in (2, 3):
        expect.entity(bench.write.post(f"/configurations/{configuration_id}/versions", {"yaml": f"a: {number}"}), 201)
    path, numbers = f"/configurations/{configuration_id}/versions?limit=2", list[int]()
    page = expect.entity(bench.write.get(path))
    numbers += [expect.number(version, "n") for version in expect.items(page)]
    rest = expect.entity(bench.write.get(f"{path}&cursor={expect.text(page, 'next_cursor')}"))
    numbers += [expect.number(version, "n") for version in expect.items(rest)]
    expect.equal("the versions on two pages", numbers, [3, 2, 1])
    expect.equal("`next_cursor` of the last page", rest.get("next_cursor"), None)
    for query in ("limit=0", "limit=101", "cursor=headgate-accept"):
        expect.problem(bench.write.get(f"/configurations?{query}"), 422)


@check("http.idempotency", "The same Idempotency-Key creates once; with another body it is 422.")
def idempotency(bench: Bench) -> None:
    headers = {"Idempotency-Key": bench.name("key")}
    body = {"name": bench.name("once"), "yaml": "a: 1"}
    first, second = (bench.write.send("POST", "/configurations", body, headers=headers) for _ in range(2))
    expect.equal("the second `id`", expect.entity(second, 201).get("id"), expect.entity(first, 201).get("id"))
    changed = {**body, "yaml": "a: 2"}
    expect.problem(bench.write.send("POST", "/configurations", changed, headers=headers), 422)
