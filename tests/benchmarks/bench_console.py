"""Typing into the console's editor at 5,000 lines in Chromium, against a plain text area with the same text.

Then the time to the verdict, against the same request alone, and what a page needs until its first content.

A key's time is from the event to the end of its frame, so both have up to 16 ms of waiting for the display in them.
While one types, the editor asks the service for the verdict, as always.

python -m tests.benchmarks.bench_console [--keys 150]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import Page

from tests.benchmarks.bench_validate import CONFIGURATION
from tests.support.chromium import chromium
from tests.support.console import visit
from tests.support.local_service import LocalService

LINES = 5_000
EDITOR = "Configuration, YAML"
_OBSERVE = """() => {
  window.times = [];
  window.addEventListener("keydown", event => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.times.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(0);
  }), true);
}"""
_AREA = """text => {
  const area = document.createElement("textarea");
  area.id = "plain";
  area.rows = 30;
  area.value = text;
  document.querySelector("main").prepend(area);
  area.focus();
}"""


def configuration() -> str:
    """A configuration with a comment of its own on each line that fills it up to its length."""
    lines = CONFIGURATION.splitlines()
    return "\n".join([*(f"# line {number} of a long text" for number in range(LINES - len(lines))), *lines]) + "\n"


def typed(page: Page, keys: int) -> list[float]:
    page.evaluate(_OBSERVE)
    for number in range(keys):
        page.keyboard.press("x" if number % 30 else "Enter", delay=40)
    page.wait_for_timeout(200)
    return [float(one) for one in page.evaluate("window.times")]


_VERDICTS = """() => {
  window.verdicts = [];
  let pressed = 0;
  window.addEventListener("keydown", event => { pressed = event.timeStamp; }, true);
  const verdict = document.querySelector("#verdict");
  new MutationObserver(() => verdict.querySelector(".verdict") && window.verdicts.push(performance.now() - pressed))
    .observe(verdict, {childList: true});
}"""
PAUSE_MS = 400
TURNS = 10


def verdicts(page: Page) -> list[float]:
    """From a key to the verdict of the text with it, in milliseconds; the editor's pause is in it."""
    page.evaluate(_VERDICTS)
    for turn in range(TURNS):
        page.keyboard.press("x")
        page.wait_for_function("turn => window.verdicts.length > turn", arg=turn)
    return [float(one) for one in page.evaluate("window.verdicts")]


def alone(api: httpx.Client) -> list[float]:
    """The same request by itself, each time with another text."""
    times = []
    for turn in range(TURNS):
        body = {"yaml": f"{configuration()}# {turn}\n"}
        began = time.perf_counter()
        api.post("/validate?lint=true&policies=true&graph=true", json=body).raise_for_status()
        times.append(1_000 * (time.perf_counter() - began))
    return times


def tell(name: str, times: list[float], baseline: list[float] | None = None) -> None:
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    against = f", {p95 / statistics.quantiles(baseline, n=20)[-1]:.1f} × the text area's p95" if baseline else ""
    print(f"{name:<24} {len(times)} keys, p50 {p50:.1f} ms, p95 {p95:.1f} ms, longest {max(times):.1f} ms{against}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=150)
    keys = parser.parse_args().keys
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        service = LocalService(Path(folder))
        service.start()
        try:
            with visit(browser, service) as here:
                page = here.page
                with service.client() as api:
                    made = api.post("/configurations", json={"name": "Long", "yaml": configuration()}).json()["id"]
                    api.post(f"/configurations/{made}/versions/1/publish").raise_for_status()
                address = f"{here.home}/configurations/{made}/edit"
                page.goto(address)
                page.locator("#verdict", has_text="alid on collector").wait_for()
                page.get_by_label(EDITOR).focus()
                for _ in range(10):
                    page.keyboard.press("ArrowDown")
                editor = typed(page, keys)
                told = statistics.median(verdicts(page))
                with service.client() as api:
                    request = statistics.median(alone(api))
                page.goto(f"{here.home}/configurations/new")
                page.evaluate(_AREA, configuration())
                area = typed(page, keys)
                tell("text area", area)
                tell("editor", editor, area)
                print(
                    f"verdict {told:.0f} ms after a key; the request alone {request:.0f} ms, and the editor's pause "
                    f"{PAUSE_MS} ms: {told / (request + PAUSE_MS):.1f} × both"
                )
                page.goto(address)
                page.locator("#verdict", has_text="alid on collector").wait_for()
                first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
                print(f"first content of its page {first:.0f} ms")
        finally:
            service.stop()


if __name__ == "__main__":
    main()
