"""Raises the default collector: `make collector-upgrade VERSION=X.Y.Z`.

The version gets its folder, is built, and has to pass the Go tests, the contract tests and every flow of the gallery. A
step that fails does not end the run, unless the next ones need its result. The report at the end, which is also in
build/collector-upgrade/X.Y.Z/, has each step's outcome and what changes for users. Only if the build is whole and each
step passed is the version written to the places that name the default one. It exits with 1 if it is not.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, Literal
from xml.etree import ElementTree

from headgate import checker
from headgate.checker import Asker
from headgate.foundation.errors import Unavailable
from headgate_engine.collector import VERSION, by_age
from scripts import default_version, gallery_upgrade
from scripts.stack import ROOT, Stop

LAYER: Final = ROOT / "layers" / "collector"
PROVEN: Final = ROOT / "tests" / "end_to_end" / "proven_flows.json"
_ASKER: Final = Asker("org_of_the_upgrade", "tok_of_the_upgrade")
_MAX_DETAILS: Final = 40

Status = Literal["passed", "failed", "not run"]


@dataclass(frozen=True, slots=True)
class UpgradeOutcome:
    """The result of a step: a line, and its failures."""

    status: Status
    text: str
    details: Sequence[str] = ()


@dataclass(slots=True)
class UpgradeProgress:
    """The outcomes of the steps, in order, with the seconds that each took; and what changes for users."""

    version: str
    outcomes: dict[str, tuple[UpgradeOutcome, float]] = field(default_factory=dict)
    changes: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return all(outcome.status == "passed" for outcome, _ in self.outcomes.values())

    def lines(self) -> Iterator[str]:
        yield f"Collector {self.version}"
        for name, (outcome, seconds) in self.outcomes.items():
            minutes, rest = divmod(round(seconds), 60)
            yield f"  {outcome.status:8} {name:16} {minutes:3}:{rest:02}  {outcome.text}"
            yield from (f"             {line}" for line in outcome.details[:_MAX_DETAILS])
            if len(outcome.details) > _MAX_DETAILS:
                yield f"             and {len(outcome.details) - _MAX_DETAILS} more"
        if self.changes:
            yield from ("", "What changes for users:", *(f"  {line}".rstrip() for line in self.changes))


@dataclass(frozen=True, slots=True)
class Raise:
    """One run of the command, with the folder of its report and of each step's output."""

    version: str
    default: str
    folder: Path
    report: UpgradeProgress

    def step(self, name: str, work: Callable[[], UpgradeOutcome]) -> bool:
        """Do the work, note its outcome, and return whether it passed."""
        print(f"\n{name}: {self.version}", flush=True)
        started = time.monotonic()
        outcome = UpgradeOutcome("failed", "it did not come to its end")
        try:
            outcome = work()
        except (Stop, Unavailable) as error:
            outcome = UpgradeOutcome("failed", str(error))
        finally:
            self.report.outcomes[name] = (outcome, time.monotonic() - started)
        print(f"{name}: {outcome.status}: {outcome.text}", flush=True)
        return outcome.status == "passed"

    def skip(self, names: Iterable[str], reason: str) -> None:
        self.report.outcomes |= {name: (UpgradeOutcome("not run", reason), 0.0) for name in names}

    def run(self, name: str, command: Sequence[str | Path], **variables: str) -> tuple[int, list[str]]:
        """A command's exit status and lines, which are also shown as they come, and in `<name>.log`."""
        lines = []
        with (
            (self.folder / f"{name}.log").open("w", encoding="utf-8") as log,
            subprocess.Popen(
                [str(part) for part in command],
                cwd=ROOT,
                env={**_environment(), **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            ) as process,
        ):
            try:
                for line in process.stdout or ():
                    print(f"  {line}", end="", flush=True)
                    log.write(line)
                    lines.append(line.rstrip())
            except BaseException:
                process.terminate()
                raise
        return process.returncode, lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--regenerate", action="store_true", help="make the version's folder again though it is there")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        return raise_to(options.version, regenerate=options.regenerate)
    except Stop as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The default collector is as it was; run the command again to continue.", file=sys.stderr)
        return 130


def raise_to(version: str, *, regenerate: bool) -> int:
    """Make the version the default one, if it passes. Returns the exit status; raises Stop for a wrong version."""
    default = default_version.default(ROOT)
    if not VERSION.fullmatch(version):
        raise Stop(f"{version!r} is not a version: write VERSION=X.Y.Z")
    if by_age(version) < by_age(default):
        raise Stop(f"{version} is older than the default collector {default}: name a newer one")
    if version == default and not default_version.changes(ROOT, version):
        print(f"{version} is the default collector already.")
        return 0
    folder = ROOT / "build" / "collector-upgrade" / version
    folder.mkdir(parents=True, exist_ok=True)
    run = Raise(version, default, folder, UpgradeProgress(version))
    try:
        _do(run, regenerate=regenerate)
    finally:
        checker.close()
        text = "\n".join(run.report.lines()) + "\n"
        (folder / "report.txt").write_text(text, encoding="utf-8")
        print(f"\n{text}", flush=True)
    if not run.report.passed:
        print(f"{version} is not made the default collector, which stays {default}.", file=sys.stderr)
        return 1
    print(f"{version} is the default collector. Look at the changes, and commit them.")
    return 0


_AFTER_THE_FOLDER: Final = ("build", "whole", "Go tests", "contract tests", "gallery", "changes", "places")


def _do(run: Raise, *, regenerate: bool) -> None:
    if not run.step("folder", lambda: _folder(run, regenerate=regenerate)):
        run.skip(_AFTER_THE_FOLDER, "there is no folder to build")
        return
    if not run.step("build", lambda: _build(run)):
        run.skip(_AFTER_THE_FOLDER[1:], "there is no binary")
        return
    run.step("whole", lambda: whole(checker.COLLECTORS.describe(run.version, asker=_ASKER)))
    run.step("Go tests", lambda: _go_tests(run))
    run.step("contract tests", lambda: _pytest(run, "contract-tests", "tests/contract"))
    proven = run.folder / PROVEN.name
    proven.unlink(missing_ok=True)
    gallery = {"HEADGATE_FULL": "1", "HEADGATE_NOTE_PROVEN": str(proven)}
    run.step("gallery", lambda: _pytest(run, "gallery", "tests/end_to_end/test_flow_tests.py", **gallery))
    run.step("changes", lambda: _changes(run))
    if run.report.passed:
        run.step("places", lambda: _write_places(run, proven))
    else:
        run.skip(["places"], f"they name {run.default} as before")


def _folder(run: Raise, *, regenerate: bool) -> UpgradeOutcome:
    folder = LAYER / "versions" / run.version
    # What a killed run has left; the folder itself is replaced in one step.
    for left in (folder.with_name(f"{run.version}.old"), *folder.parent.glob(f".{run.version}-*")):
        shutil.rmtree(left, ignore_errors=True)
    there = folder.is_dir()
    if there and not regenerate and not _is_changed(folder):
        return UpgradeOutcome("passed", "it is there; REGENERATE=yes makes it again")
    status, lines = run.run("folder", ["make", "-C", LAYER, "regenerate", f"VERSION={run.version}"])
    created = "made again" if there else "made of the official manifest"
    return UpgradeOutcome("passed", created) if status == 0 else UpgradeOutcome("failed", _last(lines), lines[-10:])


def _is_changed(folder: Path) -> bool:
    """True if git has another content of the folder. A folder that it does not have yet was made by this command."""
    command = ["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", "--", str(folder)]
    return bool(subprocess.run(command, capture_output=True, check=False).stdout.strip())


def _build(run: Raise) -> UpgradeOutcome:
    # The default one too: what changes is told by both.
    for version in (run.default, run.version):
        status, lines = run.run(f"build-{version}", ["make", "collector", f"VERSION={version}"])
        if status != 0:
            return UpgradeOutcome("failed", f"{version}: {_last(lines)}", lines[-10:])
    return UpgradeOutcome("passed", _last(lines))


def whole(described: Mapping[str, object]) -> UpgradeOutcome:
    """True if the build has every component of the official release, by its own description."""
    lacks = len(_entries(described, "lacks"))
    if not described["reduced"] and not lacks:
        return UpgradeOutcome("passed", f"{len(_entries(described, 'components'))} components, none is lacking")
    return UpgradeOutcome(
        "failed",
        f"the build is reduced: it lacks {lacks} components of the official release, so it cannot be the default",
    )


def _go_tests(run: Raise) -> UpgradeOutcome:
    status, lines = run.run("go-tests", ["make", "-C", LAYER, "go-test", f"VERSION={run.version}"])
    return go_outcome(status, lines)


def go_outcome(status: int, lines: Sequence[str]) -> UpgradeOutcome:
    """Count the results that `go test` printed."""
    passed = sum(line.startswith("ok  \t") for line in lines)
    failed = [line.split("\t")[1].split(" ")[0] for line in lines if line.startswith("FAIL\t")]
    tests = [line.strip().removeprefix("--- FAIL: ") for line in lines if re.match(r"\s*--- FAIL: ", line)]
    text = f"{passed} packages passed, {len(failed)} failed"
    good = status == 0 and passed > 0 and not failed
    return UpgradeOutcome("passed" if good else "failed", text, [*failed, *tests])


def _pytest(run: Raise, name: str, path: str, **variables: str) -> UpgradeOutcome:
    result = run.folder / f"{name}.xml"
    result.unlink(missing_ok=True)
    workers = os.environ.get("WORKERS") or str((os.cpu_count() or 1) + 1)
    command = [
        *(sys.executable, "-m", "pytest", path, "--verbose", "--timeout", "3600", f"--junitxml={result}"),
        *("--numprocesses", workers, "--dist", "loadfile"),
    ]
    versions = {"HEADGATE_COLLECTOR_VERSION": run.version, "HEADGATE_SECOND_COLLECTOR": run.default}
    status, lines = run.run(name, command, **versions, **variables)
    if not result.is_file():
        return UpgradeOutcome("failed", f"pytest ended with {status} before it had a result: {_last(lines)}")
    return pytest_outcome(status, result)


def pytest_outcome(status: int, result: Path) -> UpgradeOutcome:
    """A JUnit file, counted."""
    # S314 warns of XML from strangers: this file was written by the pytest that this script has just run.
    cases = list(ElementTree.parse(result).iter("testcase"))  # noqa: S314  our own pytest wrote it
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    text = f"{len(cases) - len(failed) - skipped} tests passed, {len(failed)} failed, {skipped} skipped"
    names = [f"{str(case.get('classname')).rpartition('.')[2]}::{case.get('name')}" for case in failed]
    good = status == 0 and not failed and len(cases) > skipped
    return UpgradeOutcome("passed" if good else "failed", text, names)


def _changes(run: Raise) -> UpgradeOutcome:
    before, after = (checker.COLLECTORS.describe(version, asker=_ASKER) for version in (run.default, run.version))
    reports = {}
    slugs = gallery_upgrade.slugs()
    for number, slug in enumerate(slugs, start=1):
        print(f"  {number} of {len(slugs)}: {slug}", flush=True)
        reports[slug] = gallery_upgrade.check(slug, run.default, run.version)
    described = list(described_changes(before, after))
    run.report.changes = [*described, "", "The flows of the gallery:", *gallery_upgrade.lines(reports)]
    return UpgradeOutcome("passed", f"{len(reports)} flows checked; see below")


def described_changes(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    """Compare two answers of `describe`: components, and stages of feature gates."""
    old = {(entry["kind"], entry["type"]) for entry in _entries(before, "components")}
    new = {(entry["kind"], entry["type"]) for entry in _entries(after, "components")}
    renamed = {
        (entry["kind"], entry["deprecated_type"]): (entry["kind"], entry["type"])
        for entry in _entries(after, "components")
        if (entry["kind"], entry["deprecated_type"]) in old - new
    }
    lacking = {(entry["kind"], entry["type"]) for entry in _entries(after, "lacks")}
    yield from _listed("components added", (_name(entry) for entry in new - old - set(renamed.values())))
    yield from _listed("components renamed", (f"{_name(entry)} → {renamed[entry][1]}" for entry in renamed))
    yield from _listed("components removed", (_name(entry) for entry in old - new - set(renamed) - lacking))
    yield from _listed("components that this build lacks", (_name(entry) for entry in lacking))
    old_stages, new_stages = (
        {entry["id"]: entry["stage"] for entry in _entries(described, "feature_gates")} for described in (before, after)
    )
    # Gates are registered by components: a reduced build does not know those of what it lacks.
    gates = {
        gate: (old_stages.get(gate, "absent"), new_stages.get(gate, "absent"))
        for gate in old_stages | new_stages
        if (gate in new_stages or not after["reduced"]) and (gate in old_stages or not before["reduced"])
    }
    yield from _listed(
        "feature gates with another stage", (f"{gate}: {a} → {b}" for gate, (a, b) in gates.items() if a != b)
    )


def _write_places(run: Raise, proven: Path) -> UpgradeOutcome:
    contents = default_version.changes(ROOT, run.version)
    # What the gallery's tests have proved on this version. DEFAULT stays the last one.
    contents = {PROVEN: proven.read_text(encoding="utf-8"), **contents}
    default_version.write(contents)
    return UpgradeOutcome("passed", f"{len(contents)} files", [str(path.relative_to(ROOT)) for path in contents])


def _listed(title: str, names: Iterable[str]) -> Iterator[str]:
    listed = sorted(names)
    yield f"{len(listed)} {title}"
    yield from (f"  {name}" for name in listed)


def _name(component: tuple[str, str]) -> str:
    return " ".join(component)


def _entries(described: Mapping[str, object], name: str) -> list[dict[str, str]]:
    entries = described[name]
    if not isinstance(entries, list):
        raise Stop(f"The collector describes its {name} in an unknown form: build it again")
    return entries


def _last(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "no output").strip()


def _environment() -> dict[str, str]:
    """This process's, without what `make` says to the makes that it starts: theirs are commands of their own."""
    of_make = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "VERSION", "REGENERATE"}
    return {name: value for name, value in os.environ.items() if name not in of_make}


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
