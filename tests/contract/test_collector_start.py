"""What a collector has initialized when it begins to work, as Go's runtime traces it."""

import subprocess
from pathlib import Path

import pytest

from headgate.checker.installed import Installed
from headgate.settings import settings
from tests.support.second_version import versions_in_turn

pytestmark = [pytest.mark.contract, pytest.mark.sized]

OURS = "github.com/headgate/headgate/layers/collector/internal"


def initialized(version: str, argument: str) -> list[tuple[str, int]]:
    """The packages that a start with that argument initializes, in order, with the bytes that each allocates."""
    done = subprocess.run(
        [Installed(Path(settings().collectors_dir)).binary(version), argument],
        env={"GODEBUG": "inittrace=1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
    lines = [line.split() for line in done.stderr.splitlines() if line.startswith("init ")]
    return [(words[1], int(words[7])) for words in lines]


@pytest.mark.parametrize("version", versions_in_turn(0))
def test_the_process_that_confines_itself_does_not_wait_for_the_components(version: str) -> None:
    confining, whole = initialized(version, "sandbox-init"), initialized(version, "--version")

    assert f"{OURS}/sandbox" in dict(whole)
    assert f"{OURS}/sandbox" not in dict(confining)
    assert len(confining) < len(whole) / 3


@pytest.mark.parametrize("version", versions_in_turn(1))
def test_garbage_is_not_collected_while_most_packages_are_initialized(version: str) -> None:
    whole = initialized(version, "--version")
    begun = [name for name, _ in whole].index(f"{OURS}/startup")

    assert sum(size for _, size in whole[begun:]) > 0.6 * sum(size for _, size in whole)
