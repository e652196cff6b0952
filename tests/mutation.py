"""Mutation scores: what share of small mistakes in the rules of a package its tests notice.

pip install cosmic-ray, in an environment of its own; then with that environment's folder of programs:

python -m tests.mutation --programs PATH/bin [--package rollouts] [--mutants 60] [--minutes 10]

Cosmic Ray makes the mutants. A sample, the same one for the same sources, is tried on a copy of the checkout, each
with the tests that run a changed line.
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
_FOLDERS: Final = ("cli", "docs", "engine", "functions", "local", "scripts", "shared", "statemachines", "tests")
_FILES: Final = ("pyproject.toml", "template.yaml", "layers/collector/versions/DEFAULT")
# Decorators, and the `|` of types, are no behaviour that a test could see.
_LEFT_OUT: Final = ("core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr")
# What Cosmic Ray's interpreter runs to write sources of mutants, and their differences from today's. Some mutants, such
# as that of the `*` before named arguments, cannot be compiled.
_MUTATED: Final = """\
import difflib, json, sys
from pathlib import Path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
most = int(sys.argv[1])
for job in json.load(sys.stdin):
    source = Path(job["path"]).read_text()
    mutated = mutate_code(source, get_operator(job["operator"])(**job["arguments"]), job["occurrence"])
    try:
        compile(mutated, job["path"], "exec")
    except SyntaxError:
        continue
    lines = difflib.unified_diff(source.splitlines(), mutated.splitlines(), job["path"], job["path"], n=0, lineterm="")
    print(json.dumps({**job, "source": mutated, "difference": "\\n".join(lines)}))
    most -= 1
    if most == 0:
        break
"""


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
        [f"shared/headgate/opamp/{name}.py" for name in ("decision", "pace", "reasons")],
        [
            *("tests/unit/test_opamp*.py", "tests/unit/test_healthy_versions.py", "tests/api/test_opamp_intervals.py"),
            *("tests/api/test_opamp_states.py", "tests/api/test_opamp_order.py", "tests/api/test_opamp_limit.py"),
            *("tests/api/test_instance_orders.py", "tests/api/test_host_keys.py"),
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
                "tests/unit/test_configuration_rules.py",
                "tests/unit/test_instance_rules.py",
                "tests/unit/test_webhook_rules.py",
                "tests/unit/test_going_back.py",
                "tests/unit/test_opamp_decisions.py",
                "tests/api/test_configurations.py",
            ),
            *("tests/unit/test_stored_items.py", "tests/api/test_opamp_states.py", "tests/api/test_webhooks.py"),
        ],
    ),
    "fleets": Package(
        [f"shared/headgate/fleets/{name}.py" for name in ("model", "service", "store", "tokens")],
        [
            *(f"tests/api/test_{name}.py" for name in ("fleets", "fleet_tokens", "fleet_deletion", "token_*")),
            "tests/unit/test_fleet_rules.py",
        ],
    ),
    "identity": Package(
        [
            f"shared/headgate/identity/{name}.py"
            for name in ("attempts", "checks", "invitations", "logins", "members", "model", "passwords", "sessions")
        ],
        [
            f"tests/api/test_{name}.py"
            for name in ("checks", "guessing", "identity_api", "invitations", "logins", "people", "sessions")
        ],
    ),
    "rules": Package(
        [
            *(f"shared/headgate/runs/rules/{name}.py" for name in ("model", "service", "store")),
            *(f"engine/headgate_engine/rules/{name}.py" for name in ("engine", "model", "outputs")),
        ],
        [
            *(f"tests/api/test_{name}.py" for name in ("rules", "runs", "run_steps", "pages_rules", "suites")),
            "tests/unit/test_suite_results.py",
        ],
    ),
    "runs": Package(
        [f"shared/headgate/runs/{name}.py" for name in ("lifecycle", "model", "queue", "service", "turns")],
        [*(f"tests/api/test_{name}.py" for name in ("runs", "run_*", "jobs")), "tests/unit/test_run_queue.py"],
    ),
    "storage": Package(
        [
            *(f"shared/headgate/storage/{name}.py" for name in ("items", "objects", "retry", "sealed", "stored")),
            *("shared/headgate/storage/table.py", "shared/headgate/http/pagination.py"),
        ],
        [
            *(f"tests/api/test_{name}.py" for name in ("table", "objects", "conditional_saves", "http")),
            *(f"tests/unit/test_{name}.py" for name in ("items", "pages_table", "retry")),
            *("tests/unit/test_stored_*.py", "tests/contract/test_sealed.py"),
        ],
    ),
    "captures": Package(
        [f"shared/headgate/captures/{name}.py" for name in ("hosts", "model", "samples", "service", "store")],
        ["tests/api/test_captures.py", "tests/api/test_pages_captures.py", "tests/unit/test_capture_rules.py"],
    ),
    "archives": Package(
        ["shared/headgate/backup"],
        [f"tests/{name}.py" for name in ("api/test_backup*", "unit/test_archive_values")],
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=Path(sys.executable).parent, help="where cosmic-ray is")
    parser.add_argument("--package", choices=PACKAGES, action="append")
    parser.add_argument("--mutants", type=int, default=60, help="how many of each package; 0 for all")
    parser.add_argument("--minutes", type=float, default=60, help="try no further ones of a package after so many")
    options = parser.parse_args()
    for name in options.package or PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            results = _try(PACKAGES[name], Path(folder), options.programs, options.mutants, options.minutes)
        survivors = [result["difference"] for result in results if result["survived"]]
        killed = len(results) - len(survivors)
        print(f"{name}: {killed} of {len(results)} mutants are noticed, {100 * killed / max(1, len(results)):.0f} %")
        print(*survivors, sep="\n", flush=True)


def _try(package: Package, folder: Path, programs: Path, most: int, minutes: float) -> list[dict[str, Any]]:
    """Return what became of each mutant that was tried."""
    for name in (*_FOLDERS, *_FILES):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    (folder / "mutants.json").write_text(json.dumps(_mutants(package, folder, programs, most)))
    tests = [str(path.relative_to(folder)) for pattern in package.tests for path in sorted(folder.glob(pattern))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *(str(folder / name) for name in _FOLDERS)]),
        # A mutant is often as long as its source, and written in the same second.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "tests.support.mutants", "mutants.json", str(minutes), *tests]
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    results: list[dict[str, Any]] = json.loads((folder / "mutants.json.results").read_text())
    return results


def _mutants(package: Package, folder: Path, programs: Path, most: int) -> list[dict[str, Any]]:
    """Return a sample of the mutants of the package's modules, each with its source."""
    (folder / "mutation.toml").write_text(
        f"[cosmic-ray]\nmodule-path = {list(package.modules)}\ntimeout = 1\nexcluded-modules = []\n"
        'test-command = ""\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    subprocess.run([programs / "cosmic-ray", "init", "mutation.toml", "mutants.sqlite"], cwd=folder, check=True)
    with sqlite3.connect(folder / "mutants.sqlite") as database:
        columns = "module_path, start_pos_row, start_pos_col, operator_name, operator_args, occurrence, end_pos_row"
        rows = database.execute(f"SELECT {columns} FROM mutation_specs ORDER BY {columns}").fetchall()
    jobs = [
        {"path": row[0], "lines": [row[1], row[6]], "operator": row[3], "arguments": _of(row[4]), "occurrence": row[5]}
        for row in rows
        if not row[3].startswith(_LEFT_OUT)
    ]
    done = subprocess.run(
        [programs / "python", "-c", _MUTATED, str(most)],
        cwd=folder,
        input=json.dumps(random.Random(1).sample(jobs, len(jobs))).encode(),
        check=True,
        stdout=subprocess.PIPE,
    )
    return [{**json.loads(line), "at": at} for at, line in enumerate(done.stdout.splitlines())]


def _of(arguments: str | None) -> dict[str, Any]:
    """The arguments of an operator, which Cosmic Ray stores as the JSON of their JSON."""
    parsed: dict[str, Any] = json.loads(json.loads(arguments or '"{}"') or "{}")
    return parsed


if __name__ == "__main__":
    main()
