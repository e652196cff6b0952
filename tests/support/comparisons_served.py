"""What a server says of comparisons, for tests of `headgate test diff`."""

import json
import subprocess
from typing import Any

from tests.support.answering import Answer, Server

YAML = "service: {pipelines: {logs: {}}}\n"
TEST = "sample: a line\nrules: [{name: r, condition: log.body != nil}]\nduration_seconds: 2\n"
JOB = "job_0123456789abcdefghjkmnpq0r"
COUNTS = {"left": 2, "right": 2, "same": 1, "changed": 1, "added": 0, "missing": 0}
EQUAL_COUNTS = {**COUNTS, "same": 2, "changed": 0}
FIELD = {"path": "body", "change": "changed", "left": {"stringValue": "a"}, "right": {"stringValue": "b"}}
RECORD = {"signal": "logs", "change": "changed", "left": 0, "right": 0, "name": "a", "fields": [FIELD]}
RECORD |= {"fields_left_out": 0}
SIDE = {"collector_version": "0.139.0", "configuration_id": None, "version_number": None}
RAN = {"status": "ran", "reason": "", "line": None, "records_in": 2, "stderr": "", "seconds": 0.1}


def compared(status: str = "equal", **changes: object) -> dict[str, Any]:
    """What the server says of one test."""
    found = {"equal": True, "signals": {"logs": EQUAL_COUNTS}, "differences": [], "left_out": 0, "profiles": 0}
    if status == "differs":
        found = {"equal": False, "signals": {"logs": COUNTS}, "differences": [RECORD], "left_out": 0, "profiles": 0}
    test = {"name": "one", "target_pipeline": "logs", "signal_type": "logs", "status": status, "reason": ""}
    return {**test, "left": RAN, "right": RAN, "differences": found, **changes}


def result(*tests: dict[str, Any], **changes: object) -> dict[str, Any]:
    return {"left": SIDE, "right": SIDE, "tests": list(tests), "starts": None, **changes}


def answers(server: Server, found: dict[str, Any] | None, reason: str = "") -> None:
    status = "Done" if found else "Error"

    def answer(asked: str) -> Answer:
        if asked.startswith("POST"):
            return 201, {}, {"id": JOB, "status": "Queued"}
        return 200, {}, {"id": JOB, "status": status, "reason": reason, "result": found}

    server.answering = answer


def sent(server: Server) -> list[dict[str, Any]]:
    return [json.loads(body) for asked, _, body in server.requests if asked.startswith("POST")]


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()
