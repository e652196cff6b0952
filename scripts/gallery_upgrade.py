"""Changes of the gallery's flows by another collector version: `python -m scripts.gallery_upgrade 0.158.0`.

Both versions have to be installed in HEADGATE_COLLECTORS_DIR.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from headgate import checker
from headgate.checker import Asker
from headgate.flows import source
from headgate.foundation.settings import settings
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.validation.model import CheckRequest

FLOWS: Final = Path(__file__).parents[1] / "flows"
_ASKER: Final = Asker("org_of_the_gallery", "tok_of_the_gallery")


def slugs() -> list[str]:
    return sorted(folder.name for folder in FLOWS.iterdir() if folder.is_dir())


def check(slug: str, source_version: str, target: str) -> UpgradeReport:
    """The report of one flow. Raises what `upgrades.service.check` does."""
    text = CheckRequest(source.read(FLOWS / slug).yaml, None, {}, loc=("flow", slug))
    return upgrades.check(text, target, source_version, asker=_ASKER)


def result(report: UpgradeReport) -> str:
    """The kind of the result."""
    if report.new_errors:
        return "breaks"
    if report.verdict.target.valid is None:
        return "is not fully checked"
    if not report.verdict.target.accepts:
        return "is invalid already"
    return "works, but something differs" if _differs(report) else "works as before"


def lines(reports: Mapping[str, UpgradeReport]) -> Iterable[str]:
    """The reports in words: a line for each flow, and the counts of what was found."""
    for slug, report in reports.items():
        yield f"{slug}: {result(report)}{_details(report)}"
    yield ""
    for kind, count in Counter(map(result, reports.values())).most_common():
        yield f"{count:4} of {len(reports)} flows: {kind}"
    for title, counts in _counts(reports.values()).items():
        yield f"{sum(counts.values()):4} {title}"
        for what, count in sorted(counts.items()):
            yield f"       {count} × {what}"


def _differs(report: UpgradeReport) -> bool:
    new = any(deprecation.new for deprecation in report.deprecations)
    gates = any(gate.components for gate in report.feature_gates)
    return new or gates or bool(report.renames or report.not_renamed or report.defaults or report.new_warnings)


def _details(report: UpgradeReport) -> str:
    errors = [f"\n    {error.component_path}: {error.message}" for error in report.new_errors]
    lacking = [f"\n    lacks {lacking.kind} {lacking.type}" for lacking in report.not_checked]
    return "".join(errors + lacking)


def _counts(reports: Iterable[UpgradeReport]) -> Mapping[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {
        title: Counter()
        for title in (
            "places with a deprecated name",
            "deprecated names that stay",
            "new warnings",
            "new deprecations",
            "changed defaults",
            "feature gates of components",
            "components that are not in the build",
        )
    }
    renames, stay, warnings, deprecations, defaults, gates, lacking = counts.values()
    for report in reports:
        renames.update(f"{rename.old_type} → {rename.new_type}" for rename in report.renames)
        stay.update(f"{retained.old_type} → {retained.new_type}: {retained.reason}" for retained in report.not_renamed)
        warnings.update(warning.message for warning in report.new_warnings)
        deprecations.update(
            f"{_type(deprecation.component_path)}: {deprecation.message}"
            for deprecation in report.deprecations
            if deprecation.new
        )
        defaults.update(
            f"{_type(default.component_path)} {default.key}: {default.before!r} → {default.after!r}"
            for default in report.defaults
        )
        gates.update(
            f"{gate.id}: {gate.stage_before or 'absent'} → {gate.stage_after or 'absent'}"
            for gate in report.feature_gates
            if gate.components
        )
        lacking.update(f"{entry.kind} {entry.type}" for entry in report.not_checked)
    return counts


def _type(component_path: str) -> str:
    return component_path.partition("/")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("to")
    parser.add_argument("--from", dest="source", default=settings().collector_version)
    args = parser.parse_args()
    try:
        reports = {slug: check(slug, args.source, args.to) for slug in slugs()}
    finally:
        checker.close()
    print("\n".join(lines(reports)))


if __name__ == "__main__":
    main()
