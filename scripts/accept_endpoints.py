"""Writes cli/headgate_cli/accept/endpoints.py: the endpoints that `headgate accept` looks for, from the description.

python -m scripts.accept_endpoints
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from headgate.http.paths import PUBLIC
from scripts.openapi import DOCUMENT

MODULE: Final = Path(__file__).parents[1] / "cli" / "headgate_cli" / "accept" / "endpoints.py"
_HEAD: Final = '''\
"""The endpoints of the API: method, path, which credential it takes, and whether it has a body.

`python -m scripts.accept_endpoints` writes this file.
"""

from typing import Final

ENDPOINTS: Final[tuple[tuple[str, str, str, bool], ...]] = (
'''


def module() -> str:
    """The text of the module."""
    return (
        _HEAD + "".join(f"    ({method}, {path}, {takes}, {body}),\n" for method, path, takes, body in _rows()) + ")\n"
    )


def _rows() -> Iterator[tuple[str, str, str, bool]]:
    paths: dict[str, dict[str, Any]] = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    for path, item in paths.items():
        for method, operation in item.items():
            # Whatever asks for a token's right takes tokens; what does not is for people.
            rights = {kind: right for entry in operation["security"] for kind, right in entry.items()}
            takes = (rights.get("token") or rights.get("session") or ["session"])[0] if rights else "nothing"
            names = (json.dumps(entry) for entry in (method.upper(), path.removeprefix(PUBLIC), takes))
            yield *names, "requestBody" in operation


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
