"""Mutation scores: what share of small mistakes in the rules of a package its tests notice.

pip install cosmic-ray, in an environment of its own; then with that environment's folder of programs:

python -m tests.mutation --programs PATH/bin [--package rollouts] [--mutants 60] [--minutes 10]

Cosmic Ray makes the mutants. A sample, the same one for the same sources, is tried on a copy of the checkout.
"""

import argparse
import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_FOLDERS: Final = ("cli", "docs", "engine", "functions", "local", "scripts", "shared", "statemachines", "tests")
_FILES: Final = ("pyproject.toml", "template.yaml", "layers/collector/versions/DEFAULT")
_SECONDS: Final = 120
# Decorators, and the `|` of types, are no behaviour that a test could see.
_LEFT_OUT: Final = ("core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr")


@dataclass(frozen=True, slots=True)
class Package:
    modules: Sequence[str]
    tests: Sequence[str]


PACKAGES: Final[Mapping[str, Package]] = {
    "rollouts": Package(
        [f"shared/headgate/rollouts/{name}.py" for name in ("model", "strategy", "gates", "figures", "hosts", "state")],
        ["tests/unit/test_rollout*.py", "tests/unit/test_going_back.py"],
    ),
    "opamp": Package(
        [f"shared/headgate/opamp/{name}.py" for name in ("decision", "pace", "intervals", "reasons")],
        [
            *("tests/unit/test_opamp*.py", "tests/unit/test_healthy_versions.py", "tests/api/test_opamp_intervals.py"),
            *("tests/api/test_opamp_states.py", "tests/api/test_opamp_order.py"),
        ],
    ),
    "checker pool": Package(
        ["engine/headgate_engine/checker/pool.py"],
        [
            "tests/unit/test_checker_pool.py",
            "tests/unit/test_checker_supervision.py",
            "tests/unit/test_checker_tenants.py",
        ],
    ),
    "models": Package(
        [
            *("shared/headgate/instances/state/model.py", "shared/headgate/instances/state/transitions.py"),
            *("shared/headgate/configurations/model.py", "shared/headgate/webhooks/model.py"),
        ],
        [
            *(
                "tests/unit/test_going_back.py",
                "tests/unit/test_opamp_decisions.py",
                "tests/api/test_configurations.py",
            ),
            *("tests/unit/test_stored_items.py", "tests/api/test_opamp_states.py", "tests/api/test_webhooks.py"),
        ],
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=Path(sys.executable).parent, help="where cosmic-ray is")
    parser.add_argument("--package", choices=PACKAGES, action="append")
    parser.add_argument("--mutants", type=int, default=60, help="how many of each package; 0 for all")
    parser.add_argument("--minutes", type=float, help="try no further ones of a package after so many")
    options = parser.parse_args()
    for name in options.package or PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            program = options.programs / "cosmic-ray"
            tried, survivors = _try(PACKAGES[name], Path(folder), program, options.mutants, options.minutes)
        killed = tried - len(survivors)
        print(f"{name}: {killed} of {tried} mutants are noticed, {100 * killed / max(1, tried):.0f} %", flush=True)
        for difference in survivors:
            print(difference, flush=True)


def _try(package: Package, folder: Path, program: Path, most: int, minutes: float | None) -> tuple[int, list[str]]:
    """Return how many mutants were tried, and the differences of those that no test noticed."""
    for name in (*_FOLDERS, *_FILES):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    tests = [str(path.relative_to(folder)) for pattern in package.tests for path in sorted(folder.glob(pattern))]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not full", *tests]
    (folder / "mutation.toml").write_text(
        f"[cosmic-ray]\nmodule-path = {list(package.modules)}\ntimeout = {_SECONDS}\nexcluded-modules = []\n"
        f'test-command = "{shlex.join(command)}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / name) for name in _FOLDERS)}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    subprocess.run([program, "init", "mutation.toml", "mutants.sqlite"], cwd=folder, env=environment, check=True)
    with sqlite3.connect(folder / "mutants.sqlite") as database:
        order = "module_path, start_pos_row, start_pos_col, operator_name, operator_args, occurrence"
        rows = database.execute(f"SELECT job_id, operator_name FROM mutation_specs ORDER BY {order}").fetchall()
        jobs = [job for job, operator in rows if not operator.startswith(_LEFT_OUT)]
        chosen = random.Random(1).sample(jobs, most) if 0 < most < len(jobs) else jobs
        for table in ("mutation_specs", "work_items"):
            database.executemany(
                f"DELETE FROM {table} WHERE job_id = ?",
                [(job,) for (job,) in database.execute(f"SELECT job_id FROM {table}") if job not in chosen],
            )
    trying = [str(program), "exec", "mutation.toml", "mutants.sqlite"]
    seconds = None if minutes is None else 60 * minutes
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(trying, cwd=folder, env=environment, check=True, timeout=seconds)
    with sqlite3.connect(folder / "mutants.sqlite") as database:
        ((tried,),) = database.execute("SELECT count(*) FROM work_results WHERE worker_outcome = 'NORMAL'")
        return tried, list(_survivors(database))


def _survivors(database: sqlite3.Connection) -> Iterator[str]:
    for (difference,) in database.execute("SELECT diff FROM work_results WHERE test_outcome = 'SURVIVED'"):
        yield difference


if __name__ == "__main__":
    main()
