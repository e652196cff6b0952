"""Raising the default collector: what is written where, what is counted, and what is refused."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from scripts import collector_upgrade, default_version
from scripts.collector_upgrade import Raise, UpgradeOutcome, UpgradeProgress
from scripts.stack import Stop

ROOT = Path(__file__).parents[2]
NEW = "0.999.1"
OLD = default_version.default(ROOT)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that name the default collector."""
    for place in default_version.PLACES:
        for path in ROOT.glob(place.files):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_place_names_the_default_collector() -> None:
    assert default_version.changes(ROOT, OLD) == {}


def test_all_places_are_written_and_nothing_else_in_them(checkout: Path) -> None:
    before = contents(checkout)

    default_version.write(default_version.changes(checkout, NEW))

    after = contents(checkout)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] == before[name]} == set()
    assert {name: text.replace(NEW, OLD) for name, text in after.items()} == before
    assert default_version.default(checkout) == NEW
    assert default_version.changes(checkout, NEW) == {}


def test_the_file_that_decides_is_written_last(checkout: Path) -> None:
    changes = default_version.changes(checkout, NEW)

    assert list(changes)[-1] == checkout / default_version.DEFAULT


def test_what_was_stopped_in_between_is_written_by_the_next_run(checkout: Path) -> None:
    changes = default_version.changes(checkout, NEW)
    for path in list(changes)[:2]:
        path.write_text(changes[path])

    default_version.write(default_version.changes(checkout, NEW))

    assert default_version.changes(checkout, NEW) == {}
    assert OLD not in (checkout / "template.yaml").read_text().split("CollectorVersion:")[1][:200]


def test_if_one_file_cannot_be_written_none_is(checkout: Path) -> None:
    before = contents(checkout)
    changes = default_version.changes(checkout, NEW)
    nowhere = checkout / "no" / "such" / "folder"

    with pytest.raises(FileNotFoundError):
        default_version.write({**changes, nowhere: "text"})

    assert contents(checkout) == before


@pytest.mark.parametrize("name", ["template.yaml", "shared/headgate/foundation/settings.py"])
@pytest.mark.parametrize("other", ["0.1.0", "the newest"])
def test_a_place_that_names_another_version_stops_it(checkout: Path, name: str, other: str) -> None:
    path = checkout / name
    path.write_text(path.read_text().replace(OLD, other))

    with pytest.raises(Stop, match=name):
        default_version.changes(checkout, NEW)


def test_a_flow_for_another_version_stays_as_it_is(checkout: Path) -> None:
    path = min(checkout.glob("flows/*/flow.yaml"))
    path.write_text(path.read_text().replace(OLD, "0.1.0"))

    assert path not in default_version.changes(checkout, NEW)


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("0.1.0", "is older than the default collector"),
        ("v1.2.3", "is not a version"),
        ("../0.1.0", "is not a version"),
    ],
)
def test_a_version_that_is_not_newer_is_refused(version: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collector_upgrade.main([version]) == 1
    assert says in capsys.readouterr().err


def test_the_default_itself_needs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert collector_upgrade.main([OLD]) == 0
    assert capsys.readouterr().out == f"{OLD} is the default collector already.\n"


def test_a_reduced_build_does_not_pass_whatever_the_flag_says() -> None:
    lacks = [{"kind": "receiver", "type": "sum"}, {"kind": "exporter", "type": "doris"}]
    for reduced in (True, False):
        outcome = collector_upgrade.whole({"reduced": reduced, "lacks": lacks, "components": []})
        assert outcome.status == "failed"
        assert "it lacks 2 components of the official release, so it cannot be the default" in outcome.text
    assert collector_upgrade.whole({"reduced": True, "lacks": [], "components": []}).status == "failed"
    assert collector_upgrade.whole({"reduced": False, "lacks": [], "components": [{}]}).status == "passed"


GO = """\
Go tests on collector 1.2.3
ok  \texample.org/a\t0.1s
--- FAIL: TestOne (0.00s)
    --- FAIL: TestOne/within (0.00s)
FAIL
FAIL\texample.org/b\t0.2s
FAIL\texample.org/c [build failed]
FAIL
"""


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (
            2,
            GO,
            UpgradeOutcome(
                "failed",
                "1 packages passed, 2 failed",
                ["example.org/b", "example.org/c", "TestOne (0.00s)", "TestOne/within (0.00s)"],
            ),
        ),
        (0, "ok  \texample.org/a\t0.1s\n", UpgradeOutcome("passed", "1 packages passed, 0 failed", [])),
        (0, "", UpgradeOutcome("failed", "0 packages passed, 0 failed", [])),
        (1, "ok  \texample.org/a\t0.1s\n", UpgradeOutcome("failed", "1 packages passed, 0 failed", [])),
    ],
)
def test_what_go_printed_is_counted(status: int, text: str, expected: UpgradeOutcome) -> None:
    assert collector_upgrade.go_outcome(status, text.splitlines()) == expected


def test_what_pytest_wrote_is_counted(tmp_path: Path) -> None:
    # Data of this test: one of each outcome.
    (tmp_path / "test_some.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\n@pytest.mark.skip\ndef test_c(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "--junitxml=result.xml", "-p", "no:cacheprovider", "test_some.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    outcome = collector_upgrade.pytest_outcome(done.returncode, tmp_path / "result.xml")
    alone = collector_upgrade.pytest_outcome(0, tmp_path / "result.xml")

    assert (outcome, alone.status) == (
        UpgradeOutcome("failed", "1 tests passed, 1 failed, 1 skipped", ["test_some::test_b"]),
        "failed",
    )


def test_what_changed_is_told_by_what_both_say_of_themselves() -> None:
    def described(components: Sequence[tuple[str, str]], gates: dict[str, str], *lacks: str) -> dict[str, object]:
        return {
            "components": [{"kind": "receiver", "type": new, "deprecated_type": old} for new, old in components],
            "feature_gates": [{"id": gate, "stage": stage} for gate, stage in gates.items()],
            "lacks": [{"kind": "receiver", "type": one} for one in lacks],
            "reduced": bool(lacks),
        }

    before = described(
        [("a", ""), ("log", ""), ("gone", ""), ("lacking", "")], {"x": "Alpha", "y": "Beta", "z": "Beta"}
    )
    after = described([("a", ""), ("a_log", "log"), ("new", "")], {"x": "Beta", "y": "Beta", "w": "Alpha"}, "lacking")

    listed = list(collector_upgrade.described_changes(before, after))
    assert "  z: Beta → absent" in collector_upgrade.described_changes(before, {**after, "reduced": False})
    assert listed == [
        *("1 components added", "  receiver new"),
        *("1 components renamed", "  receiver log → a_log"),
        *("1 components removed", "  receiver gone"),
        *("1 components that this build lacks", "  receiver lacking"),
        *("2 feature gates with another stage", "  w: absent → Alpha", "  x: Alpha → Beta"),
    ]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> Callable[..., int]:
    """Raises the default collector of the copy, with these outcomes in place of the long steps."""
    (checkout / "tests" / "end_to_end").mkdir(parents=True)
    monkeypatch.setattr(collector_upgrade, "ROOT", checkout)
    monkeypatch.setattr(collector_upgrade, "PROVEN", checkout / "tests" / "end_to_end" / "proven_flows.json")

    def run(*, lacks: Sequence[dict[str, str]] = (), **outcomes: UpgradeOutcome) -> int:
        def step(name: str) -> Callable[..., UpgradeOutcome]:
            return lambda *_, **__: outcomes.get(name, UpgradeOutcome("passed", "it did"))

        def tests(raising: Raise, name: str, _path: str, **variables: str) -> UpgradeOutcome:
            outcome = step(name.replace("-", "_"))()
            if "HEADGATE_NOTE_PROVEN" in variables and outcome.status == "passed":
                Path(variables["HEADGATE_NOTE_PROVEN"]).write_text("proven")
            return outcome

        described = {"reduced": bool(lacks), "lacks": list(lacks), "components": [{}]}
        for name in ("folder", "build", "go_tests", "changes"):
            monkeypatch.setattr(collector_upgrade, f"_{name}", step(name))
        monkeypatch.setattr(collector_upgrade, "_pytest", tests)
        monkeypatch.setattr(collector_upgrade.checker.COLLECTORS, "describe", lambda *_, **__: described)
        return collector_upgrade.raise_to(NEW, regenerate=False)

    return run


FAILED = UpgradeOutcome("failed", "it did not", ["one thing"])


def test_if_all_passes_the_version_is_the_default(steps: Callable[..., int], checkout: Path) -> None:
    assert steps() == 0
    assert default_version.changes(checkout, NEW) == {}
    assert (checkout / "tests" / "end_to_end" / "proven_flows.json").read_text() == "proven"
    report = (checkout / "build" / "collector-upgrade" / NEW / "report.txt").read_text()
    assert report.count("passed") == 8
    assert "not run" not in report


@pytest.mark.parametrize("name", ["folder", "build", "go_tests", "contract_tests", "gallery", "changes"])
def test_if_a_step_fails_the_default_stays(steps: Callable[..., int], checkout: Path, name: str) -> None:
    before = contents(checkout)

    assert steps(**{name: FAILED}) == 1

    report = (checkout / "build" / "collector-upgrade" / NEW / "report.txt").read_text()
    after = {path: text for path, text in contents(checkout).items() if not path.startswith("build/")}
    assert after == before
    assert "one thing" in report
    assert "not run  places" in report
    # What does not need the failed step's result is done all the same.
    assert report.count("not run") == {"folder": 7, "build": 6}.get(name, 1)


def test_a_reduced_build_never_becomes_the_default(
    steps: Callable[..., int], checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert steps(lacks=[{"kind": "receiver", "type": "sum"}]) == 1
    assert default_version.default(checkout) == OLD
    printed = capsys.readouterr()
    assert "the build is reduced: it lacks 1 components" in printed.out
    assert f"{NEW} is not made the default collector, which stays {OLD}" in printed.err


def test_a_step_that_is_interrupted_ends_its_command_and_is_in_the_report(tmp_path: Path) -> None:
    run = Raise(NEW, OLD, tmp_path, UpgradeProgress(NEW))
    pid = tmp_path / "pid"

    def work() -> UpgradeOutcome:
        run.run("slow", [sys.executable, "-c", f"import os; open({str(pid)!r}, 'w').write(str(os.getpid()))"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.step("slow", work)

    assert next(line for line in run.report.lines() if "slow" in line).split()[0] == "failed"


def test_a_commands_lines_are_shown_as_they_come_and_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Raise(NEW, OLD, tmp_path, UpgradeProgress(NEW))

    status, lines = run.run("some", ["sh", "-c", "echo one; echo two >&2; exit 3"])

    assert (status, lines) == (3, ["one", "two"])
    assert capsys.readouterr().out == "  one\n  two\n"
    assert (tmp_path / "some.log").read_text() == "one\ntwo\n"
