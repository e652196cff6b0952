"""The login endpoints of a server (RFC 8628 and RFC 6749)."""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate_cli.errors import Unreachable
from headgate_cli.http import Http, Unanswered

_SECONDS = 15.0


class LoginFailed(Exception):
    """The login was denied, timed out or used before, or the server could not be reached: exit status 3."""


class CodeMistyped(Exception):
    """The pasted code fails its checksum, and nothing was sent: a usage error, exit status 2."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """The result of a login: the bearer value, the person's address and the organization it was approved for."""

    access_token: str
    expires_at: str
    email: str
    organization_id: str
    organization_name: str


@dataclass(frozen=True, slots=True)
class LoginRefusal:
    """The refusal of a session: OAuth's error code, and a sentence."""

    error: str
    description: str


@dataclass(frozen=True, slots=True)
class LoginDevice:
    device_code: str
    user_code: str
    page_with_code: str
    seconds: float
    interval: float


class LoginServer:
    """A Headgate server at `base_url`, such as `http://127.0.0.1:8300`."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/").removesuffix("/api/v1/public")
        self._http = Http(f"{self.base_url}/api/v1/app", seconds=_SECONDS)

    def begin(self) -> LoginDevice:
        """Raises LoginFailed."""
        status, answer = self._post("/device_authorization", {})
        if status != 200:
            raise LoginFailed(f"{self.base_url} refused to start a login: {answer.get('detail') or status}")
        return LoginDevice(
            device_code=_text(answer, "device_code"),
            user_code=_text(answer, "user_code"),
            page_with_code=_text(answer, "verification_uri_complete"),
            seconds=_seconds(answer, "expires_in"),
            interval=_seconds(answer, "interval"),
        )

    def redeem(self, grant: Mapping[str, str]) -> LoginSession | LoginRefusal:
        """Ask for the session. Raises LoginFailed if nothing answers there like a Headgate server."""
        status, answer = self._post("/token", grant)
        if status == 200:
            return LoginSession(
                access_token=_text(answer, "access_token"),
                expires_at=_text(answer, "expires_at"),
                email=_text(answer, "email"),
                organization_id=_text(answer, "organization_id"),
                organization_name=_text(answer, "organization_name"),
            )
        if status == 400:
            return LoginRefusal(_text(answer, "error"), str(answer.get("error_description", "")))
        return LoginRefusal("server_error", f"the server answered with status {status}")

    def _post(self, path: str, form: Mapping[str, str]) -> tuple[int, Mapping[str, object]]:
        try:
            answer = self._http.fetch("POST", path, form=form)
        except Unanswered as error:
            raise LoginFailed(f"cannot reach {self.base_url}: {error}. Check the address") from error
        except Unreachable as error:
            raise LoginFailed(error.message) from error
        entity = answer.entity()
        if entity is None:
            raise LoginFailed(f"{self.base_url} does not answer like a Headgate server: check the address")
        return answer.status, entity


def _text(answer: Mapping[str, object], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise LoginFailed(f"the server's answer lacks the field {name}: check the address of the server")
    return value


def _seconds(answer: Mapping[str, object], name: str) -> float:
    """Seconds in the field: at least one, at most an hour."""
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LoginFailed(f"the server's answer lacks the field {name}: check the address of the server")
    # This way NaN becomes 1.0 as well.
    return float(min(value, 3_600.0)) if value >= 1 else 1.0
