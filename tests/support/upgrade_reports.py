"""Reports of upgrade checks, and a server that answers with them."""

import json
from collections.abc import Callable
from typing import Any, Protocol

from tests.support.answering import Answer, Server

ID = "0123456789abcdefghjkmnpq0r"
CONFIGURATION, FLEET, GROUP = f"cfg_{ID}", f"flt_{ID}", f"dep_{ID}"
TO = "--to 0.158.0"
TEXT = "# tail\nreceivers:\n  tail: {}\r\n  tail/b: {file: tail.log}\nservice: [tail, tail/b]"
FIXED = "# tail\nreceivers:\n  tail_file: {}\r\n  tail_file/b: {file: tail.log}\nservice: [tail_file, tail_file/b]"
PLACE = {"component_path": "receivers::tail", "line": 3, "column": 3}
FINDING = {"message": "no such file", "code": "invalid_value", "component_path": "receivers::tail::file"} | {
    "line": 4,
    "column": 12,
}
REFERENCE = {"from": "tail", "to": "tail_file", "component_path": "service::pipelines::logs"}
RENAMES = [
    PLACE | {"from": "tail", "to": "tail_file"},
    REFERENCE | {"line": 4, "column": 3, "component_path": "receivers::tail/b"},
    REFERENCE | {"line": 5, "column": 11},
    REFERENCE | {"line": 5, "column": 17},
]
CLEAN: dict[str, Any] = {
    "from": "0.139.0",
    "to": "0.158.0",
    "verdict": {side: {"valid": True, "errors": [], "warnings": []} for side in ("from", "to")},
    "new_errors": [],
    "new_warnings": [],
    "renames": [],
    "not_renamed": [],
    "deprecations": [],
    "feature_gates": [],
    "defaults": [],
    "not_checked": [],
    "incomplete": False,
    "outputs": None,
    "proposed_yaml": None,
}
RENAMED = CLEAN | {"renames": RENAMES, "proposed_yaml": FIXED}
DETAIL = {
    "id": CONFIGURATION,
    "name": "shop",
    "yaml": TEXT,
    "collector_version": "0.120.0",
    "latest_version": 3,
    "published_version": 2,
}
VERSION = {"n": 3, "yaml": TEXT, "collector_version": "0.139.0", "status": "draft"}


def verdict(valid: bool | None, *errors: Any) -> dict[str, Any]:
    return {"verdict": {"from": {}, "to": {"valid": valid, "errors": list(errors), "warnings": []}}}


BREAKS = CLEAN | verdict(False, FINDING) | {"new_errors": [FINDING]}
REFUSED_BEFORE = CLEAN | {
    "verdict": {"from": {"valid": False, "errors": [FINDING]}, "to": {"valid": True, "errors": [], "warnings": []}}
}
INVALID = CLEAN | verdict(False, FINDING)
LACKING = PLACE | {"kind": "receiver", "type": "tail", "version": "0.158.0"}
NOT_CHECKED = CLEAN | verdict(None) | {"not_checked": [LACKING]}
NOT_COMPARED = CLEAN | {"not_checked": [LACKING | {"version": "0.139.0"}]}


class Upgrade(Protocol):
    """Runs a line of `headgate upgrade`, once the server answers checks with a report: see `answering`."""

    def __call__(self, line: str, report: Any = None, **others: Any) -> tuple[int, str, str]: ...


def answering(report: Any, **others: Any) -> Callable[[str], Answer]:
    """The report to every check; to a path that ends with the name of another answer, that one."""

    def answer(asked: str) -> Answer:
        path = asked.partition("?")[0]
        if path.endswith("/upgrade-check"):
            return report if isinstance(report, tuple) else (200, {}, report)
        for name, other in others.items():
            if path.endswith(f"/{name}"):
                return 200, {}, other
        if path.startswith("GET") and path.endswith("/configurations"):
            return 200, {}, {"items": [DETAIL], "next_cursor": None}
        if "/versions" in path:
            return 200, {}, VERSION | ({"n": 4} if path.startswith(("POST", "PATCH")) else {})
        return 200, {}, DETAIL

    return answer


def asked(server: Server, path: str) -> list[Any]:
    return [json.loads(body) for line, _, body in server.requests if line.endswith(path)]
