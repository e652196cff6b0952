"""Folders for `headgate apply`, and what it says of them."""

import json
from typing import Any

from tests.support.cli_support import EDGE, Cli

TEST = "sample: a line\nrules:\n  - {name: all have a body, condition: log.body != nil, expect: all}\n"


def filled(cli: Cli, count: int, *, publish: bool = True) -> None:
    """A folder of configurations, each with a test."""
    for n in range(count):
        cli.write(f"all/configurations/c{n}.yaml", EDGE.replace("5s", f"{n + 1}s"))
        cli.write(f"all/configurations/c{n}.tests/body.yaml", TEST)
    cli.write("all/apply.yaml", f"publish: {str(publish).lower()}\n")


def applied(cli: Cli, *options: str, code: int = 0, **environment: str) -> Any:
    """What `headgate apply --json` prints."""
    done = cli.run("apply", "-f", "all", "--json", *options, **environment)
    assert done.code == code, done
    return json.loads(done.out)


def steps(result: Any) -> list[str]:
    return [f"{step['action']} {step['kind']} {step['name']}: {step['result']}" for step in result["steps"]]


def configurations(cli: Cli, **wanted: str) -> dict[str, Any]:
    with cli.api() as api:
        listed = api.get("/configurations", params={"limit": 100, **wanted}).json()["items"]
    return {one["name"]: one for one in listed}
