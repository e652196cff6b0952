"""A browser at the running service, and an Admin who is signed in."""

import json
import re

import httpx

from headgate.foundation import clock
from tests.support.local_service import LocalService

PUBLIC = "/api/v1/public"
APP = "/api/v1/app"


SESSION = "__Host-headgate-session"


YAML = """\
receivers:
  filelog:
    include: [/var/log/app.log]
exporters:
  debug: {}
service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [debug]
"""


class Browser:
    """As much of one as signing in takes: it sends secure cookies to a loopback address, which httpx does not."""

    def __init__(self, service: LocalService) -> None:
        self._http = httpx.Client(base_url=service.base_url, timeout=120)
        self._cookies: dict[str, str] = {}

    def get(self, path: str) -> httpx.Response:
        return self._sent(self._http.get(path, headers=self._headers()))

    def post(self, path: str, **form: str) -> httpx.Response:
        return self._sent(self._http.post(path, data=form, headers=self._headers()))

    def csrf(self, path: str) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]{32})"', self.get(path).text)
        assert found is not None
        return found[1]

    def sign_in(self, email: str, password: str) -> int:
        return self.post("/sign-in", csrf=self.csrf("/sign-in"), email=email, password=password).status_code

    @property
    def session(self) -> str:
        return self._cookies[SESSION]

    def _headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}

    def _sent(self, response: httpx.Response) -> httpx.Response:
        for cookie in response.headers.get_list("set-cookie"):
            name, _, rest = cookie.partition("=")
            self._cookies[name] = rest.partition(";")[0].strip('"')
        return response


def known(service: LocalService) -> tuple[str, str]:
    content = json.loads((service.data / "sign-in.json").read_text())
    return content["email"], content["password"]


Json = dict[str, object]


class Admin:
    """An Admin, signed in, and what they make to change it."""

    def __init__(self, service: LocalService) -> None:
        known = json.loads((service.data / "sign-in.json").read_text())
        browser = Browser(service)
        assert browser.sign_in(known["email"], known["password"]) == 303
        self.email = str(known["email"])
        self.http = httpx.Client(base_url=service.base_url, timeout=120)
        self.http.headers["Authorization"] = f"Bearer {browser.session}"
        session = self.http.get(f"{APP}/session").json()
        self.organization_id = next(one["id"] for one in session["organizations"] if one["name"] == "Local")
        self.http.headers["X-Service-Org"] = self.organization_id

    def made(self, path: str, body: Json) -> str:
        answer = self.http.post(path, json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def configuration(self) -> str:
        return f"configurations/{self.made(f'{PUBLIC}/configurations', {'name': 'c', 'yaml': YAML})}"

    def published(self) -> str:
        at = self.configuration()
        assert self.http.post(f"{PUBLIC}/{at}/versions/1/publish").status_code == 200
        return at

    def fleet(self) -> str:
        label = f"fleet {clock.rfc3339(clock.now())}"
        return f"fleets/{self.made(f'{PUBLIC}/fleets', {'label': label, 'type': 'server-supervisor'})}"

    def group(self) -> str:
        fleet = self.fleet()
        items = self.http.get(f"{PUBLIC}/{fleet}/deployments").json()["items"]
        return f"{fleet}/deployments/{items[0]['id']}"

    def person(self) -> str:
        email = f"{clock.now().timestamp()}@example.com"
        return self.made(f"{APP}/members", {"email": email, "role": "contributor"})

    def account(self) -> str:
        return self.made(f"{APP}/service-accounts", {"name": "ci"})

    def token(self) -> tuple[str, str]:
        account = self.account()
        return account, self.made(f"{APP}/service-accounts/{account}/tokens", {"name": "t"})

    def newest(self) -> Json:
        """The newest record, empty if there is none."""
        items: list[Json] = self.http.get(f"{APP}/changes?limit=1").json()["items"]
        return items[0] if items else {}
