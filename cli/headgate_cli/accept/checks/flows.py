"""The gallery of flows."""

from __future__ import annotations

from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.model import check

_FIELDS: Final = ("slug", "name", "summary", "source", "author", "signals", "tags", "collector_version")


@check("flows.gallery", "The gallery lists flows without their YAML, and each is read with it.")
def gallery(bench: Bench) -> None:
    listed = expect.items(expect.entity(bench.write.get("/flows?limit=100")))
    expect.that(bool(listed), "the gallery is empty")
    lacking = [(entry.get("slug"), name) for entry in listed for name in _FIELDS if name not in entry]
    expect.equal("the fields that are missing", lacking, [])
    expect.that(all("yaml" not in entry for entry in listed), "an entry of the list has `yaml`")
    flow = expect.entity(bench.write.get(f"/flows/{expect.text(listed[0], 'slug')}"))
    verdict = expect.entity(bench.write.post("/validate", {"yaml": expect.text(flow, "yaml")}))
    expect.that(verdict.get("valid") is True, f"the first flow is not valid: {expect.shown(verdict.get('errors'))}")


@check("flows.none", "A flow that does not exist is 404.")
def none(bench: Bench) -> None:
    expect.problem(bench.write.get("/flows/headgate-accept-none"), 404, code="flow_not_found")
