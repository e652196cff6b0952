"""A headless Chromium: the system's, Debian's package, or Playwright's own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, expect, sync_playwright

# Without these it looks for updates and sign-ins of its own, which a closed network refuses many times over.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# The first has the same engine without a browser's own windows, and takes less than half of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# A page may take longer than Playwright's 5 seconds on a machine that does other things as well.
expect.set_options(timeout=60_000)


@contextmanager
def chromium() -> Iterator[Browser]:
    named = os.environ.get("HEADGATE_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
