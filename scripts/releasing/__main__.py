"""Makes a release in a folder: `make release`, or by hand `python -m scripts.releasing`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from headgate.installs import publish
from headgate.installs.releases import SYSTEMS
from scripts.releasing import images, papers, programs, sam, wheels
from scripts.releasing.source import ROOT, CannotRelease, CheckoutSource, copy

PARTS = ("wheels", "images", "sam", "hosts")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--into", type=Path, default=ROOT / "dist", help="the folder; an earlier release in it is removed first"
    )
    parser.add_argument(
        "--architecture",
        action="append",
        choices=programs.ARCHITECTURES,
        help="of the programs, may be repeated; by default this machine's",
    )
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part, may be repeated")
    arguments = parser.parse_args()
    try:
        created = make(
            CheckoutSource.here(), arguments.into, arguments.architecture or [programs.here()], arguments.only or PARTS
        )
    except CannotRelease as error:
        print(error, file=sys.stderr)
        return 1
    for path in created:
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path.name}")
    return 0


def make(source: CheckoutSource, into: Path, architectures: list[str], parts: Sequence[str] = PARTS) -> list[Path]:
    """Write the parts of a release, and the papers of all of them. Raises CannotRelease."""
    if source.changed:
        print("Files differ from the commit: this is a trial and not a release", file=sys.stderr)
    clear(into)
    cache = Path(os.environ["HEADGATE_CACHE"])
    built = [programs.built(architecture) for architecture in architectures]
    created = [wheels.command_line(source, into), wheels.local_service(source, into)]
    for entry in built:
        if "wheels" in parts:
            created.append(wheels.collector(source, entry, into))
        if "images" in parts:
            created.append(images.command_line(source, entry, created[0], cache, into))
            created.append(images.local_service(source, entry, created[:2], cache, into))
        if "sam" in parts:
            created.append(sam.application(source, entry.architecture, into))
        if "hosts" in parts:
            created += _for_hosts(source, entry, into)
    if "hosts" in parts:
        created.append(into / f"headgate-supervisor-chart-{source.version}.tgz")
        created[-1].write_bytes(publish.packed_chart(ROOT / "charts" / "headgate-supervisor"))
    created.append(papers.sbom(source, architectures, into))
    created.append(papers.provenance(source, built, created, into))
    return [*created, papers.sums(created, into)]


def clear(into: Path) -> None:
    """Make the folder, or remove what it holds. Raises CannotRelease if something in it is not a release's."""
    others = [path for path in into.glob("*") if path.is_dir() or not path.name.startswith(("headgate", "SHA256SUMS"))]
    if others:
        raise CannotRelease(f"{into} holds {others[0].name}, which is not of a release: name another folder with INTO")
    if into.exists():
        shutil.rmtree(into)
    into.mkdir(parents=True)


def _for_hosts(source: CheckoutSource, built: wheels.Programs, into: Path) -> list[Path]:
    """The supervisors, as they are installed on hosts of each system."""
    created = []
    for system, name in SYSTEMS.items():
        ending = ".exe" if system == "windows" else ""
        created.append(into / f"headgate-supervisor-{source.version}-{system}-{built.architecture}{ending}")
        copy(programs.supervisor(built.architecture, name), created[-1])
    for path, program in built.programs.items():
        if Path(path).name == "headgate-supervisor":
            created.append(into / f"headgate-supervisor-{source.version}-linux-{built.architecture}")
            copy(program.binary, created[-1])
    return created


if __name__ == "__main__":
    sys.exit(main())
