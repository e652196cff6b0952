"""Writes docs/starting.md: mistakes that only a start shows, and what Headgate tells of each.

python -m scripts.starting [--version X.Y.Z] [--try [COMPONENT…]]

With --try every processor, connector and extension of the version is tried again in the sandbox, each with each wrong
value of its schema: some minutes. What that shows is stored beside this code, by version.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from headgate import checker
from headgate.foundation.settings import settings
from headgate.reference import service as reference
from headgate_engine.reference.model import Component, Kind
from headgate_local.options import read_options
from scripts.default_version import default
from scripts.starting import attempts, oracle, page

ROOT: Final = Path(__file__).parents[2]
KINDS: Final[tuple[Kind, ...]] = ("processor", "connector", "extension")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default=default(ROOT), help="the collector version; the default one without it")
    parser.add_argument("--try", dest="tried", nargs="*", metavar="COMPONENT", help="such as processor/tail_sampling")
    options = parser.parse_args()
    os.environ["HEADGATE_COLLECTORS_DIR"] = str(read_options(os.environ).collectors)
    settings.cache_clear()
    results = Path(__file__).parent / f"{options.version}.json"
    if options.tried is not None:
        try:
            components = [entry for kind in KINDS for entry in reference.matching(options.version, kind)]
        finally:
            checker.close()
        _try(options.version, components, options.tried, results)
    shown = default(ROOT)
    others = {version: oracle.stored(version) for version in oracle.stored_versions() if version != shown}
    (ROOT / page.PATH).write_text(page.content(shown, oracle.stored(shown), others), encoding="utf-8")
    print(f"wrote {page.PATH}")


def _try(version: str, components: Sequence[Component], names: Sequence[str], results: Path) -> None:
    """Try these components, all if none is named, and store what that shows beside what was stored of the others."""
    before = json.loads(results.read_text(encoding="utf-8"))["components"] if names and results.exists() else []
    entries = {entry["component"]: entry for entry in before}
    collector = oracle.Sandboxed(_binary(version))
    try:
        for subject in attempts.subjects(components):
            if names and subject.name not in names:
                continue
            result = oracle.tried(subject, collector)
            entries[subject.name] = oracle.as_entry(result)
            counts = f"{result.values} values, {result.valid} valid, {len(result.mistakes)} mistakes"
            print(f"{subject.name}: {counts}", flush=True)
            results.write_text(oracle.as_json(version, [entries[name] for name in sorted(entries)]), encoding="utf-8")
    finally:
        collector.close()


def _binary(version: str) -> Path:
    return Path(settings().collectors_dir) / version / "otelcol-contrib"


if __name__ == "__main__":
    main()
