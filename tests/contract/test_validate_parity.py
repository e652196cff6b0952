"""Our verdict against that of the plain command: over the configurations of the linked modules, and over broken ones.

On each change both collectors are asked about a part, the default one about more, and in `make trust` about all. The
first time takes longer, because the plain command starts once for each text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support import sizes, verdict_parity
from tests.support.askers import ASKER
from tests.support.second_version import needs_second_version, second_version
from tests.support.verdict_parity import ASKS_THE_MACHINE, READS_OUTSIDE, Plain, ask, compare, for_build, says

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

NOP = "receivers:\n  nop:\nexporters:\n  nop:\nservice:\n  pipelines:\n    traces:\n      {}\n"
VALID = NOP.format("receivers: [nop]\n      exporters: [nop]")

HOSTILE = {
    "a megabyte of nested lists": "receivers: " + "[" * 500_000 + "]" * 500_000,
    "nested mappings": "receivers:\n  nop:\n    a: " + "{a: " * 300 + "}" * 300 + "\n" + VALID.split("\n", 2)[2],
    "blocks nested": "".join(" " * depth + "a:\n" for depth in range(300)),
    "aliases that blow up": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    + VALID,
    "merges that blow up": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 22))
    + VALID,
    "a megabyte of text": VALID.replace("nop:", 'nop: "' + "x" * 1_000_000 + '"', 1),
    "braces that never close": VALID.replace("nop:", 'nop: "' + "${" * 100_000 + '}"', 1),
    "a hundred documents": "---\na: 1\n" * 100,
    "many pipelines": NOP.format(
        "receivers: [nop]\n      exporters: [nop]"
        + "".join(f"\n    traces/{n}:\n      receivers: [nop]\n      exporters: [nop]" for n in range(300))
    ),
}

DEFAULT = settings().collector_version
SECOND = second_version() or "second version"


@dataclass(frozen=True)
class Version:
    """A collector, and the texts it is asked about: all of a kind, or a part."""

    name: str
    checker: Checker
    lacks: frozenset[tuple[str, str]]
    published: Mapping[str, str]
    broken: Mapping[str, str]
    broken_by_rule: Mapping[str, str]
    verdicts: Mapping[str, Plain]

    @property
    def texts(self) -> dict[str, str]:
        return {**self.published, **self.broken, **self.broken_by_rule}

    def all_equal(self, texts: Mapping[str, str]) -> str:
        """What was compared, in words; fails with every text on which the two disagree."""
        comparison = compare(self.checker, texts, self.verdicts)
        assert comparison.differing == []
        # A whole build has an answer to everything.
        assert bool(self.lacks) or comparison.not_in_build == []
        assert len(comparison.equal) >= 15
        refused = sum(not self.verdicts[texts[name]].valid for name in comparison.equal)
        return (
            f"{len(texts)} compared on {self.name}, {len(comparison.equal)} of them equal, {refused} of these refused,"
            f" {len(comparison.not_in_build)} with a component that the build lacks,"
            f" and {len(comparison.crashing)} on which both crash"
        )


def part(texts: Mapping[str, str], step: int) -> dict[str, str]:
    return {name: texts[name] for name in list(texts)[::step]}


@pytest.fixture(scope="module", params=[DEFAULT, pytest.param(SECOND, marks=needs_second_version)])
def version(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Version]:
    name = request.param
    installed = Installed(Path(settings().collectors_dir))
    checker = Checker(installed, name, Limits(processes=1, request_seconds=60))
    described = checker.describe(name, asker=ASKER)
    lacks = frozenset((one["kind"], one["type"]) for one in described["lacks"])
    whole = verdict_parity.published(name)
    assert len(whole) > 200
    published = part(whole, sizes.either(4 if name == DEFAULT else 12, 1))
    broken = verdict_parity.broken(lacks)
    assert len(broken) >= 60
    by_rule = part(verdict_parity.broken_by_rule(whole), sizes.either(12, 1))
    hostile = [for_build(text, lacks) for text in HOSTILE.values()]
    asked = [*published.values(), *broken.values(), *by_rule.values(), *hostile]
    verdicts = verdict_parity.plain_verdicts(installed.binary(name), asked, tmp_path_factory.mktemp("plain"))
    yield Version(name, checker, lacks, published, broken, by_rule, verdicts)
    checker.close()


@pytest.mark.parametrize("kind", ["published", "broken", "broken_by_rule"])
def test_the_verdict_is_that_of_the_plain_command(
    version: Version, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = version.all_equal(getattr(version, kind))

    with capsys.disabled():
        print(f"\n{kind}: {counts}")


def test_every_broken_configuration_is_refused(version: Version) -> None:
    assert [name for name, text in version.broken.items() if version.verdicts[text].valid] == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_gets_the_verdict_of_the_plain_command(version: Version, name: str) -> None:
    text = for_build(HOSTILE[name], version.lacks)

    assert compare(version.checker, {name: text}, version.verdicts).equal == [name]


def test_the_second_time_in_one_process_the_verdict_is_the_same(version: Version) -> None:
    version.all_equal(dict(reversed(version.texts.items())))


def test_every_refusal_of_the_plain_command_is_explained_in_its_own_words(version: Version) -> None:
    unexplained = []
    # If a rule has made several errors, the plain command may name another one first.
    for name, text in {**version.published, **version.broken}.items():
        plain = version.verdicts[text]
        if plain.valid or READS_OUTSIDE.search(text) or ASKS_THE_MACHINE.search(plain.message):
            continue
        answer = ask(version.checker, text)
        if answer and not any(says(plain.message, error) for error in answer["errors"]):
            unexplained.append((name, plain.message, [error["message"] for error in answer["errors"]]))

    assert unexplained == []


def test_every_finding_is_placed_in_the_text(version: Version) -> None:
    for name, text in version.texts.items():
        lines = text.split("\n")
        # The check process would end as the plain command does.
        answer = None if "panic: " in version.verdicts[text].message else ask(version.checker, text)
        for finding in answer["errors"] if answer else []:
            assert 1 <= finding["line"] <= len(lines), name
            assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1, name
            assert finding["component_path"] or finding["code"] == "yaml_syntax", name


def test_what_would_be_read_from_outside_is_refused_even_where_it_exists(version: Version, tmp_path: Path) -> None:
    outside = tmp_path / "verbosity"
    outside.write_text("basic")
    valid = for_build(VALID, version.lacks)
    text = valid.replace("exporters:\n  nop:", f"exporters:\n  nop:\n  debug:\n    verbosity: ${{file:{outside}}}")

    result = ask(version.checker, text)

    assert result is not None
    assert result["valid"] is False
    assert [error["code"] for error in result["errors"]] == ["provider_not_allowed"]
