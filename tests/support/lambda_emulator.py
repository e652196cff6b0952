"""A function from its built artefact, under AWS's own runtime emulator and a filter of system calls like Lambda's.

The emulator: https://github.com/aws/aws-lambda-runtime-interface-emulator. `like_lambda.py` has the filter.
"""

import json
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
_FILTER = Path(__file__).with_name("like_lambda.py")
_SITE_PACKAGES_OFF = "-S"


class FunctionFailed(AssertionError):
    """The emulator answered with an error of the function."""


@dataclass
class Emulated:
    """A function that is asked over HTTP, one event at a time, as one environment of Lambda is."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def invoke(self, event: Mapping[str, object], seconds: float = 40) -> object:
        """The function's answer. Raises FunctionFailed with the function's error, or if it does not answer."""
        request = urllib.request.Request(self.url, json.dumps(event).encode(), method="POST")
        with self._one_at_a_time:
            try:
                with urllib.request.urlopen(request, timeout=seconds) as response:
                    answer = json.loads(response.read() or b"null")
            except (urllib.error.URLError, TimeoutError) as error:
                raise FunctionFailed(f"{error}\n{self.log_end()}") from error
        if isinstance(answer, dict) and "errorType" in answer:
            raise FunctionFailed(f"{answer}\n{self.log_end()}")
        return answer

    def log_end(self) -> str:
        return self.log.read_text(errors="replace")[-4000:]


@dataclass(frozen=True)
class Runtime:
    """What Lambda brings besides the layers: the interpreter and the runtime client's modules."""

    python: Path
    client: Path


def runtime(python: Path, version: str, folder: Path) -> Runtime:
    """That interpreter with the runtime client of requirements/dev.txt for it, installed into `folder`."""
    names = ("awslambdaric", "simplejson", "snapshot-restore-py")
    locked = (ROOT / "requirements" / "dev.txt").read_text()
    entries = [re.search(rf"^{name}==.*?(?=^\S|\Z)", locked, re.MULTILINE | re.DOTALL) for name in names]
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(re.sub(r" ;[^\\\n]*", "", entry[0]) for entry in entries if entry))
    client = folder / "client"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", version, "--require-hashes", "--target", str(client)]
    subprocess.run([*command, "-r", str(requirements)], check=True, capture_output=True)
    return Runtime(python, client)


@contextmanager
def emulated(
    handler: str,
    *,
    code: Path,
    layers: Sequence[Path],
    environment: Mapping[str, str],
    folder: Path,
    on: Runtime,
    allow: Sequence[str] = (),
) -> Iterator[Emulated]:
    """Start the function; it initializes itself at its first event. `allow` are calls that the filter leaves usable."""
    emulator = subprocess.run(
        [ROOT / "scripts" / "ensure_lambda_emulator"], check=True, capture_output=True, text=True
    ).stdout.strip()
    listening, api = free_port(), free_port()
    variables = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": ":".join(str(entry) for entry in (code, *(layer / "python" for layer in layers), on.client)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_LAMBDA_FUNCTION_NAME": handler.split(".")[0],
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "29",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
        "LAMBDA_TASK_ROOT": str(code),
        "_HANDLER": handler,
        **environment,
    }
    command = [sys.executable, str(_FILTER), *(["--allow", ",".join(allow)] if allow else []), emulator]
    command += ["--runtime-interface-emulator-address", f"127.0.0.1:{listening}"]
    command += ["--runtime-api-address", f"127.0.0.1:{api}", "--log-level", "warn"]
    command += [str(on.python), _SITE_PACKAGES_OFF, "-m", "awslambdaric", handler]
    log = folder / f"{handler}.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, cwd=code, env=variables, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            url = f"http://127.0.0.1:{listening}/2015-03-31/functions/function/invocations"
            _wait_until_listening(listening, process, log)
            yield Emulated(url, log, process)
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_listening(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    import socket

    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.05)
        else:
            return
