"""Checks that need the sign-in of an Admin: service accounts, tokens that end, webhooks."""

from __future__ import annotations

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.model import check
from headgate_cli.accept.remains import APPLICATION


@check("admin.revoked", "A deleted token does not authenticate, and neither does one of a deleted service account.")
def revoked(bench: Bench) -> None:
    def asked(method: str, path: str, *statuses: int, **body: object) -> dict[str, object]:
        answer = bench.admin.send(method, path, body or None, base=APPLICATION)
        expect.status(answer, *statuses)
        return dict(answer.entity() or {})

    account = f"/service-accounts/{asked('POST', '/service-accounts', 201, name=bench.name('account'))['id']}"
    try:
        for whole in (False, True):
            issued = asked("POST", f"{account}/tokens", 201, name="accept", write_access=False)
            ended = account if whole else f"{account}/tokens/{issued['id']}"
            caller = bench.caller({"Authorization": f"Bearer {issued['value']}"})
            expect.entity(caller.get("/identity"))
            asked("DELETE", ended, 204)
            expect.problem(caller.get("/identity"), 401, code="unauthenticated")
    finally:
        bench.admin.send("DELETE", account, base=APPLICATION)


@check("admin.webhooks", "A webhook is created with a secret that is shown once, tried, and deleted.")
def webhooks(bench: Bench) -> None:
    # A name that never has an address: nothing leaves the server.
    body = {"name": bench.name("webhook"), "url": "https://headgate-accept.invalid/"}
    created = expect.entity(bench.admin.post("/webhooks", body), 201)
    path = f"/webhooks/{expect.text(created, 'id')}"
    try:
        expect.that(bool(created.get("secret")), "the answer has no secret")
        expect.that("secret" not in expect.entity(bench.admin.get(path)), "the secret is shown again")
        delivery = expect.text(expect.entity(bench.admin.post(f"{path}/test"), 202), "id")

        def attempted() -> object:
            now = expect.entity(bench.admin.get(f"{path}/deliveries/{delivery}"))
            return now.get("attempts") or None

        bench.until(attempted, 120, lambda: "nobody has tried to deliver the test for two minutes")
    finally:
        expect.status(bench.admin.send("DELETE", path), 204)
