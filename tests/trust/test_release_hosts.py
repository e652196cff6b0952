"""The supervisors of a release, each for its system. `make trust` only, for four of them are built."""

import hashlib
from pathlib import Path

import pytest

from scripts.releasing import __main__ as release
from scripts.releasing import programs
from scripts.releasing.source import CheckoutSource, version

pytestmark = [pytest.mark.full, pytest.mark.timeout(3_600)]
BEGINNINGS = {"linux": b"\x7fELF", "windows": b"MZ", "macos": b"\xcf\xfa\xed\xfe"}


def test_a_release_has_the_supervisor_of_each_system_with_its_hash(tmp_path: Path) -> None:
    source, architecture = CheckoutSource("0" * 40, 1_763_000_000, False, version()), programs.here()
    created = release.make(source, tmp_path / "dist", [architecture], ["hosts"])
    sums = dict(line.split("  ")[::-1] for line in created[-1].read_text().splitlines())
    for system, beginning in BEGINNINGS.items():
        ending = ".exe" if system == "windows" else ""
        name = f"headgate-supervisor-{version()}-{system}-{architecture}{ending}"
        (program,) = [path for path in created if path.name == name]
        assert program.read_bytes()[:4].startswith(beginning)
        assert sums[name] == hashlib.sha256(program.read_bytes()).hexdigest()
