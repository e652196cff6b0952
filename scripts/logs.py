"""Prints a stack's logs and follows them: `make logs`, or `make logs FUNCTION=Validation`."""

import argparse
import sys
import time
from datetime import UTC, datetime

import boto3

from scripts import stack
from scripts.stack import Stop

_PAUSE_SECONDS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description="Print a stack's logs.")
    parser.add_argument(
        "--function", default="", help="only the log of this function (Validation), or this log (Api, Runner)"
    )
    parser.add_argument("--minutes", type=int, default=10, help="how many minutes back to start")
    parser.add_argument("--once", action="store_true", help="do not follow the logs")
    return stack.command(parser, _print)


def _print(options: argparse.Namespace) -> None:
    stack_name, _ = stack.existing(options.stage)
    groups = {
        logical_id.removesuffix("Log"): name
        for logical_id, kind, name in stack.resources(stack_name)
        if kind == "AWS::Logs::LogGroup"
    }
    requested = options.function.removesuffix("Function")
    if requested and requested not in groups:
        raise Stop(f"There is no log {requested!r}; the logs are {', '.join(sorted(groups))}")
    chosen = {name: group for name, group in groups.items() if requested in ("", name)}
    since = int((time.time() - options.minutes * 60) * 1000)
    seen: set[str] = set()
    while True:
        lines = sorted(line for name, group in chosen.items() for line in _events(name, group, since, seen))
        for at, name, message in lines:
            print(f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M:%S} {name}: {message}", flush=True)
        if options.once:
            return
        time.sleep(_PAUSE_SECONDS)


def _events(name: str, group: str, since: int, seen: set[str]) -> list[tuple[int, str, str]]:
    """The events of a log group since a time in milliseconds, without those already seen."""
    results = []
    pages = boto3.client("logs").get_paginator("filter_log_events")
    for page in pages.paginate(logGroupName=group, startTime=since):
        for event in page["events"]:
            if event["eventId"] not in seen:
                seen.add(event["eventId"])
                results.append((event["timestamp"], name, event["message"].rstrip()))
    return results


if __name__ == "__main__":
    sys.exit(main())
