"""Which collector versions are installed, as their binaries describe themselves."""

from pathlib import Path

import pytest

from headgate import checker
from headgate.checker import CheckerBusy, NoChecker, NotInstalled
from headgate.checker import collector_versions as pages
from headgate_engine.checker import descriptions
from headgate_engine.collectors import service as collectors
from headgate_engine.collectors.model import Capabilities, InstalledVersion, Lacking
from tests.support.askers import ASKER
from tests.support.faulty import VERSION, install

pytestmark = pytest.mark.usefixtures("faulty_checker")

HOSTMETRICS = Lacking("receiver", "hostmetrics")
EVERYTHING = Capabilities(lines=True, lint=True, runs=True, steps=False, upgrade_check=True)


def installed() -> dict[str, InstalledVersion]:
    return {version.version: version for version in collectors.installed(asker=ASKER)}


def test_the_versions_are_listed_newest_first_with_what_each_is(faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.10.0", "reduced")
    install(faulty_collectors / "1.2.4", "release")

    listed = collectors.installed(asker=ASKER)

    assert [(one.version, one.default, one.source, one.reduced) for one in listed] == [
        ("1.10.0", False, "built", True),
        ("1.2.4", False, "official_release", False),
        (VERSION, True, "built", False),
    ]
    assert [list(one.lacks) for one in listed] == [[HOSTMETRICS], [], []]
    assert {one.unusable for one in listed} == {None}


def test_an_official_release_can_be_run_and_not_be_asked(faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.2.4", "release")

    assert installed()["1.2.4"].can == Capabilities(
        lines=False, lint=False, runs=True, steps=False, upgrade_check=False
    )
    assert installed()[VERSION].can == EVERYTHING


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ("crashes", "The collector's checker exited with status 2: panic"),
        ("misdescribed", "The collector describes itself in an unknown form; build it again"),
        ("undescribed", "The collector does not describe itself (unknown_op); build it again"),
        (
            "protocol-2",
            "The collector's checker of '0.0.0' speaks protocol 2, and this Headgate speaks 1: build it again with "
            "`make collector`, or use the Headgate that it came with",
        ),
    ],
)
def test_a_version_that_cannot_be_used_is_listed_with_the_reason(
    faulty_collectors: Path, variant: str, why: str
) -> None:
    install(faulty_collectors / "1.10.0", variant)

    broken, whole = collectors.installed(asker=ASKER)

    assert (broken.version, broken.source, broken.reduced, list(broken.lacks)) == ("1.10.0", None, False, [])
    assert broken.can == Capabilities(lines=False, lint=False, runs=False, steps=False, upgrade_check=False)
    assert broken.unusable == why
    assert whole.can == EVERYTHING


def test_a_file_that_is_not_a_program_does_not_fail_the_list(faulty_collectors: Path) -> None:
    (faulty_collectors / "1.10.0").mkdir()
    (faulty_collectors / "1.10.0" / "otelcol-contrib").write_text("#!/nowhere\n")

    assert installed()["1.10.0"].unusable
    assert installed()[VERSION].unusable is None


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions whose binaries were asked what they are, in order."""
    versions: list[str] = []
    ask = descriptions.Descriptions._ask

    def recorded(self: descriptions.Descriptions, path: Path) -> dict[str, object] | NoChecker | descriptions._Unusable:
        versions.append(path.parent.name)
        return ask(self, path)

    monkeypatch.setattr(descriptions.Descriptions, "_ask", recorded)
    return versions


def test_a_binary_is_asked_once_and_one_in_its_place_again(faulty_collectors: Path, asked: list[str]) -> None:
    install(faulty_collectors / "1.10.0", "release")
    for _ in range(3):
        assert installed()["1.10.0"].source == "official_release"
    install(faulty_collectors / "1.10.0", "reduced")
    for _ in range(3):
        assert installed()["1.10.0"].reduced

    assert sorted(asked) == ["1.10.0", "1.10.0", VERSION]


@pytest.mark.parametrize(("seconds", "times"), [(60, 1), (0, 3)])
def test_a_broken_binary_is_asked_again_after_a_while(
    seconds: float, times: int, faulty_collectors: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descriptions, "_UNUSABLE_SECONDS", seconds)
    install(faulty_collectors / "1.10.0", "crashes")

    for _ in range(3):
        assert installed()["1.10.0"].unusable
    assert asked.count("1.10.0") == times


def test_a_version_that_is_linked_or_removed_later_is_seen_at_once(faulty_collectors: Path, tmp_path: Path) -> None:
    assert list(installed()) == [VERSION]
    install(tmp_path / "elsewhere" / "abc", "reduced")
    (faulty_collectors / "1.10.0").symlink_to(tmp_path / "elsewhere" / "abc")
    assert list(installed()) == ["1.10.0", VERSION]
    (faulty_collectors / "1.10.0").unlink()
    assert list(installed()) == [VERSION]


def test_pages_continue_after_a_version_whether_or_not_it_is_still_there(faulty_collectors: Path) -> None:
    for version in ("1.9.0", "1.10.0", "2.0.0"):
        install(faulty_collectors / version)

    first = pages.listed(2, None, asker=ASKER)
    (faulty_collectors / "1.10.0" / "otelcol-contrib").unlink()
    second = pages.listed(2, first.position, asker=ASKER)

    assert [one.version for one in first.entries] == ["2.0.0", "1.10.0"]
    assert ([one.version for one in second.entries], second.position) == (["1.9.0", VERSION], None)


def test_without_the_default_collector_nothing_is_listed(faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.10.0")
    (faulty_collectors / VERSION / "otelcol-contrib").unlink()

    with pytest.raises(NotInstalled, match=rf"^Collector version {VERSION} is not installed; installed: 1\.10\.0$"):
        collectors.installed(asker=ASKER)


def test_an_outage_is_not_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(**_: object) -> None:
        raise CheckerBusy("All are taken")

    monkeypatch.setattr(checker.COLLECTORS, "described", busy)

    with pytest.raises(CheckerBusy):
        collectors.installed(asker=ASKER)


def test_what_a_version_lacks_is_what_its_build_says(faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.10.0", "reduced")
    install(faulty_collectors / "1.2.4", "release")

    assert collectors.lacks("1.10.0", asker=ASKER) == {HOSTMETRICS}
    assert collectors.lacks(VERSION, asker=ASKER) == frozenset()
    assert collectors.lacks("1.2.4", asker=ASKER) == frozenset()
    with pytest.raises(NotInstalled):
        collectors.lacks("9.9.9", asker=ASKER)
