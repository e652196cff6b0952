"""The language server on a text of 1,000 lines, against a validation: spawning `otelcol-contrib validate` on it.

python -m tests.benchmarks.bench_lsp [--times 40]
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import yaml
from lsprotocol import types

from headgate_cli.local.api import LocalApi
from headgate_cli.local.collectors import checker
from headgate_cli.lsp.sources import Backend
from tests.benchmarks.bench_validate import CONFIGURATION, Times
from tests.support.language_client import Editor

LINES = 1_000
# The key of the first receiver: a section's types are the longest list of suggestions.
RECEIVER = types.Position(1, 3)


def configuration() -> str:
    """The hundred lines of the benchmark of validation, again and again: each component under a name of its own."""
    document = yaml.safe_load(CONFIGURATION)
    sections = {section: document[section] for section in ("receivers", "processors", "exporters")}
    copies: dict[str, dict[str, object]] = {section: {} for section in sections}
    for number in range(LINES):
        for section, components in sections.items():
            for name, body in components.items():
                # A copy: YAML would be written with aliases.
                copies[section][f"{name}x{number}" if "/" in name else f"{name}/{number}"] = deepcopy(body)
        pipelines = {"logs": {section: list(named) for section, named in sections_of_logs(copies).items()}}
        written = yaml.safe_dump({**copies, "service": {"pipelines": pipelines}}, sort_keys=False, width=110)
        if written.count("\n") >= LINES:
            break
    return str(written)


def sections_of_logs(copies: dict[str, dict[str, object]]) -> dict[str, list[str]]:
    """One component of each section: the others are declared and not used."""
    return {
        "receivers": [name for name in copies["receivers"] if name.startswith("otlp")][:1],
        "exporters": [name for name in copies["exporters"] if name.startswith("otlp")][:1],
    }


class Writer:
    """Someone who adds a key to the text, and asks."""

    def __init__(self, editor: Editor, text: str) -> None:
        self.editor, self.text = editor, text
        self.uri = editor.open(text)
        self.editor.findings(self.uri)
        self.keys = 0

    def press(self) -> int:
        """One key, in a comment at the end of a line in the middle; returns the version."""
        self.keys += 1
        at = types.Position(self.text.count("\n") // 2, 0)
        mark = "#\n" if self.keys == 1 else "x"
        there = types.Position(at.line, 0 if self.keys == 1 else 1)
        return self.editor.change(self.uri, types.TextDocumentContentChangePartial(types.Range(there, there), mark))

    def after_a_key(self, ask: Callable[[], object]) -> Callable[[], None]:
        def pressed() -> None:
            self.press()
            assert ask()

        return pressed

    def until_findings(self) -> None:
        self.editor.findings(self.uri, self.press())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40, help="answers of each kind")
    times: int = parser.parse_args().times
    text = configuration()
    collectors = checker("")
    binary = collectors.collectors.binary(collectors.default_version)

    spawned = Times("spawning `otelcol-contrib validate`")
    checked = Times("verdict, lint and policies of a warm collector")
    completed, hovered = Times("completion after a key"), Times("hover after a key")
    shown = Times("a key until its diagnostics, pause included")
    with tempfile.TemporaryDirectory() as folder, Editor("--local") as editor:
        file = Path(folder, "collector.yaml")
        file.write_text(text)
        command = [str(binary), "validate", "--config", str(file)]
        backend = Backend(LocalApi())
        writer = Writer(editor, text)

        def spawn() -> None:
            subprocess.run(command, check=False, env={}, capture_output=True)

        assert backend.check(text)
        assert editor.complete(writer.uri, RECEIVER)
        for _ in range(max(1, times // 10)):  # in turns, so that what else the machine does meets all alike
            spawned.measure(2, spawn)
            checked.measure(10, lambda: backend.check(text))
            completed.measure(10, writer.after_a_key(lambda: editor.complete(writer.uri, RECEIVER)))
            hovered.measure(10, writer.after_a_key(lambda: editor.hover(writer.uri, RECEIVER)))
            shown.measure(5, writer.until_findings)
        backend.close()

    print(f"{text.count(chr(10))} lines, {len(text):,} characters")
    print(f"{'':<48} {'times':>6} {'p50 ms':>9} {'p99 ms':>9} {'faster':>9}")
    print(spawned.row())
    for measured in (checked, completed, hovered, shown):
        print(measured.row(spawned))


if __name__ == "__main__":
    main()
