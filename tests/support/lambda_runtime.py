"""A Lambda function as Lambda runs it: the real runtime client against a Runtime API, on its own path only.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html describes the API.
"""

import json
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

from tests.support.listening import listening

# What Lambda's Python image brings besides the layers.
_RUNTIME_MODULES = ("awslambdaric", "runtime_client", "snapshot_restore_py", "simplejson")


@dataclass
class LambdaFunction:
    """A started function. `init_seconds` is the time from its start until it asked for its first event."""

    process: subprocess.Popen[bytes]
    log: Path
    init_seconds: float
    _events: "queue.Queue[tuple[str, bytes]]"
    _answers: "queue.Queue[tuple[str, bytes]]"
    _count: int = field(default=0)

    def invoke(self, event: Mapping[str, object], timeout: float = 120) -> dict[str, object]:
        """The function's answer to an event. Raises AssertionError with the error when it fails."""
        self._count += 1
        self._events.put((f"request-{self._count}", json.dumps(event).encode()))
        try:
            kind, body = self._answers.get(timeout=timeout)
        except queue.Empty:
            raise AssertionError(
                f"no answer in {timeout} s, exit {self.process.poll()}\n{self.log.read_text()[-4000:]}"
            ) from None
        assert kind == "response", f"{kind}: {body.decode()}\n{self.log.read_text()[-4000:]}"
        answer: dict[str, object] = json.loads(body)
        return answer

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def http_event(
    method: str, path: str, *, token: str | None = None, body: object = None, query: str = ""
) -> dict[str, object]:
    """An event of an HTTP API in payload format 2.0."""
    headers = {"host": "example.execute-api.us-east-1.amazonaws.com", "content-type": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return {
        "version": "2.0",
        "routeKey": f"ANY {path}",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "example",
            "domainName": headers["host"],
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "t"},
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": f"ANY {path}",
            "stage": "$default",
            "time": "20/Nov/2026:19:32:02 +0000",
            "timeEpoch": 1795202022000,
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


@contextmanager
def started(
    handler: str, *, code: Path, layers: list[Path], environment: Mapping[str, str], folder: Path
) -> Iterator[LambdaFunction]:
    """Start a function from its built artefact, with nothing else on its path but the layers' `python` folders.

    `folder` is for the runtime client's modules and the function's log.
    """
    runtime = _runtime_modules(folder / "runtime")
    events: queue.Queue[tuple[str, bytes]] = queue.Queue()
    answers: queue.Queue[tuple[str, bytes]] = queue.Queue()
    asked = threading.Event()
    server = _RuntimeServer(("127.0.0.1", 0), _handler(events, answers, asked))
    path = [code, *(layer / "python" for layer in layers), runtime]
    variables = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": ":".join(str(entry) for entry in path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_address[1]}",
        "AWS_LAMBDA_FUNCTION_NAME": handler.split(".")[0],
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": "log",
        "AWS_LAMBDA_LOG_STREAM_NAME": "log",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.11",
        "LAMBDA_TASK_ROOT": str(code),
        "_HANDLER": handler,
        **environment,
    }
    # Without the tests' own environment: -S leaves out every site-packages folder.
    interpreter = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    log = folder / f"{handler}.log"
    started_at = time.perf_counter()
    with (
        listening(server),
        log.open("wb") as output,
        subprocess.Popen(
            [interpreter, "-S", "-m", "awslambdaric", handler],
            cwd=code,
            env=variables,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            assert asked.wait(60), log.read_text()[-4000:]
            assert process.poll() is None, log.read_text()[-4000:]
            yield LambdaFunction(process, log, time.perf_counter() - started_at, events, answers)
        finally:
            process.kill()


class _RuntimeServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A killed function leaves its connection reset."""


def _handler(
    events: "queue.Queue[tuple[str, bytes]]", answers: "queue.Queue[tuple[str, bytes]]", asked: threading.Event
) -> type[BaseHTTPRequestHandler]:
    class RuntimeApi(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else each answer waits 40 ms for an acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            asked.set()
            request_id, event = events.get()
            self.send_response(200)
            self.send_header("Lambda-Runtime-Aws-Request-Id", request_id)
            self.send_header("Lambda-Runtime-Deadline-Ms", str(int((time.time() + 29) * 1000)))
            arn = "arn:aws:lambda:us-east-1:123456789012:function:f"
            self.send_header("Lambda-Runtime-Invoked-Function-Arn", arn)
            self.send_header("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0")
            # The client dies of an answer without a content type.
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(event)))
            self.end_headers()
            self.wfile.write(event)

        def do_POST(self) -> None:
            body = self._body()
            answers.put((self.path.rpartition("/")[2], body))
            # A failed start never asks for an event.
            asked.set()
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def log_message(self, *_: object) -> None:
            pass

    return RuntimeApi


def _runtime_modules(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name in _RUNTIME_MODULES:
        spec = find_spec(name)
        if spec is None or spec.origin is None or (folder / name).exists():
            continue
        origin = Path(spec.origin)
        if origin.name == "__init__.py":
            shutil.copytree(origin.parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, folder / origin.name)
    return folder
