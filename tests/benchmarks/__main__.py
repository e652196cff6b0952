"""Every benchmark, one after the other: `make bench`, or `make bench ONLY=validate`.

Figures mean something only beside the baseline of the same run; nothing here passes or fails.
"""

import importlib
import os
import platform
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def run(only: str) -> None:
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    for file in sorted(HERE.glob("bench_*.py")):
        name = file.stem.removeprefix("bench_")
        if only and name != only:
            continue
        started = time.perf_counter()
        print(f"\n== {name}", flush=True)
        sys.argv = [file.name]
        importlib.import_module(f"tests.benchmarks.{file.stem}").main()
        print(f"({time.perf_counter() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    run(os.environ.get("ONLY", ""))
