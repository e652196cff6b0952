"""What a collector has initialized when it begins to work, as Go's runtime traces it."""

import re
import subprocess
from pathlib import Path

import pytest

from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from tests.support.second_version import versions_in_turn

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

OURS = "github.com/headgate/headgate/layers/collector/internal"


def traced(version: str, argument: str, trace: str) -> str:
    """What Go's runtime tells of a start with that argument."""
    done = subprocess.run(
        [Installed(Path(settings().collectors_dir)).binary(version), argument],
        env={"GODEBUG": f"{trace}=1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stderr


def initialized(version: str, argument: str) -> dict[str, int]:
    """The packages that are initialized, in order, each with the bytes that it allocates."""
    # init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
    lines = [line.split() for line in traced(version, argument, "inittrace").splitlines() if line.startswith("init ")]
    return {words[1]: int(words[7]) for words in lines}


@pytest.mark.parametrize("version", versions_in_turn(0))
def test_the_process_that_confines_itself_does_not_wait_for_the_components(version: str) -> None:
    confining, whole = initialized(version, "sandbox-init"), initialized(version, "--version")

    assert f"{OURS}/sandbox" in whole
    assert f"{OURS}/sandbox" not in confining
    assert len(confining) < len(whole) / 3


@pytest.mark.parametrize("version", versions_in_turn(1))
def test_garbage_is_not_collected_while_most_packages_are_initialized(version: str) -> None:
    whole = initialized(version, "--version")
    sizes = list(whole.values())
    begun = list(whole).index(f"{OURS}/startup")
    # gc 1 @0.016s 2%: ... 3->4->2 MB, 4 MB goal, ...
    heaps = [int(found) for found in re.findall(r"(\d+)->\d+->\d+ MB,", traced(version, "--version", "gctrace"))]

    before, all_of_it = sum(sizes[:begun]) / 1e6, sum(sizes) / 1e6
    assert before < 0.4 * all_of_it
    # Before that package is initialized garbage is collected, and again when all are.
    assert heaps != []
    assert [heap for heap in heaps if before + 1 < heap < 0.8 * all_of_it] == []
