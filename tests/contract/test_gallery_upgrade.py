"""The upgrade of every flow of the gallery, told by the two real collectors.

On each change a sixth of the flows is checked, in `make trust` all of them.
"""

import pytest

from headgate import checker
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import CheckRequest, ComponentNotInBuild
from scripts import gallery_upgrade
from tests.support import sizes
from tests.support.askers import ASKER
from tests.support.second_version import needs_second_version, older_and_newer

OLDER, NEWER = older_and_newer()

pytestmark = [
    pytest.mark.contract,
    pytest.mark.collector,
    pytest.mark.sized,
    needs_second_version,
    pytest.mark.usefixtures("own_checker"),
]

SLUGS = gallery_upgrade.slugs()[:: sizes.either(6, 1)]


@pytest.fixture(scope="module")
def reports() -> dict[str, UpgradeReport]:
    """The report of each flow."""
    return {slug: gallery_upgrade.check(slug, OLDER, NEWER) for slug in SLUGS}


@pytest.fixture(scope="module")
def renamed() -> set[tuple[str, str]]:
    """The old and the new name of each component that the newer collector itself calls renamed."""
    described = checker.COLLECTORS.describe(NEWER, asker=ASKER)
    components = described["components"]
    assert isinstance(components, list)
    return {(one["deprecated_type"], one["type"]) for one in components if one["deprecated_type"]}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_verdicts_are_those_of_each_collector_and_what_is_new_has_its_place(
    reports: dict[str, UpgradeReport], slug: str
) -> None:
    report = reports[slug]
    yaml = (gallery_upgrade.FLOWS / slug / "collector.yaml").read_text()

    assert report.verdict.source.valid
    assert report.new_errors == report.verdict.target.errors
    assert all(error.line and error.column for error in report.new_errors)
    if report.not_checked:
        assert not report.verdict.target.valid
        with pytest.raises(ComponentNotInBuild):
            validation.validate(yaml, NEWER, asker=ASKER)
    else:
        alone = validation.validate(yaml, NEWER, asker=ASKER)
        assert (report.verdict.target.valid, report.verdict.target.errors) == (alone.valid, alone.errors)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_rename_is_one_that_the_collector_itself_knows(
    reports: dict[str, UpgradeReport], renamed: set[tuple[str, str]], slug: str
) -> None:
    report = reports[slug]

    assert {(one.old_type, one.new_type) for one in report.renames} <= renamed
    assert list(report.not_renamed) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_the_fixed_flow_differs_at_the_named_places_only_and_has_nothing_left_to_rename(
    reports: dict[str, UpgradeReport], slug: str
) -> None:
    report = reports[slug]
    before = (gallery_upgrade.FLOWS / slug / "collector.yaml").read_text()
    if report.proposed_yaml is None:
        assert list(report.renames) == []
        return
    expected = before.split("\n")
    for rename in sorted(report.renames, key=lambda one: (one.line, one.column), reverse=True):
        line, at = expected[rename.line - 1], rename.column - 1
        assert line.startswith(rename.old_type, at)
        expected[rename.line - 1] = line[:at] + rename.new_type + line[at + len(rename.old_type) :]
    assert report.proposed_yaml.split("\n") == expected
    if report.verdict.target.valid:
        assert validation.validate(report.proposed_yaml, NEWER, asker=ASKER).valid
    again = gallery_upgrade.upgrades.check(
        CheckRequest(report.proposed_yaml, None, {}, loc=()), NEWER, NEWER, asker=ASKER
    )
    assert (again.renames, again.proposed_yaml) == ([], None)


def test_the_report_of_the_gallery_is_printed(
    reports: dict[str, UpgradeReport], capsys: pytest.CaptureFixture[str]
) -> None:
    printed = list(gallery_upgrade.lines(reports))
    with capsys.disabled():
        print(f"\nThe gallery on {NEWER}, from {OLDER}:", *printed, sep="\n")

    assert sum(f"of {len(SLUGS)} flows" in line for line in printed) >= 1
    assert all(any(line.startswith(f"{slug}: ") for line in printed) for slug in SLUGS)
