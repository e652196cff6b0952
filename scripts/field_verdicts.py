"""Hold the verdicts on real configurations against the collector's own `validate` command.

    python -m scripts.field_verdicts FOLDER [--version X.Y.Z] [--findings]

Each YAML file below the folder is checked as the service checks it, and by the command in a process of its own. Ends
with 1 if a verdict differs, or if a text has no verdict. With `--findings`, it prints every error and warning.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerFailed
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.supervisor import Checker
from headgate_engine.errors import Invalid, Unavailable
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.validation import checking
from headgate_engine.validation.checking import CheckResult, Parts
from headgate_engine.validation.model import CheckRequest

_MOST_BYTES: Final = 1_048_576
_SUFFIXES: Final = (".yaml", ".yml")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", default="0.139.0")
    parser.add_argument(
        "--collectors", type=Path, default=Path(os.environ.get("HEADGATE_COLLECTORS_DIR", "collectors"))
    )
    parser.add_argument("--findings", action="store_true")
    chosen = parser.parse_args(arguments)
    files = sorted(path for path in chosen.folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    checker = Checker(Installed(chosen.collectors), chosen.version, Limits(processes=1))
    asker = Asker("field", "field", checker)
    wrong, codes, verdicts = 0, Counter[str](), Counter[str]()
    try:
        for path in files:
            text = path.read_text(errors="replace")
            if not text or len(text.encode()) > _MOST_BYTES:
                continue
            ours, said = _ours(text, chosen.version, asker)
            plain = _plain(text, chosen.version, asker)
            if ours is None:
                verdicts["none"] += 1
            else:
                verdicts[f"valid {ours.verdict.valid}, on host {ours.verdict.valid_on_host}"] += 1
                codes.update(f"{entry.severity} {entry.code}" for entry in ours.findings())
            if ours is None or (plain is not None and plain != ours.verdict.valid):
                wrong += 1
                print(f"DIFFERS {path.name}: {said}, the command says {plain}")
            if chosen.findings and ours is not None:
                print(f"--- {path.name}: {said}")
                for finding in ours.findings():
                    place = f"{finding.line}:{finding.column} {finding.component_path}"
                    print(f"  {finding.severity} {finding.code} {place}: {finding.message[:400]}")
    finally:
        checker.close()
    print(f"{len(files)} files, {wrong} with another verdict than the command's, or without one")
    for counts in (verdicts, codes):
        print(*(f"{count:6} {name}" for name, count in counts.most_common()), sep="\n")
    return 1 if wrong else 0


def _ours(text: str, version: str, asker: Asker) -> tuple[CheckResult | None, str]:
    try:
        checked = checking.check(
            CheckRequest(text, version, {}), Parts(lint=True, policies=False), PolicyChoices(), asker=asker
        )
    except (Invalid, Unavailable) as problem:
        return None, problem.detail
    return checked, f"valid {checked.verdict.valid}, on host {checked.verdict.valid_on_host}"


def _plain(text: str, version: str, asker: Asker) -> bool | None:
    """The command's verdict. None if it is not asked about such a text, or says nothing."""
    try:
        return asker.collectors.validate_plainly(text, {}, asker=asker, version=version).valid
    except CheckerFailed:
        return None


if __name__ == "__main__":
    raise SystemExit(main())
