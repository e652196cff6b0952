"""The command line as people run it: a process, a folder, a home, and sometimes a terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
import pexpect

from tests.support import cli_forked
from tests.support.cli_json import require_described
from tests.support.local_service import LocalService
from tests.support.service import ROOT

EDGE = """\
receivers:
  filelog:
    include: [/var/log/app.log]
processors:
  batch:
    timeout: 5s
  transform:
    log_statements:
      - set(log.attributes["team"], "edge")
exporters:
  debug: {}
service:
  pipelines:
    logs:
      receivers: [filelog]
      processors: [transform, batch]
      exporters: [debug]
"""
BROKEN = EDGE.replace("5s", "5 parsecs")
# How long a command may take.
SECONDS = 180


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, object]]:
        found = json.loads(self.out)
        return found if isinstance(found, list) else [found]


@dataclass(frozen=True)
class Cli:
    """A person's shell: files in `folder`, a home of their own, and a token of one organization."""

    folder: Path
    url: str
    token: str

    def run(self, *arguments: str, given: bytes = b"", **environment: str) -> Done:
        """The command in a pipe."""
        if any(name.startswith(("PYTHON", "LC_", "LANG")) for name in environment):
            # These are read when an interpreter starts.
            return self._done([sys.executable, "-m", "headgate_cli.main", *arguments], given, environment)
        variables = self.environment(environment)
        done = _done(cli_forked.run(arguments, self.folder, variables, given, SECONDS))
        if done.code == 0:
            require_described(arguments, done.out)
        return done

    def ok(self, *arguments: str, given: bytes = b"", **environment: str) -> str:
        """What the command prints. Fails unless it ends with 0."""
        done = self.run(*arguments, given=given, **environment)
        assert done.code == 0, done
        return done.out

    def shell(self, line: str, **environment: str) -> Done:
        """A line as people type it."""
        return self._done(["bash", "-euo", "pipefail", "-c", line], b"", environment)

    def terminal(self, *arguments: str, columns: int = 120, **environment: str) -> "pexpect.spawn[str]":
        """The command in a terminal."""
        return self.spawn(sys.executable, ["-m", "headgate_cli.main", *arguments], columns, environment)

    def spawn(
        self, program: str, arguments: list[str], columns: int, environment: dict[str, str]
    ) -> "pexpect.spawn[str]":
        """A program in a terminal, where Ctrl-C works also if these tests run in the background of a shell."""
        return pexpect.spawn(
            program,
            arguments,
            cwd=str(self.folder),
            env=self.environment(environment),
            encoding="utf-8",
            timeout=300,
            dimensions=(40, columns),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def write(self, name: str, text: str) -> Path:
        """A file in the folder, byte for byte."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def api(self) -> httpx.Client:
        """What the server holds, past the command line."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1/public", headers=headers, timeout=120)

    def versions(self, configuration_id: str) -> list[str]:
        """The texts of a configuration's versions, oldest first."""
        with self.api() as api:
            found = api.get(f"/configurations/{configuration_id}/versions").json()["items"]
            path = f"/configurations/{configuration_id}/versions"
            return [api.get(f"{path}/{one['n']}").json()["yaml"] for one in reversed(found)]

    def _done(self, command: list[str], given: bytes, environment: dict[str, str]) -> Done:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(environment),
            input=given,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
        return _done(done)

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        """The variables of the shell, `more` beside them."""
        home = self.folder.parent / "home"
        command = home / "bin" / "headgate"
        if not command.exists():
            command.parent.mkdir(parents=True, exist_ok=True)
            command.write_text(f'#!/bin/sh\nexec {sys.executable} -m headgate_cli.main "$@"\n')
            command.chmod(0o755)
        return {
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "HEADGATE_URL": self.url,
            "SERVICE_API_TOKEN": self.token,
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            **more,
        }


def _done(process: "subprocess.CompletedProcess[bytes]") -> Done:
    return Done(process.returncode, process.stdout.decode(), process.stderr.decode())


def until_end(child: "pexpect.spawn[str]") -> tuple[int, str]:
    """The exit code, and what was printed since it was last looked at."""
    child.expect(pexpect.EOF)
    said = str(child.before)
    child.close()
    assert child.exitstatus is not None, f"ended by signal {child.signalstatus}"
    return child.exitstatus, said


def pushed(cli: Cli, text: str = EDGE, name: str = "edge.yaml") -> str:
    """The id of the configuration that the file became."""
    cli.write(name, text)
    (one,) = json.loads(cli.ok("config", "push", name, "--json"))
    return str(one["configuration_id"])


class Founder:
    """Founds organizations, each with a service account of its own."""

    def __init__(self, service: LocalService) -> None:
        self._service = service
        self._http = httpx.Client(base_url=f"{service.base_url}/api/v1/app", timeout=120)
        tokens = json.loads((service.data / "tokens.json").read_text())
        self._home = tokens["organization_id"]
        self._headers: dict[str, str] = {}
        self._sign_in()

    def _sign_in(self) -> None:
        service = self._service
        known = json.loads((service.data / "sign-in.json").read_text())
        with httpx.Client(base_url=service.base_url, timeout=120) as http:
            page = http.get("/sign-in")
            csrf = re.search(r'name="csrf" value="([0-9a-f]{32})"', page.text)
            assert csrf is not None
            form = {"csrf": csrf[1], "email": known["email"], "password": known["password"]}
            signed_in = http.post("/sign-in", data=form, headers={"Cookie": _cookies(page)})
            session = re.search(r"__Host-headgate-session=\"?(ss_[^;\"]+)", _cookies(signed_in))
        assert session is not None
        self._headers = {"Authorization": f"Bearer {session[1]}"}

    def token(self, name: str) -> str:
        """A read-write token of a new organization."""
        return self._token(self._post("/organizations", self._home, name=name)["id"])

    def admin(self, name: str) -> tuple[str, httpx.Client]:
        """A read-write token of a new organization, and the public API to its Admin's session."""
        self._sign_in()
        organization = self._post("/organizations", self._home, name=name)["id"]
        headers = {**self._headers, "X-Service-Org": organization}
        public = str(self._http.base_url).replace("/api/v1/app/", "/api/v1/public")
        return self._token(organization), httpx.Client(base_url=public, headers=headers, timeout=120)

    def _token(self, organization: str) -> str:
        account = self._post("/service-accounts", organization, name="shell")["id"]
        return self._post(f"/service-accounts/{account}/tokens", organization, name="shell", write_access=True)["value"]

    def _post(self, path: str, organization: str, **body: object) -> dict[str, str]:
        response = self._http.post(path, json=body, headers={**self._headers, "X-Service-Org": organization})
        if response.status_code == 401:
            # A person has ten sessions, and other tests sign in as the same one.
            self._sign_in()
            response = self._http.post(path, json=body, headers={**self._headers, "X-Service-Org": organization})
        assert response.status_code == 201, response.text
        found: dict[str, str] = response.json()
        return found


def _cookies(response: httpx.Response) -> str:
    return "; ".join(cookie.partition(";")[0] for cookie in response.headers.get_list("set-cookie"))
