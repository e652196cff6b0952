"""Computes what a month of the service costs on AWS, from the template, measured units and a list of prices.

    python -m scripts.bill --hosts 10000 --organizations 10      # an estimate for your numbers
    python -m scripts.bill --write                               # the tables of the documents

`scripts/prices.yaml` has the prices with their date, and the units with where each comes from.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from headgate_local import template

ROOT: Final = Path(__file__).resolve().parents[1]
PRICES: Final = Path(__file__).with_name("prices.yaml")
HOURS: Final = 730
_SECONDS: Final = HOURS * 3_600
_MILLION: Final = 1e6
_GB: Final = 1e9
# While something is on its way to it, a host reports every 10 to 30 s.
_QUICK_SECONDS: Final = 20
# The mean of intervals of which each is up to a tenth shorter.
_JITTER: Final = 0.95


@dataclass(frozen=True, slots=True)
class MeasuredUse:
    """A month's use. `assignments` are those of each host, `function_url` leaves out API Gateway for its messages.

    `earlier` computes as before hosts had two intervals: one for all times, each message with a line in the log.
    `series` is whether what hosts count is kept over time.
    """

    hosts: int
    organizations: int = 1
    requests: int = 0
    validations: int = 0
    runs: int = 0
    interval: int = 60
    assignments: int = 8
    function_url: bool = False
    earlier: bool = False
    series: bool = True


@dataclass(frozen=True, slots=True)
class StackBill:
    """The template's resources that cost by themselves, and the memory of functions in GB."""

    endpoints: int
    alarm_metrics: int
    dashboards: int
    keys: int
    sweeps: int
    memory: Mapping[str, float]
    runner_vcpu: float
    runner_gb: float
    traces_messages: bool

    @classmethod
    def of(cls, described: template.Template) -> StackBill:
        """Read the template."""
        functions = dict(described.of_type("AWS::Serverless::Function"))
        alarms = [properties for _, properties in described.of_type("AWS::CloudWatch::Alarm")]
        endpoints = [properties for _, properties in described.of_type("AWS::EC2::VPCEndpoint")]
        ((_, task),) = described.of_type("AWS::ECS::TaskDefinition")
        return cls(
            endpoints=sum(endpoint.get("VpcEndpointType") == "Interface" for endpoint in endpoints),
            alarm_metrics=sum(_metrics(alarm) for alarm in alarms),
            dashboards=len(list(described.of_type("AWS::CloudWatch::Dashboard"))),
            keys=len(list(described.of_type("AWS::KMS::Key"))),
            sweeps=len(described.schedules()),
            memory={name: _whole(function.get("MemorySize", 1024)) / 1024 for name, function in functions.items()},
            runner_vcpu=_whole(task["Cpu"]) / 1024,
            runner_gb=_whole(task["Memory"]) / 1024,
            traces_messages=functions["OpampFunction"].get("Tracing") != "PassThrough",
        )


@dataclass(frozen=True, slots=True)
class Bill:
    """A month's costs in dollars by what they are for, and how many messages hosts send."""

    messages: float
    lines: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.lines.values())


class Prices:
    """The values of `prices.yaml` by name."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.date = str(document["date"])
        self._entries: Mapping[str, Mapping[str, Any]] = {**document["prices"], **document["units"]}

    def __getitem__(self, name: str) -> float:
        return float(self._entries[name]["value"])

    def http_api(self, requests: float) -> float:
        """The dollars for so many requests in a month, of which those above a threshold cost less."""
        tier = self._entries["http_api_million"]
        price, threshold, then = (float(tier[name]) for name in ("value", "above_million", "then"))
        above = max(0.0, requests / _MILLION - threshold)
        return (requests / _MILLION - above) * price + above * then


def read() -> Prices:
    """The list of prices and units."""
    return Prices(yaml.safe_load(PRICES.read_text(encoding="utf-8")))


def bill(use: MeasuredUse, stack: StackBill, prices: Prices) -> Bill:
    """The cost of a month of that use."""
    interval = use.interval if use.earlier else use.interval * _JITTER
    changes = use.hosts * use.assignments
    messages = use.hosts * _SECONDS / interval + changes * prices["assignment_messages"]
    saves = use.hosts * _SECONDS / max(prices["saved_every_seconds"], interval)
    logged = messages if use.earlier else changes * prices["assignment_messages"]
    # A validation is two requests: its own, and the one to the checker's function.
    invoked = use.requests + use.validations + use.runs * prices["run_transitions"]
    through_api = use.requests + (0 if use.function_url else messages)
    environments = use.organizations * 30 * prices["tenant_environments_day"] if use.validations else 0
    checker = stack.memory["CheckerFunction"]
    seconds = {
        "OpampFunction": messages * prices["message_seconds"],
        "ValidationFunction": use.requests * prices["request_seconds"]
        + use.validations * prices["validation_wait_seconds"],
        "CheckerFunction": use.validations * prices["validation_seconds"]
        + use.runs * prices["run_checker_seconds"]
        + environments * prices["tenant_start_seconds"],
    }
    reads = messages * prices["message_reads"] + use.requests * prices["request_reads"]
    writes = (
        saves * prices["saved_writes"]
        + changes * prices["assignment_writes"]
        + use.requests * prices["request_writes"]
        + use.runs * prices["run_writes"]
    )
    counting = use.series and not use.earlier
    minutes = (use.hosts / prices["series_group_hosts"] if counting else 0) * _SECONDS / max(60, interval)
    series_writes = saves * prices["saved_totals_writes"] * counting + minutes * (
        prices["series_group_writes"] + prices["series_group_hosts"] * prices["series_host_writes"]
    )
    stored = use.hosts * prices["stored_kb_of_host"] / _MILLION + use.organizations * (
        prices["stored_mb_of_organization"] / 1_000
    )
    logs = (
        (0 if use.function_url else messages) * prices["message_access_log_bytes"]
        + logged * prices["message_log_bytes"]
        + use.requests * prices["request_log_bytes"]
    )
    runner = stack.runner_vcpu * prices["fargate_vcpu_hour"] + stack.runner_gb * prices["fargate_gb_hour"]
    sweeps = HOURS * 60
    lines = {
        "HTTP API": prices.http_api(through_api),
        "Lambda: requests": (messages + invoked) / _MILLION * prices["lambda_requests_million"],
        "Lambda: time": sum(stack.memory[name] * spent for name, spent in seconds.items()) * prices["lambda_gb_second"],
        "Lambda: environments of tenants": environments * checker * prices["lambda_tenant_environment_gb"],
        "DynamoDB: reads": reads / _MILLION * prices["dynamodb_reads_million"],
        "DynamoDB: writes": writes / _MILLION * prices["dynamodb_writes_million"],
        "DynamoDB: storage, recovery": stored * (prices["dynamodb_gb"] + prices["dynamodb_recovery_gb"]),
        "Numbers over time": series_writes / _MILLION * prices["dynamodb_writes_million"]
        + minutes * prices["series_group_reads"] / _MILLION * prices["dynamodb_reads_million"]
        + minutes * prices["lambda_requests_million"] / _MILLION
        + minutes * stack.memory["SeriesFunction"] * prices["series_seconds"] * prices["lambda_gb_second"],
        "Test runs": use.runs
        * (
            runner * prices["run_runner_seconds"] / 3_600
            + prices["run_transitions"] / 1_000 * prices["step_functions_thousand"]
        ),
        "Logs": logs / _GB * prices["logs_gb"],
        "Traces of requests": use.requests * prices["traced_share"] / _MILLION * prices["traces_million"],
        "KMS: key, requests": stack.keys * prices["kms_key"]
        + use.hosts * prices["secrets_of_host_month"] / 10_000 * prices["kms_requests_ten_thousand"],
        "Each minute's sweeps": sweeps
        * (
            stack.memory["NotifyFunction"] * prices["sweep_seconds"] * prices["lambda_gb_second"]
            + stack.sweeps * prices["lambda_requests_million"] / _MILLION
            + (prices["sweep_reads"] + use.organizations) * prices["dynamodb_reads_million"] / _MILLION
            + prices["sweep_writes"] * prices["dynamodb_writes_million"] / _MILLION
        )
        + prices["queue_calls_month"] / _MILLION * prices["sqs_million"],
        "Endpoints of runners": stack.endpoints * HOURS * prices["endpoint_hour"],
        "Alarms, metrics, dashboard": stack.alarm_metrics * prices["alarm_metric"]
        + prices["metrics"] * prices["metric"]
        + stack.dashboards * prices["dashboard"],
    }
    return Bill(messages, lines)


# The columns of the page: a team, a company, a platform.
COLUMNS: Final = (
    MeasuredUse(hosts=100, organizations=1, requests=100_000, validations=10_000, runs=1_000),
    MeasuredUse(hosts=10_000, organizations=10, requests=2_000_000, validations=200_000, runs=20_000),
    MeasuredUse(hosts=100_000, organizations=50, requests=20_000_000, validations=2_000_000, runs=200_000),
)
INTERVALS: Final = (60, 120, 300)
SIZES: Final = (1_000, 10_000, 100_000)


def costs_table(stack: StackBill, prices: Prices) -> Iterator[str]:
    """The lines of docs/costs.md."""
    bills = [bill(use, stack, prices) for use in COLUMNS]
    yield "| A month | " + " | ".join(f"{use.hosts:,} hosts" for use in COLUMNS) + " |"
    yield "|---|" + "---|" * len(COLUMNS)
    for name, what in (
        ("organizations", "Organizations"),
        ("requests", "API requests"),
        ("validations", "of them validations"),
        ("runs", "Test runs"),
    ):
        yield f"| {what} | " + " | ".join(f"{getattr(use, name):,}" for use in COLUMNS) + " |"
    yield "| Hosts' messages | " + " | ".join(f"{entry.messages / _MILLION:,.1f} M" for entry in bills) + " |"
    for line in bills[0].lines:
        yield f"| {line} | " + " | ".join(_dollars(entry.lines[line]) for entry in bills) + " |"
    yield "| **Together** | " + " | ".join(f"**{_dollars(entry.total)}**" for entry in bills) + " |"
    before = [bill(replace(use, interval=30, earlier=True), stack, prices) for use in COLUMNS]
    yield "| at 30 s, each message logged | " + " | ".join(_dollars(entry.total) for entry in before) + " |"
    idle = bill(MeasuredUse(hosts=0, organizations=1), stack, prices)
    endpoints, watched = (_dollars(idle.lines[name]) for name in ("Endpoints of runners", "Alarms, metrics, dashboard"))
    yield ""
    yield f"An idle stack costs {_dollars(idle.total)}: {endpoints} for the endpoints of the test runner's network,"
    yield f"{watched} for alarms, metrics and dashboard, and the rest for the key and for looking each minute. A metric"
    yield "without a value costs nothing."


def intervals_table(stack: StackBill, prices: Prices) -> Iterator[str]:
    """The lines of docs/fleet-scale.md: hosts alone, without what people do."""
    yield "| Hosts | at rest | Messages a month | A month | without API Gateway | A host |"
    yield "|---|---|---|---|---|---|"
    for hosts in SIZES:
        uses = [
            MeasuredUse(hosts, interval=30, earlier=True),
            *(MeasuredUse(hosts, interval=interval) for interval in INTERVALS),
        ]
        for use in uses:
            entry, by_url = (bill(each, stack, prices) for each in (use, replace(use, function_url=True)))
            fixed = bill(replace(use, hosts=0), stack, prices).total
            what = "30 s, as before" if use.earlier else f"{use.interval} s"
            yield (
                f"| {hosts:,} | {what} | {entry.messages / _MILLION:,.0f} M | {_dollars(entry.total - fixed)} | "
                f"{_dollars(by_url.total - fixed)} | {(entry.total - fixed) / hosts * 100:.1f} ¢ |"
            )


def series_table(stack: StackBill, prices: Prices) -> Iterator[str]:
    """The part of the page about the cost of numbers over time."""
    yield ""
    yield "With and without numbers over time, at 60 s:"
    yield ""
    yield "| Hosts | without: a month | with: a month | more |"
    yield "|---|---|---|---|"
    for hosts in SIZES:
        use = MeasuredUse(hosts)
        fixed = bill(replace(use, hosts=0), stack, prices).total
        without, retained = (bill(replace(use, series=series), stack, prices).total - fixed for series in (False, True))
        yield f"| {hosts:,} | {_dollars(without)} | {_dollars(retained)} | {100 * (retained / without - 1):.1f} % |"


def scale_tables(stack: StackBill, prices: Prices) -> Iterator[str]:
    yield from intervals_table(stack, prices)
    yield from series_table(stack, prices)


PAGES: Final = {"costs.md": costs_table, "fleet-scale.md": scale_tables}
_MARKS: Final = ("<!-- Written by `python -m scripts.bill --write`: begin -->\n", "<!-- end of the bill -->\n")


def written(page: str, lines: Sequence[str]) -> str:
    """The page with these lines between its marks."""
    begin, end = _MARKS
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    return pattern.sub(lambda _: begin + "\n" + "\n".join(lines) + "\n\n" + end, page)


def _dollars(value: float) -> str:
    return f"${value:,.2f}" if value < 100 else f"${value:,.0f}"


def _metrics(alarm: Mapping[str, template.Node]) -> int:
    metrics = alarm.get("Metrics")
    return (
        sum(isinstance(metric, dict) and "MetricStat" in metric for metric in metrics)
        if isinstance(metrics, list)
        else 1
    )


def _whole(value: object) -> int:
    return int(str(value))


def main() -> None:
    parser = argparse.ArgumentParser(description="What a month of the service costs.")
    for name in ("hosts", "organizations", "requests", "validations", "runs", "assignments", "interval"):
        default = MeasuredUse.__dataclass_fields__[name].default
        parser.add_argument(f"--{name}", type=int, default=default if isinstance(default, int) else 100)
    parser.add_argument("--function-url", action="store_true", help="hosts call the function, not API Gateway")
    parser.add_argument("--write", action="store_true", help="write the tables of the documents")
    options = vars(parser.parse_args())
    stack, prices = StackBill.of(template.read()), read()
    if options.pop("write"):
        for page, table in PAGES.items():
            path = ROOT / "docs" / page
            path.write_text(written(path.read_text(encoding="utf-8"), [*table(stack, prices)]), encoding="utf-8")
        return
    result = bill(MeasuredUse(**options), stack, prices)
    print(f"A month, by the prices of {prices.date}; {result.messages / _MILLION:,.1f} million messages of hosts:")
    for line, value in result.lines.items():
        print(f"  {line:<36} {value:>12,.2f}")
    print(f"  {'together':<36} {result.total:>12,.2f}")


if __name__ == "__main__":
    main()
