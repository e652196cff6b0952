"""`python -m tests.go_coverage supervisor|collector [MODULE…]`: the share of statements that tests reach, by package.

Modules of Python tests, such as tests/end_to_end/test_supervised_host.py, are run with a supervisor that notes what it
reaches when it ends; one that is killed notes nothing. No collector is built so: it cannot write where it is sealed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.go_programs import go
from tests.support.programs import cached_programs

LAYERS: Final = Path(__file__).resolve().parents[1] / "layers"
CODE: Final = "github.com/headgate/headgate/layers"
FLAGS: Final = ("-trimpath", "-buildvcs=false", "-tags", "grpcnotrace")
# Their sealed processes cannot write what they reached, which would be a failure.
SEALED: Final = "^(TestASealedProcessReachesNothing|TestAProcessThatStartsComponentsOpensNothing)$"
_OWN: Final = re.compile(r"^ok\s+(\S+)\s.*coverage: ([\d.]+)% of statements", re.MULTILINE)


def main(layer: str, modules: list[str]) -> None:
    packages = sorted({file.parent for file in (LAYERS / layer / "internal").rglob("*.go")})
    packages += [LAYERS / layer] if layer == "supervisor" else []
    names = [f"{CODE}/{folder.relative_to(LAYERS)}" for folder in packages]
    version = (LAYERS / "collector" / "versions" / "DEFAULT").read_text().strip()
    home = Path(_printed("building", "sources", version)) if layer == "collector" else LAYERS / layer
    with tempfile.TemporaryDirectory() as folder:
        tests = [go(), "test", "-vet=off", "-skip", SEALED, *FLAGS]
        own = dict(_OWN.findall(_run([*tests, "-cover", *names], home)))
        profiles = [Path(folder) / "tests.out"]
        _run([*tests, f"-coverpkg={','.join(names)}", f"-coverprofile={profiles[0]}", *names], home)
        if modules:
            profiles.append(Path(folder) / "hosts.out")
            with _covering(Path(folder) / "reached") as reached:
                subprocess.run([sys.executable, "-m", "pytest", "-q", *modules], check=True)
            _run([go(), "tool", "covdata", "textfmt", f"-i={reached}", f"-o={profiles[1]}"], home)
        shares = [
            covered(profile.read_text().splitlines() for profile in profiles[: n + 1]) for n in range(len(profiles))
        ]
        print("| Package | Lines | of tests | Own tests | All Go tests |" + " With these modules |" * bool(modules))
        print("|---" * (5 + bool(modules)) + "|")
        for path, name in zip(packages, names, strict=True):
            if name in shares[-1]:
                cells = [path.name, *_lines(path), own.get(name, "0"), *(f"{share[name]:.0f}" for share in shares)]
                print(f"| {' | '.join(cells)} |")


def covered(profiles: Iterable[Iterable[str]]) -> dict[str, float]:
    """The share of each package's statements, in percent, that any of these profiles of Go reaches."""
    blocks: dict[str, tuple[int, bool]] = {}
    for profile in profiles:
        for line in profile:
            place, _, rest = line.partition(" ")
            if rest and place != "mode:":
                statements, times = map(int, rest.split())
                blocks[place] = (statements, times > 0 or blocks.get(place, (0, False))[1])
    total, reached = Counter[str](), Counter[str]()
    for place, (statements, is_reached) in blocks.items():
        package = place.rpartition("/")[0]
        total[package] += statements
        reached[package] += statements * is_reached
    return {package: 100 * reached[package] / statements for package, statements in total.items() if statements}


@contextmanager
def _covering(reached: Path) -> Iterator[Path]:
    """Put a supervisor in the place of the built one that writes to a folder what it reaches."""
    reached.mkdir()
    installed = cached_programs()["headgate-supervisor"].parent
    before = installed.readlink()
    copy = reached.parent / "layers"
    shutil.copytree(LAYERS, copy)
    setting = f'package files\n\nimport "os"\n\nfunc init() {{ os.Setenv("GOCOVERDIR", "{reached}") }}\n'
    (copy / "supervisor" / "internal" / "files" / "covering.go").write_text(setting)
    program = reached.parent / "program" / "headgate-supervisor"
    version = f"-X main.version={_printed('supervisor_build', 'stamp')}"
    build = [go(), "build", "-cover", "-coverpkg=./...", *FLAGS, "-ldflags", version, "-o", str(program), "."]
    _run(build, copy / "supervisor")
    _point(installed, program.parent)
    try:
        yield reached
    finally:
        _point(installed, before)


def _point(link: Path, folder: Path) -> None:
    part = link.with_suffix(".part")
    part.symlink_to(folder)
    part.rename(link)


def _printed(*words: str) -> str:
    """What a module that builds the two programs prints."""
    paths = os.pathsep.join(str(LAYERS / name) for name in ("collector", "supervisor"))
    return _run([sys.executable, "-m", *words], LAYERS, PYTHONPATH=paths).strip()


def _lines(package: Path) -> tuple[str, str]:
    tests = {file: file.name.endswith("_test.go") for file in package.glob("*.go")}
    code, test = (
        sum(len(file.read_text().splitlines()) for file in tests if tests[file] is of_tests)
        for of_tests in (False, True)
    )
    return str(code), str(test)


def _run(command: list[str], folder: Path, **more: str) -> str:
    variables = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOWORK": "off", **more}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:3])} … failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tests.go_coverage", description=__doc__)
    parser.add_argument("layer", choices=("supervisor", "collector"))
    parser.add_argument("modules", nargs="*")
    arguments = parser.parse_args()
    main(arguments.layer, arguments.modules)
