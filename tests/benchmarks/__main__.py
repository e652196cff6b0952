"""Every benchmark, one after the other: `make bench`, or `make bench ONLY=validate`.

Figures mean something only beside the baseline of the same run; nothing here passes or fails by them.
"""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def run(only: str) -> int:
    """How many could not be run to their end."""
    failed = 0
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        flush=True,
    )
    for file in sorted(HERE.glob("bench_*.py")):
        name = file.stem.removeprefix("bench_")
        if only and name != only:
            continue
        started = time.perf_counter()
        print(f"\n== {name}", flush=True)
        # A process each: settings and caches of one are nothing to the next.
        command = [sys.executable, "-m", f"tests.benchmarks.{file.stem}"]
        failed += subprocess.run(command, env=os.environ | {"POWERTOOLS_LOG_LEVEL": "ERROR"}).returncode != 0
        print(f"({time.perf_counter() - started:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(run(os.environ.get("ONLY", "")))
