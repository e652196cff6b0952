"""Configurations and their versions, alone and under concurrency."""

from __future__ import annotations

from functools import partial
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import EDGE, Bench
from headgate_cli.accept.model import check
from headgate_cli.responses import HttpAnswer

_AT_ONCE: Final = 8
_WRITERS: Final = 4
# Text that a store might change: no end of line, tabs, CRLF, letters beyond ASCII.
_BYTES: Final = "# größe\r\na:\t1   # 東京 \U0001f680\n\n\n# end"


def _publish(bench: Bench, path: str) -> HttpAnswer:
    return bench.write.post(f"{path}/publish")


def _edit(bench: Bench, path: str, etag: str, number: int) -> HttpAnswer:
    return bench.write.send("PATCH", path, {"yaml": f"a: {number}"}, headers={"If-Match": etag})


@check("configurations.create", "A create is 201 with Location; version 1 is a draft, its text kept byte for byte.")
def create(bench: Bench) -> None:
    answer = bench.write.post("/configurations", {"name": bench.name("bytes"), "yaml": _BYTES})
    created = expect.entity(answer, 201)
    path = f"/configurations/{expect.text(created, 'id')}"
    expect.that(answer.headers.get("Location", "").endswith(path), "Location is not the path of the configuration")
    version = expect.entity(bench.write.get(f"{path}/versions/1"))
    expect.equal("`status`", version.get("status"), "draft")
    expect.equal("`yaml`", version.get("yaml"), _BYTES)
    expect.equal("`yaml` of the configuration", expect.entity(bench.write.get(path)).get("yaml"), _BYTES)


@check("configurations.list", "The list begins with what was changed last, and names its newest version.")
def listed(bench: Bench) -> None:
    first, second = (expect.text(bench.configuration(name, "a: 1"), "id") for name in ("older", "newer"))
    expect.entity(bench.write.patch(f"/configurations/{first}", {"description": "Changed last"}))
    ids = [entry.get("id") for entry in expect.items(expect.entity(bench.write.get("/configurations?limit=100")))]
    expect.that(first in ids and second in ids, "the list lacks a new configuration")
    expect.that(ids.index(first) < ids.index(second), "what was changed last is not first")


@check("configurations.distribution", "Only otelcol-contrib is accepted, and the message names what was sent.")
def distribution(bench: Bench) -> None:
    body = {"name": bench.name("other"), "yaml": "a: 1", "collector_distribution": "otelcol-core"}
    detail = "Unknown collector distribution: 'otelcol-core'"
    expect.problem(bench.write.post("/configurations", body), 422, detail=detail)


@check("versions.append", "A further version gets the next number and inherits the collector version.")
def append(bench: Bench) -> None:
    created = bench.configuration("append", "a: 1")
    path = f"/configurations/{expect.text(created, 'id')}/versions"
    version = expect.entity(bench.write.post(path, {"yaml": "a: 2", "description": "Second"}), 201)
    expect.equal("`n`", version.get("n"), 2)
    expect.equal("`collector_version`", version.get("collector_version"), created.get("collector_version"))
    expect.equal("`description`", version.get("description"), "Second")


@check("versions.published", "A published version never changes, and publishing it again gives the same result.")
def published(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('published', 'a: 1'), 'id')}/versions/1"
    first, second = (expect.entity(_publish(bench, path)) for _ in range(2))
    expect.equal("`status`", first.get("status"), "published")
    expect.equal("the second answer", second, first)
    expect.problem(bench.write.patch(path, {"yaml": "a: 2"}), 409, code="version_published")
    expect.equal("`yaml`", expect.entity(bench.write.get(path)).get("yaml"), "a: 1")


@check("versions.validated-edit", "An edit with validate=true and invalid text is 422, and nothing is saved.")
def validated_edit(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('edit'), 'id')}/versions/1"
    broken = EDGE.replace("exporters: [debug]", "exporters: [nothing]")
    expect.problem(bench.write.patch(f"{path}?validate=true", {"yaml": broken}), 422, code="yaml_invalid")
    expect.equal("`yaml` after it", expect.entity(bench.write.get(path)).get("yaml"), EDGE)
    later = f"{EDGE}# later\n"
    expect.entity(bench.write.patch(f"{path}?validate=true", {"yaml": later}))
    expect.equal("`yaml` of a valid edit", expect.entity(bench.write.get(path)).get("yaml"), later)


@check("versions.numbers", "Versions that are saved at once get numbers without gaps and repeats.")
def numbers(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('numbers', 'a: 1'), 'id')}/versions"
    answers = bench.at_once([partial(bench.write.post, path, {"yaml": f"a: {number}"}) for number in range(_AT_ONCE)])
    appended = sorted(expect.number(expect.entity(answer, 201), "n") for answer in answers)
    expect.equal("the numbers of versions saved at once", appended, list(range(2, _AT_ONCE + 2)))
    listed = [version.get("n") for version in expect.items(expect.entity(bench.write.get(path)))]
    expect.equal("the numbers in the list", listed, list(range(_AT_ONCE + 1, 0, -1)))


@check("versions.conditional", "Of several edits at once with the same If-Match one succeeds, the others are 412.")
def conditional(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('conditional', 'a: 0'), 'id')}/versions/1"
    etag = bench.write.get(path).headers.get("ETag", "")
    expect.that(bool(etag), "the version has no ETag")
    answers = bench.at_once([partial(_edit, bench, path, etag, number) for number in range(1, _WRITERS + 1)])
    done = [number for number, answer in enumerate(answers, start=1) if answer.status == 200]
    expect.equal("the statuses", sorted(answer.status for answer in answers), [200, *[412] * (_WRITERS - 1)])
    expect.equal("`yaml`", expect.entity(bench.write.get(path)).get("yaml"), f"a: {done[0]}")


@check("versions.publish-race", "A version that several publish at once is published once.")
def publish_race(bench: Bench) -> None:
    path = f"/configurations/{expect.text(bench.configuration('race', 'a: 1'), 'id')}/versions/1"
    answers = bench.at_once([partial(_publish, bench, path) for _ in range(_WRITERS)])
    times = {expect.text(expect.entity(answer), "published_at") for answer in answers}
    expect.that(len(times) == 1, f"the answers have {len(times)} times of publishing, not one")
