"""Deployments that break a promise each, and which checks of `headgate accept` find it."""

from itertools import count
from typing import Final

from tests.support.altering_proxy import Answered, Fault, answers, drops, says

_PUBLIC: Final = "/api/v1/public"
_COUNTED: Final = count()


def _another_time(answered: Answered) -> None:
    answered.content = answered.content.replace(b'"published_at":"2', f'"published_at":"{next(_COUNTED)}'.encode())


FAULTS: Final = (
    Fault(
        "a token says that it reads only",
        "identity",
        "identity.token",
        f"GET {_PUBLIC}/identity",
        says("read_write", "read"),
    ),
    Fault(
        "a reading token may write, it says",
        "identity",
        "identity.read-only-token",
        f"GET {_PUBLIC}/identity",
        says('"read"', '"read_write"'),
    ),
    Fault("a made-up token is 403", "identity", "identity.none identity.made-up", alter=answers(401, 403)),
    Fault("the challenge is missing", "identity", "identity.none", alter=drops("WWW-Authenticate")),
    Fault(
        "a refusal to write has other words", "identity", "identity.write-claim", alter=says("'write' claim", "right")
    ),
    Fault("a session without an organization is let in", "identity", "identity.session", alter=answers(400, 200)),
    Fault(
        "every text is valid",
        "verdicts",
        "verdicts.invalid verdicts.batch",
        alter=says('"valid":false', '"valid":true'),
    ),
    Fault(
        "no text is valid",
        "verdicts",
        "verdicts.valid verdicts.versions verdicts.batch verdicts.variables",
        alter=says('"valid":true', '"valid":false'),
    ),
    Fault("no walls are named", "verdicts", "verdicts.walls", alter=says('"confined_by":', '"held_by":')),
    Fault("findings have no lines", "verdicts", "verdicts.invalid", alter=says('"line":', '"row":')),
    Fault("variables are not named", "verdicts", "verdicts.variables", alter=says("ACCEPTED_ADDRESS", "")),
    Fault("a file is not refused", "verdicts", "verdicts.nothing-read", alter=says("provider_not_allowed", "other")),
    Fault("an unknown collector is an outage", "verdicts", "verdicts.not-installed", alter=answers(422, 503)),
    Fault(
        "no collector is the default",
        "verdicts",
        "verdicts.versions verdicts.walls",
        alter=says('"default":true', '"default":false'),
    ),
    Fault("every expression is right", "lint", "lint.text lint.context", alter=says('"valid":false', '"valid":true')),
    Fault("expressions are not counted", "lint", "lint.text lint.limit", alter=says('"checked":', '"seen":')),
    Fault("rules are not marked", "rules", "rules.saved", alter=says('"api_owned":true', '"api_owned":false')),
    Fault("wrong rules are saved", "rules", "rules.refused", f"PUT {_PUBLIC}", answers(422, 200)),
    Fault("a run is said to fail", "runs.passes", "runs.passes", alter=says('"status":"Success"', '"status":"Fail"')),
    Fault(
        "a failing run is said to pass", "runs.fails", "runs.fails", alter=says('"status":"Fail"', '"status":"Success"')
    ),
    Fault("a refusal says nothing", "runs.refused", "runs.refused", alter=says("The test was never executed", "No")),
    Fault("any run is started", "runs.unknown-pipeline", "runs.unknown-pipeline", alter=answers(422, 202)),
    Fault("a wrong field is not named", "runs.bounds", "runs.bounds", alter=says('"loc"', '"at"')),
    Fault("a text is normalized", "configurations", "configurations.create", alter=says("\\r\\n", "\\n")),
    Fault("a create does not say where", "configurations.create", "configurations.create", alter=drops("Location")),
    Fault("the list is empty", "configurations", "configurations.list", alter=says('"items":[', '"items":[],"x":[')),
    Fault(
        "the message names nothing", "configurations", "configurations.distribution", alter=says("otelcol-core", "that")
    ),
    Fault(
        "two versions have one number",
        "versions",
        "versions.numbers",
        f"POST {_PUBLIC}",
        says('"n":3', '"n":2'),
    ),
    Fault("edits are not conditional", "versions.conditional", "versions.conditional", loses=("if-match",)),
    Fault(
        "a version is published more than once",
        "versions",
        "versions.published versions.publish-race",
        alter=_another_time,
    ),
    Fault("a published version is edited", "versions", "versions.published", alter=answers(409, 200)),
    Fault("a wrong edit is saved", "versions", "versions.validated-edit", f"PATCH {_PUBLIC}", answers(422, 200)),
    Fault("the gallery is empty", "flows", "flows.gallery", alter=says('"items":[', '"items":[],"x":[')),
    Fault("storage hides what is missing", "flows", "flows.none", alter=answers(404, 403)),
    Fault(
        "a fleet shows its token",
        "fleets",
        "fleets.create",
        f"POST {_PUBLIC}/fleets",
        says('"label"', '"token":"x","label"'),
    ),
    Fault("a name is taken twice", "fleets", "fleets.create fleets.groups", alter=answers(409, 201)),
    Fault("a role may change", "fleets.kubernetes", "fleets.kubernetes", f"PATCH {_PUBLIC}", answers(422, 200)),
    Fault("links are not signed", "fleets.install", "fleets.install", alter=answers(403, 200)),
    Fault("requests have no ids", "http.request-id", "http.request-id", alter=drops("X-Request-Id")),
    Fault("a page stands in for what is missing", "http", "http.unknown-path http.request-id", alter=answers(404, 200)),
    Fault("Allow is missing", "http", "http.methods", alter=drops("Allow")),
    Fault("a wrong field is not named", "http", "http.unknown-field", alter=says('"loc"', '"at"')),
    Fault("a large body is an outage", "http", "http.body-limit", alter=answers(413, 502)),
    Fault("a list ends early", "http", "http.lists", alter=says('"next_cursor":"', '"next_cursor":null,"x":"')),
    Fault("keys are not looked at", "http", "http.idempotency", loses=("idempotency-key",)),
    Fault("another server answers", "cli", "cli.exit-codes", alter=answers(401, 200)),
    Fault(
        "the description lacks an endpoint",
        "endpoints.described",
        "endpoints.described",
        alter=says("/public/policies", "/public/x"),
    ),
    Fault(
        "an endpoint is missing", "endpoints.answers", "endpoints.answers", f"GET {_PUBLIC}/overview", answers(200, 404)
    ),
    Fault(
        "an endpoint is open",
        "endpoints.credential",
        "endpoints.credential",
        f"GET {_PUBLIC}/overview",
        answers(401, 200),
    ),
    Fault(
        "a reading token writes",
        "endpoints.read-only",
        "endpoints.read-only",
        f"POST {_PUBLIC}/testing/suites",
        answers(403, 201),
    ),
    Fault(
        "a token acts as an Admin", "endpoints.people", "endpoints.people", f"GET {_PUBLIC}/webhooks", answers(403, 200)
    ),
    Fault("an Admin is not let in", "endpoints.admin", "endpoints.admin", f"GET {_PUBLIC}/webhooks", answers(200, 403)),
    Fault("a deleted token is let in", "admin", "admin.revoked", f"GET {_PUBLIC}/identity", answers(401, 200)),
    Fault(
        "a secret is shown again",
        "admin.webhooks",
        "admin.webhooks",
        f"GET {_PUBLIC}/webhooks",
        says('"name"', '"secret":"x","name"'),
    ),
    Fault("the limit is not told", "limits", "limits.headers limits.rate", alter=drops("RateLimit-Limit")),
    Fault("requests are not counted", "limits.headers", "limits.headers", alter=drops("RateLimit-Remaining")),
)
