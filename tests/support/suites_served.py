"""What a server says of suites, for tests of `headgate test suite`."""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.answering import Answer, Server

CONFIGURATION = "cfg_0123456789abcdefghjkmnpq0r"
YAML = "service: {pipelines: {logs: {}}}"
DETAIL = {"id": CONFIGURATION, "name": "edge", "yaml": YAML, "collector_version": "0.139.0", "latest_version": 3}
DETAIL |= {"published_version": 2, "items": [{"id": CONFIGURATION, "name": "edge"}], "next_cursor": None}
TEST = "sample: one\nrules:\n  - name: loud\n    condition: log.body != nil\n"
RULE: dict[str, Any] = {"name": "loud", "expect": "any", "min": None, "max": None, "condition": "log.body != nil"}
PASSED: dict[str, Any] = {"status": "Success", "validation_results": [RULE | {"passed": True}], "differences": None}
PASSED |= {"records": {"in": {"logs": 2}, "out": {"logs": 1}}, "stderr": "", "seconds": 1.25}
PASSED |= {"reason": "", "field": None, "output": None}
MESSAGE = "0 of 1 log records matched; expected at least 1"
FAILED = PASSED | {"status": "Fail", "validation_results": [RULE | {"passed": False, "message": MESSAGE}]}
ERRORED = PASSED | {"status": "Error", "validation_results": [], "stderr": "headgate: the collector exited\nmore"}
CHANGED = {"signal": "logs", "change": "changed", "left": 0, "right": 0, "name": "GET /cart"}
CHANGED |= {
    "fields": [
        {"path": 'attributes["a"]', "change": "changed", "left": {"stringValue": "x"}, "right": {"stringValue": "y"}},
        {"path": "severity_number", "change": "missing", "left": 9},
    ],
    "fields_left_out": 0,
}
DIFFERENT = {
    "equal": False,
    "signals": {"logs": {"left": 3, "right": 2, "same": 1, "changed": 1, "added": 0, "missing": 1}},
    "differences": [CHANGED, {"signal": "logs", "change": "missing", "name": "GET /healthz"}],
    "left_out": 4,
    "profiles": 0,
}
OUTPUT = '{"resourceLogs":[{"a":1}]}\n{"resourceMetrics":[]}\n'


def serve(server: Server, *results: Mapping[str, Any], status: str = "Success") -> None:
    """Suites end at the second look at them, with these tests; each further suite with the next tests."""
    looks: dict[str, int] = {}

    def answer(asked: str) -> Answer:
        if asked.startswith("POST"):
            looks[f"job_{len(looks)}"] = 0
            return 201, {}, {"id": f"job_{len(looks) - 1}", "status": "Queued"}
        if "/suites/" not in asked:
            return 200, {}, DETAIL
        job = asked.rpartition("/")[2]
        looks[job] += 1
        if looks[job] == 1:
            return 200, {}, {"id": job, "status": "Running", "result": None}
        tests = results[min(int(job[4:]), len(results) - 1)]
        listed = [{"name": name, **result} for name, result in tests.items()]
        result = {"passed": True, "collector_version": "0.139.0", "tests": listed}
        return 200, {}, {"id": job, "status": status, "result": result}

    server.answering = answer


def sent(server: Server) -> list[Any]:
    return [json.loads(body) for line, _, body in server.requests if line.startswith("POST")]
