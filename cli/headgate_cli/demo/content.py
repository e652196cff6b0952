"""The examples of a demo, and the marks by which they are recognized."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from headgate_cli.shapes import ConfigurationSummary

MARK: Final = "An example of `headgate demo`, which `headgate demo --remove` takes away."
"""The description of each configuration: one whose description was changed is somebody's own from then on."""
FLEET: Final = "headgate-demo"
LABEL: Final = ("headgate.demo", "true")
"""The label of every simulated host."""
DEFAULT_GROUP: Final = "Default"
SECOND_GROUP: Final = "batch"


def _text(file: str) -> str:
    return (resources.files(__package__) / "examples" / file).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class DemoConfiguration:
    """A configuration: its versions by their files, and whether they are published."""

    name: str
    files: Sequence[str]
    published: bool = True

    def texts(self) -> list[str]:
        return [_text(file) for file in self.files]


@dataclass(frozen=True, slots=True)
class DemoTest:
    """A named test, which is also run once; `saved` is whether it is stored with the configuration's first version.

    `sample` is log lines, or the name of a file of OTLP/JSON.
    """

    name: str
    example: DemoConfiguration
    pipeline: str
    signal: str
    sample: str
    rule: Mapping[str, object]
    saved: bool = True

    def body(self) -> dict[str, object]:
        is_otlp = self.sample.endswith(".json")
        return {
            "target_pipeline": self.pipeline,
            "signal_type": self.signal,
            "sample": json.loads(_text(self.sample)) if is_otlp else self.sample,
            "sample_format": "otlp" if is_otlp else "raw",
            "duration_seconds": 2,
            "rules": [self.rule],
        }


@dataclass(frozen=True, slots=True)
class DemoHost:
    """A simulated host. `fails` is what it says of each configuration that it is given; empty if it applies them."""

    name: str
    group: str
    fails: str = ""


SHOP: Final = DemoConfiguration("demo: shop logs", ("shop-logs-1.yaml", "shop-logs-2.yaml"))
GATEWAY: Final = DemoConfiguration("demo: trace gateway", ("trace-gateway.yaml",))
DRAFT: Final = DemoConfiguration("demo: host metrics", ("host-metrics.yaml",), published=False)
EXAMPLES: Final = (SHOP, GATEWAY, DRAFT)

TRIALS: Final = (
    DemoTest(
        "failed-orders-are-errors",
        SHOP,
        "logs",
        "logs",
        "order 1 paid\norder 2 failed\n",
        {
            "name": "failures are errors",
            "condition": 'log.severity_text == "ERROR" or not IsMatch(log.body, "failed")',
            "expect": "all",
        },
    ),
    DemoTest(
        "no-addresses-in-spans",
        GATEWAY,
        "traces",
        "traces",
        "order-spans.json",
        {"name": "no address is left", "condition": 'span.attributes["user.email"] == nil', "expect": "all"},
    ),
    DemoTest(
        "routes-are-kept-out",
        GATEWAY,
        "traces",
        "traces",
        "order-spans.json",
        {
            "name": "no route is left (this rule fails on purpose)",
            "condition": 'span.attributes["http.route"] == nil',
            "expect": "all",
        },
        saved=False,
    ),
)
# As the supervisor says that a collector ended.
_TAKEN: Final = (
    "simulated: listen tcp 127.0.0.1:4317: bind: address already in use\n"
    "(Agent exited unexpectedly with exit code 1 while applying configuration)"
)
HOSTS: Final = (
    *(DemoHost(f"demo-web-{n}", DEFAULT_GROUP) for n in range(1, 7)),
    DemoHost("demo-batch-1", SECOND_GROUP),
    DemoHost("demo-batch-2", SECOND_GROUP, _TAKEN),
)


def is_ours(configuration: ConfigurationSummary, example: DemoConfiguration | None = None) -> bool:
    """True if a demo created it, from that example or from any."""
    names = [example.name] if example else [known.name for known in EXAMPLES]
    return configuration["description"] == MARK and configuration["name"] in names
