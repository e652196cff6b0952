"""200 OTTL expressions in one request to POST /ottl/lint against spawning `otelcol-contrib validate` on the same YAML.

python -m tests.benchmarks.bench_lint [--requests 200]
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import httpx
import yaml

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import default_limits
from tests.benchmarks.bench_validate import Times
from tests.support.askers import ASKER
from tests.support.service import running_service

EXPRESSIONS = 200


def configuration() -> str:
    """A collector with 200 expressions as people write them, in four processors of each kind."""
    processors: dict[str, object] = {}
    for number in range(4):
        processors[f"transform/{number}"] = {
            "error_mode": "ignore",
            "log_statements": [
                {
                    "context": "log",
                    "conditions": ['IsMap(body) and body["object"] != nil'] * 5,
                    "statements": [
                        f'set(attributes["team.{n}"], body["team"]) where IsMatch(body["path"], "^/v{n}/.*")'
                        for n in range(20)
                    ],
                }
            ],
        }
        processors[f"filter/{number}"] = {
            "error_mode": "ignore",
            "logs": {
                "log_record": [
                    f'attributes["http.route"] == "/health/{n}" and severity_number < SEVERITY_NUMBER_WARN'
                    for n in range(25)
                ]
            },
        }
    pipeline = {"receivers": ["otlp"], "processors": list(processors), "exporters": ["debug"]}
    return yaml.safe_dump(
        {
            "receivers": {"otlp": {"protocols": {"grpc": {}}}},
            "processors": processors,
            "exporters": {"debug": {}},
            "service": {"pipelines": {"logs": pipeline}},
        },
        sort_keys=False,
        width=100,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="requests of each kind")
    requests: int = parser.parse_args().requests
    text = configuration()
    broken = text.replace("SEVERITY_NUMBER_WARN", "SEVERITY_NUMBER_WARM")
    installed = Installed(Path(settings().collectors_dir))
    binary = installed.binary(settings().collector_version)

    spawned, answered = Times("spawning `otelcol-contrib validate`"), Times("POST /ottl/lint, 200 expressions")
    checked, faulty = Times("the linter alone"), Times("the linter alone, 100 of the 200 broken")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "collector.yaml")
        file.write_text(text)
        command = [str(binary), "validate", "--config", str(file)]
        checker = Checker(installed, settings().collector_version, default_limits())
        with running_service(Path(folder, "data")) as service, service.client() as http:

            def spawn() -> None:
                subprocess.run(command, check=True, env={}, capture_output=True)

            def post() -> None:
                expect(http, text)

            post()
            checker.call("lint", {"yaml": text}, asker=ASKER)
            for _ in range(max(1, requests // 10)):  # in turns, so that what else the machine does meets all alike
                spawned.measure(2, spawn)
                answered.measure(10, post)
                checked.measure(10, lambda: checker.call("lint", {"yaml": text}, asker=ASKER))
                faulty.measure(2, lambda: checker.call("lint", {"yaml": broken}, asker=ASKER))
        checker.close()

    print(f"{'':<44} {'times':>6} {'p50 ms':>9} {'p99 ms':>9} {'faster':>9}")
    print(spawned.row())
    for times in (answered, checked, faulty):
        print(times.row(spawned))


def expect(http: httpx.Client, text: str) -> None:
    answer = http.post("/ottl/lint", json={"yaml": text}).raise_for_status().json()
    assert (answer["valid"], answer["checked"]) == (True, EXPRESSIONS), answer


if __name__ == "__main__":
    main()
