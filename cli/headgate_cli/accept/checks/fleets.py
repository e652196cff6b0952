"""Fleets, deploy groups, install commands, and the link that a host fetches."""

from __future__ import annotations

from urllib.parse import urlsplit

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.model import check


@check("fleets.create", "A fleet is created with an unassigned Default group, its label is unique, no token is shown.")
def create(bench: Bench) -> None:
    answer = bench.write.post("/fleets", {"label": bench.name("fleet"), "type": "server-supervisor"})
    fleet = expect.entity(answer, 201)
    expect.equal("`expires_in`", fleet.get("expires_in"), "never")
    expect.that("token" not in fleet and b"ft_" not in answer.content, "the answer holds a token")
    path = f"/fleets/{expect.text(fleet, 'id')}/deployments"
    (group,) = expect.items(expect.entity(bench.write.get(path)))
    facts = (group.get("name"), group.get("is_default"), group.get("configuration_id"))
    expect.equal("the group", facts, ("Default", True, None))
    again = {"label": bench.name("fleet"), "type": "server-supervisor"}
    expect.problem(bench.write.post("/fleets", again), 409)
    first = expect.items(expect.entity(bench.write.get("/fleets?limit=1")))
    expect.equal("the first of the list", [entry.get("id") for entry in first], [fleet.get("id")])


@check("fleets.groups", "A group takes published versions only, has a name of its own, and null clears it.")
def groups(bench: Bench) -> None:
    path = f"/fleets/{expect.text(bench.fleet('groups'), 'id')}/deployments"
    draft = expect.text(bench.configuration("unpublished"), "id")
    version = {"configuration_id": bench.published("assigned"), "version_number": 1}
    body = {"name": "canary", **version}
    expect.problem(bench.write.post(path, {**body, "configuration_id": draft}), 422)
    expect.problem(bench.write.post(path, {**body, "role": "gateway"}), 422)
    created = expect.entity(bench.write.post(path, body), 201)
    expect.equal("what is assigned", {name: created.get(name) for name in version}, version)
    expect.problem(bench.write.post(path, body), 409)
    group = f"{path}/{expect.text(created, 'id')}"
    cleared = expect.entity(bench.write.patch(group, {"configuration_id": None}))
    expect.equal("`configuration_id` after null", cleared.get("configuration_id"), None)


@check("fleets.kubernetes", "A Kubernetes fleet has roles, and no install command before it has a group.")
def kubernetes(bench: Bench) -> None:
    fleet = expect.text(bench.fleet("kubernetes", "kubernetes-supervisor"), "id")
    expect.problem(bench.write.post(f"/fleets/{fleet}/install", {"platform": "kubernetes"}), 422)
    body = {"name": "gateway", "configuration_id": bench.published("gateway"), "version_number": 1, "role": "gateway"}
    path = f"/fleets/{fleet}/deployments"
    group = expect.entity(bench.write.post(path, body), 201)
    changed = bench.write.patch(f"{path}/{expect.text(group, 'id')}", {"role": "node"})
    expect.problem(changed, 422)
    install = expect.entity(bench.write.post(f"/fleets/{fleet}/install", {"platform": "kubernetes"}))
    connection = install.get("connection")
    expect.that(isinstance(connection, dict) and not connection.get("token"), "the answer holds a token")
    expect.that(bool(install.get("values_url")), "`values_url` is empty")


@check("fleets.install", "An install command has the fleet's token and a link that nobody can change.")
def install(bench: Bench) -> None:
    fleet = expect.text(bench.fleet("install"), "id")
    for platform in ("docker", "linux"):
        install = expect.entity(bench.write.post(f"/fleets/{fleet}/install", {"platform": platform}))
        connection = install.get("connection")
        expect.that(isinstance(connection, dict) and bool(connection.get("token")), f"{platform}: no token")
        link = urlsplit(expect.text(install, "install_url"))
        script = bench.anonymous.send("GET", f"{link.path}?{link.query}", base="")
        expect.status(script, 200)
        forged = bench.anonymous.send("GET", f"{link.path}?{_forged(link.query)}", base="")
        expect.status(forged, 403)
    expect.problem(bench.write.post(f"/fleets/{fleet}/install", {"platform": "kubernetes"}), 422)


def _forged(query: str) -> str:
    """The query with another signature: each value's last letter is another one."""
    return "&".join(f"{pair[:-1]}{'0' if pair[-1:] != '0' else '1'}" for pair in query.split("&"))
