"""How long the command line takes to start, against an interpreter that does nothing and one that imports what it must.

python -m tests.benchmarks.bench_cli [--times 20]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.support.service import ROOT, running_service

_CLI = ["-m", "headgate_cli.main"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "edge.yaml").write_text((Path(__file__).parent / "hundred_lines.yaml").read_text())
        with running_service(data / "service") as service:
            here = {"HEADGATE_URL": service.base_url, "SERVICE_API_TOKEN": service.read_write_token}
            compared = {
                "python -c pass": ["-c", "pass"],
                "python -c 'import click'": ["-c", "import click"],
                "python -c 'import click, httpx'": ["-c", "import click, httpx"],
                "headgate --help": [*_CLI, "--help"],
                "headgate config push --help": [*_CLI, "config", "push", "--help"],
                "headgate whoami": [*_CLI, "whoami"],
                "headgate validate edge.yaml (100 lines)": [*_CLI, "validate", "edge.yaml"],
            }
            found = _measured(compared, data, here, times)
    base = found["python -c pass"]
    print(f"{'':<44} {'median ms':>10} {'least ms':>10} {'x base':>8}")
    for name, milliseconds in found.items():
        ratio = median(milliseconds) / median(base)
        print(f"{name:<44} {median(milliseconds):>10.1f} {min(milliseconds):>10.1f} {ratio:>8.1f}")


def _measured(compared: dict[str, list[str]], folder: Path, here: dict[str, str], times: int) -> dict[str, list[float]]:
    """Milliseconds of each, taken in turns, so that a busy moment is everybody's."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        **here,
    }
    found: dict[str, list[float]] = {name: [] for name in compared}
    # One round more, which writes the byte code.
    for turn in range(times + 1):
        for name, arguments in compared.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
            if turn:
                found[name].append((time.perf_counter() - started) * 1000)
    return found


if __name__ == "__main__":
    main()
