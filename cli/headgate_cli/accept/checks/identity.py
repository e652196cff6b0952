"""Credentials, and what each may do."""

from __future__ import annotations

from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.model import check
from headgate_cli.ids import is_id

WRITE_CLAIM: Final = "This endpoint requires the 'write' claim"
_NOT_A_MEMBER: Final = "You are not an active member of this organization"
# The shape of an id, and nobody's.
_NOBODYS: Final = "org_00000000000000000000000000"


@check("identity.token", "The token acts as a service account of its organization, a Contributor with write access.")
def token(bench: Bench) -> None:
    identity = expect.entity(bench.write.get("/identity"))
    for field, expected in (("kind", "service_account"), ("role", "contributor"), ("access", "read_write")):
        expect.equal(f"`{field}`", identity.get(field), expected)
    organization = expect.text(identity, "organization_id")
    expect.that(is_id("org", organization), f"{organization!r} is not the id of an organization")


@check("identity.read-only-token", "A token without write access reads.")
def read_only_token(bench: Bench) -> None:
    expect.equal("`access`", expect.entity(bench.read.get("/identity")).get("access"), "read")
    expect.entity(bench.read.get("/configurations?limit=1"))


@check("identity.write-claim", "A token without write access cannot write, and is told why.")
def write_claim(bench: Bench) -> None:
    body = {"name": bench.name("read-only"), "yaml": "a: 1"}
    expect.problem(bench.read.post("/configurations", body), 403, detail=WRITE_CLAIM)


@check("identity.none", "A request without a credential is 401 and is asked for one.")
def none(bench: Bench) -> None:
    answer = bench.anonymous.get("/identity")
    expect.problem(answer, 401, code="unauthenticated")
    expect.equal("WWW-Authenticate", answer.headers.get("WWW-Authenticate"), "Bearer")


@check("identity.made-up", "A token that was never issued is 401.")
def made_up(bench: Bench) -> None:
    headers = {"Authorization": f"Bearer sv_{bench.run_id * 5}abc"}
    expect.problem(bench.anonymous.send("GET", "/identity", headers=headers), 401, code="unauthenticated")


@check("identity.session", "A session acts in the organization that it names, and in no other.")
def session(bench: Bench) -> None:
    identity = expect.entity(bench.admin.get("/identity"))
    expect.equal("`kind`", identity.get("kind"), "user")
    bare = {"Authorization": bench.given.admin["Authorization"]}
    expect.problem(bench.anonymous.send("GET", "/identity", headers=bare), 400)
    foreign = {**bare, "X-Service-Org": _NOBODYS}
    expect.problem(bench.anonymous.send("GET", "/identity", headers=foreign), 403, detail=_NOT_A_MEMBER)
