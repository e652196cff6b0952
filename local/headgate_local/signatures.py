"""Checks AWS's signatures, version 4: in a header, in a signed URL, or in the policy of a form.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Final
from urllib.parse import quote, unquote

from botocore.utils import normalize_url_path
from werkzeug.formparser import parse_form_data

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_TIME: Final = "%Y%m%dT%H%M%SZ"
_CLOCKS_DIFFER: Final = timedelta(minutes=15)
_LONGEST_URL_SECONDS: Final = 7 * 86_400
_UNSIGNED: Final = "UNSIGNED-PAYLOAD"
_HEADER: Final = re.compile(
    rf"{_ALGORITHM} Credential=(?P<credential>[^, ]+), ?SignedHeaders=(?P<headers>[^, ]+), ?"
    r"Signature=(?P<signature>[^, ]+)"
)
# The fields of a form that its policy need not name.
_FREE_FIELDS: Final = frozenset({"policy", "x-amz-signature", "file"})


class NotSigned(Exception):
    """The signature is missing, made with another key, of another request, or expired."""


@dataclass(frozen=True, slots=True)
class Key:
    """An access key. Its secret is not shown."""

    id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Key({self.id!r})"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request: path and query as they were sent, headers by their names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


def check(request: SignedRequest, key: Key, at: datetime) -> None:
    """Raises NotSigned unless the request was signed with the key."""
    pairs = (pair.partition("=") for pair in request.query.split("&"))
    parameters = [(name, value) for name, _, value in pairs if name]
    named = {name: unquote(value) for name, value in parameters}
    try:
        if "authorization" in request.headers:
            _check_header(request, parameters, key, at)
        elif "X-Amz-Signature" in named:
            _check_url(request, parameters, named, key, at)
        elif request.headers.get("content-type", "").startswith("multipart/form-data"):
            _check_form(request, key, at)
        else:
            raise NotSigned
    except (KeyError, ValueError, TypeError, binascii.Error) as error:
        raise NotSigned from error


@dataclass(frozen=True, slots=True)
class _Scope:
    """The parts of a credential: a key, and the scope of its signatures."""

    key_id: str
    day: str
    region: str
    service: str

    @classmethod
    def of(cls, credential: str) -> _Scope:
        key_id, day, region, service, end = credential.split("/")
        if end != "aws4_request":
            raise NotSigned
        return cls(key_id, day, region, service)

    def signature(self, key: Key, text: str) -> str:
        if not hmac.compare_digest(self.key_id.encode(), key.id.encode()):
            raise NotSigned
        secret = b"AWS4" + key.secret
        for part in (self.day, self.region, self.service, "aws4_request"):
            secret = hmac.digest(secret, part.encode(), hashlib.sha256)
        return hmac.digest(secret, text.encode(), hashlib.sha256).hex()


def _check_header(request: SignedRequest, parameters: Sequence[tuple[str, str]], key: Key, at: datetime) -> None:
    result = _HEADER.fullmatch(request.headers["authorization"])
    if result is None:
        raise NotSigned
    time = request.headers["x-amz-date"]
    if abs(at - _time(time)) > _CLOCKS_DIFFER:
        raise NotSigned
    digest = hashlib.sha256(request.body).hexdigest()
    # S3's clients send the digest of the body that they signed.
    if request.headers.get("x-amz-content-sha256", digest) != digest:
        raise NotSigned
    _compare(request, parameters, result["headers"], result["credential"], time, digest, result["signature"], key)


def _check_url(
    request: SignedRequest, parameters: Sequence[tuple[str, str]], named: Mapping[str, str], key: Key, at: datetime
) -> None:
    if named["X-Amz-Algorithm"] != _ALGORITHM or len(parameters) != len(named):
        raise NotSigned
    seconds = int(named["X-Amz-Expires"])
    begins = _time(named["X-Amz-Date"])
    if not 0 < seconds <= _LONGEST_URL_SECONDS:
        raise NotSigned
    if not begins - _CLOCKS_DIFFER <= at <= begins + timedelta(seconds=seconds):
        raise NotSigned
    signed = [pair for pair in parameters if pair[0] != "X-Amz-Signature"]
    headers, credential = named["X-Amz-SignedHeaders"], named["X-Amz-Credential"]
    _compare(request, signed, headers, credential, named["X-Amz-Date"], _UNSIGNED, named["X-Amz-Signature"], key)


def _compare(
    request: SignedRequest,
    parameters: Sequence[tuple[str, str]],
    signed_headers: str,
    credential: str,
    time: str,
    digest: str,
    signature: str,
    key: Key,
) -> None:
    scope, names = _Scope.of(credential), signed_headers.split(";")
    of_aws = {name for name in request.headers if name.startswith("x-amz-")}
    if "host" not in names or not of_aws <= set(names) or names != sorted(set(names)) or scope.day != time[:8]:
        raise NotSigned
    # Every service except S3 normalizes the path.
    path = request.path if scope.service == "s3" else quote(normalize_url_path(request.path), safe="/~")
    canonical = "\n".join(
        (
            request.method,
            path,
            "&".join(f"{name}={value}" for name, value in sorted(parameters)),
            *(f"{name}:{' '.join(request.headers[name].split())}" for name in names),
            "",
            signed_headers,
            digest,
        )
    )
    day = f"{scope.day}/{scope.region}/{scope.service}/aws4_request"
    text = "\n".join((_ALGORITHM, time, day, hashlib.sha256(canonical.encode()).hexdigest()))
    if not hmac.compare_digest(scope.signature(key, text).encode(), signature.encode()):
        raise NotSigned


def _check_form(request: SignedRequest, key: Key, at: datetime) -> None:
    """Check a form that a browser posts: its policy is signed, and limits the form's content."""
    # What the policy does not sign could select another operation or service.
    if request.method != "POST" or request.query or any(name.startswith("x-amz-") for name in request.headers):
        raise NotSigned
    environ = {
        "REQUEST_METHOD": "POST",
        "CONTENT_TYPE": request.headers["content-type"],
        "CONTENT_LENGTH": str(len(request.body)),
        "wsgi.input": BytesIO(request.body),
    }
    _, form, files = parse_form_data(environ, stream_factory=lambda *_, **__: BytesIO())
    fields = {name.lower(): value for name, value in form.items()}
    if len(fields) != len(list(form.items(multi=True))) or len(list(files.items(multi=True))) != 1:
        raise NotSigned
    scope = _Scope.of(fields["x-amz-credential"])
    if fields["x-amz-algorithm"] != _ALGORITHM or scope.service != "s3" or scope.day != fields["x-amz-date"][:8]:
        raise NotSigned
    if not hmac.compare_digest(scope.signature(key, fields["policy"]).encode(), fields["x-amz-signature"].encode()):
        raise NotSigned
    policy = json.loads(base64.b64decode(fields["policy"], validate=True))
    if datetime.fromisoformat(policy["expiration"]) <= at:
        raise NotSigned
    size = len(files["file"].read())
    signed = fields | {"bucket": request.path.strip("/")}
    named = [_holds(condition, signed, size) for condition in policy["conditions"]]
    if not all(named) or set(fields) - _FREE_FIELDS - set(named):
        raise NotSigned


def _holds(condition: object, signed: Mapping[str, str], size: int) -> str:
    """The name of the field that the condition is about, if it holds; else nothing."""
    match condition:
        case {**pairs} if len(pairs) == 1:
            ((name, value),) = pairs.items()
            return _if(signed.get(str(name).lower()) == value, str(name))
        case ["eq", str(name), value]:
            return _if(signed.get(name[1:].lower()) == value, name[1:])
        case ["starts-with", str(name), str(value)]:
            return _if(signed.get(name[1:].lower(), "\0").startswith(value), name[1:])
        case ["content-length-range", int(least), int(most)]:
            return _if(least <= size <= most, "file")
    return ""


def _if(holds: bool, name: str) -> str:
    return name.lower() if holds else ""


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
