"""Makes a release in a folder: `make release`, or by hand `python -m scripts.releasing`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from headgate.installs import publish
from scripts.releasing import images, papers, programs, sam, wheels
from scripts.releasing.source import ROOT, CannotRelease, Source, copy

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
        made = make(Source.here(), arguments.into, arguments.architecture or [programs.here()], arguments.only or PARTS)
    except CannotRelease as error:
        print(error, file=sys.stderr)
        return 1
    for path in made:
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path.name}")
    return 0


def make(source: Source, into: Path, architectures: list[str], parts: Sequence[str] = PARTS) -> list[Path]:
    """Write the parts of a release, and the papers of all of them. Raises CannotRelease."""
    if source.changed:
        print("Files differ from the commit: this is a trial and not a release", file=sys.stderr)
    clear(into)
    cache = Path(os.environ["HEADGATE_CACHE"])
    built = [programs.built(architecture) for architecture in architectures]
    made = [wheels.command_line(source, into), wheels.local_service(source, into)]
    for one in built:
        if "wheels" in parts:
            made.append(wheels.collector(source, one, into))
        if "images" in parts:
            made.append(images.command_line(source, one, made[0], cache, into))
            made.append(images.local_service(source, one, made[:2], cache, into))
        if "sam" in parts:
            made.append(sam.application(source, one.architecture, into))
        if "hosts" in parts:
            made += _for_hosts(source, one, into)
    if "hosts" in parts:
        made.append(into / f"headgate-supervisor-chart-{source.version}.tgz")
        made[-1].write_bytes(publish.packed_chart(ROOT / "charts" / "headgate-supervisor"))
    made.append(papers.sbom(source, architectures, into))
    made.append(papers.provenance(source, built, made, into))
    return [*made, papers.sums(made, into)]


def clear(into: Path) -> None:
    """Make the folder, or remove what it holds. Raises CannotRelease if something in it is not a release's."""
    others = [one for one in into.glob("*") if one.is_dir() or not one.name.startswith(("headgate", "SHA256SUMS"))]
    if others:
        raise CannotRelease(f"{into} holds {others[0].name}, which is not of a release: name another folder with INTO")
    if into.exists():
        shutil.rmtree(into)
    into.mkdir(parents=True)


def _for_hosts(source: Source, built: wheels.Programs, into: Path) -> list[Path]:
    """The supervisor, as it is installed on a host."""
    made = []
    for path, program in built.programs.items():
        if Path(path).name == "headgate-supervisor":
            made.append(into / f"headgate-supervisor-{source.version}-linux-{built.architecture}")
            copy(program.binary, made[-1])
    return made


if __name__ == "__main__":
    sys.exit(main())
