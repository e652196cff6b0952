"""Parts of the API's description that all operations share: sections, servers, credentials, headers and problems."""

from collections.abc import Mapping
from typing import Final

from headgate.configurations.model import ConfigurationNotFound, VersionChanged, VersionIsPublished
from headgate.foundation import errors
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import id_pattern
from headgate.http.credentials import ORGANIZATION_HEADER
from headgate.identity.model import NotAuthenticated, OrganizationHeaderRequired, WriteAccessRequired
from scripts.openapi_fields import Json

DESCRIPTION: Final = """\
A control plane for OpenTelemetry Collector configuration.

Every request carries `Authorization: Bearer <token>`; a session also names its organization in `X-Service-Org`.
Errors are RFC 9457 problems with a stable `code`. Times are RFC 3339 in UTC with milliseconds.
API Gateway answers 431 with `{"message": …}` to a request line and headers of over 10,240 bytes.
`x-audit-actions` names the action that a change has in the organization's record of changes.
`x-extension` marks what is beyond the specification.
"""
SERVERS: Final[Json] = [
    {
        "url": "https://{host}",
        "description": "Your deployment",
        "variables": {"host": {"default": "headgate.example.com", "description": "Where your organization runs it"}},
    },
    {"url": "http://127.0.0.1:8300", "description": "The local service, which `make dev` starts"},
]
TAGS: Final = {
    "Identity": "Whom a credential acts as.",
    "Configurations": "Collector configurations and their numbered versions: drafts, which change, and published "
    "versions, which do not.",
    "Validation and linting": "The verdict of the real collector, and of the real OTTL grammar.",
    "Policies": "What the organization demands of its configurations beyond validity.",
    "Validation rules": "The rules that are saved with a version, by pipeline.",
    "Tests of a version": "Named tests that are saved with a version.",
    "Pipeline tests": "Sample telemetry through the real collector: runs, suites, comparisons and coverage.",
    "Fleets": "Fleets of collectors, their deployment groups, hosts and rollouts, and how to install them.",
    "Webhooks": "Where events are sent. Only Admins' sessions change them.",
    "Components": "What the collector can be configured with, as the collector itself tells it.",
    "Flows": "The gallery of configurations that are ready to use.",
    "Overview": "What needs somebody now, gathered from everything else.",
}
SECURITY_SCHEMES: Final[dict[str, Json]] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "sv_…",
        "description": "An API token of a service account. It belongs to one organization, and may read, or read and "
        "write; `read` and `write` beside an operation say which it needs.",
    },
    "session": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "ss_…",
        "description": "A person's session, from `headgate login`; the header `X-Service-Org` names the organization. "
        "`admin` beside an operation means that it needs this role.",
    },
}
CREDENTIALS: Final[dict[str, list[Json]]] = {
    "read": [{"token": ["read"]}, {"session": []}],
    "write": [{"token": ["write"]}, {"session": []}],
    "session": [{"session": []}],
    "admin": [{"session": ["admin"]}],
}
"""Credentials that fulfil the need of a route, by the name of its scheme in headgate.http.credentials."""

_RATE_LIMIT: Final = {
    "RateLimit-Limit": ("Requests a minute", 60),
    "RateLimit-Remaining": ("Requests left in this minute", 59),
    "RateLimit-Reset": ("Seconds until the next minute", 28),
}
# Each is described once, and named by the responses that have it.
HEADERS: Final[dict[str, Json]] = {
    "X-Request-Id": {
        "description": "The request's id, also in the log",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"},
        "example": "req-7d0f2c",
    },
    "Retry-After": {
        "description": "Seconds to wait",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "example": 2,
    },
    "Location": {
        "description": "Where it is now",
        "required": True,
        "schema": {"type": "string"},
        "example": "/api/v1/public/configurations/cfg_01kajb9fz4efkrjvb2x7q8v5w3",
    },
    **{
        f"{name}{suffix}": {
            "description": description,
            "required": not suffix,
            "schema": {"type": "integer", "minimum": 0},
            "example": example,
        }
        for name, (description, example) in _RATE_LIMIT.items()
        for suffix in ("", "-IfKnown")
    },
}
RATE_LIMIT: Final = tuple(_RATE_LIMIT)
IDEMPOTENCY_KEY: Final[dict[str, Json]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body gives the first answer again, for 24 hours",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    "example": "build-1842",
}
ORGANIZATION: Final[dict[str, Json]] = {
    "name": ORGANIZATION_HEADER,
    "in": "header",
    "required": False,
    "description": "With a session: the id of the organization that the request acts as; without it, or with anything "
    "else in it, a session gets 400. With a token it is not looked at: a token belongs to one organization",
    "schema": {"type": "string", "pattern": id_pattern("org")},
    "example": "org_01kajb9fz4efkrjvb2x7q8v5w3",
}
PARAMETERS: Final = {"IdempotencyKey": IDEMPOTENCY_KEY, "Organization": ORGANIZATION}
PROBLEMS: Final[Mapping[str, tuple[str, HeadgateError]]] = {
    "400": (
        "The request does not say as which organization a session acts: send `X-Service-Org`",
        OrganizationHeaderRequired(),
    ),
    "401": (
        "The credential is missing, unknown, expired or deleted: sign in again, or use another token",
        NotAuthenticated(),
    ),
    "403": (
        "The credential may not do this: it can only read, or has another role, or a limit is reached",
        WriteAccessRequired(),
    ),
    "404": ("Nothing has this id, or the caller may not see it", ConfigurationNotFound()),
    "409": ("What is stored stands against it; `code` says what", VersionIsPublished(3)),
    "410": ("It was there, and is gone for good", errors.Gone("The link has expired; ask for another one")),
    "412": ("It changed since the client read it: read it again, and decide again", VersionChanged('"7f3a"')),
    "413": ("The request body is over 1 MB", errors.TooLarge("The request body is over 1 MB (1,048,576 bytes)")),
    "422": (
        "Something in the request is wrong; `errors` names each place and the way out",
        errors.Invalid(
            "body.name: this field is required", [errors.FieldError(("body", "name"), "This field is required")]
        ),
    ),
    "429": (
        "The requests of this minute are used up: wait for `Retry-After`",
        errors.TooManyRequests("Over the limit of 60 requests a minute", retry_after=28),
    ),
    "502": (
        "The fleet service cannot be reached; nothing was changed",
        errors.BadGateway("The fleet service cannot be reached"),
    ),
    "503": (
        "A part of the service does not answer: try again after `Retry-After`. It is not a verdict on what was sent",
        errors.Unavailable("A part of the service did not answer; try again shortly"),
    ),
}
"""By status: when it is answered, and an error that is."""
