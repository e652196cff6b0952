"""How long each function of the template takes to import its handler's module, without a client of AWS.

Processor time of a new interpreter, the least of some tries, with modules that are compiled already. Baseline of a row:
an interpreter that imports the web framework alone. The packages that take most are named, by their own modules' time.
"""

import re
import subprocess
import sys
from collections import Counter

from headgate_local import template

TRIES = 3
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def main() -> None:
    framework = milliseconds("fastapi")
    print(f"{'function':<26} {'ms':>5} {'of fastapi':>11} {'modules':>8}  most, ms")
    for function in template.read().functions():
        module = function.handler.rpartition(".")[0]
        spent = milliseconds(module)
        most = ", ".join(f"{name} {own / 1000:.0f}" for name, own in packages(module).most_common(4))
        print(f"{function.logical_id:<26} {spent:>5.0f} {spent / framework:>10.1f}x {modules(module):>8}  {most}")


def milliseconds(module: str) -> float:
    """The least processor time of some tries."""
    script = f"import time; begun = time.process_time(); import {module}; print(time.process_time() - begun)"
    return min(float(run("-c", script).stdout) for _ in range(TRIES)) * 1000


def modules(module: str) -> int:
    return int(run("-c", f"import sys, {module}; print(len(sys.modules))").stdout)


def packages(module: str) -> Counter[str]:
    """Microseconds of each package's own modules."""
    own: Counter[str] = Counter()
    for line in run("-X", "importtime", "-c", f"import {module}").stderr.splitlines():
        if found := _LINE.match(line):
            parts = found[2].split(".")
            own[".".join(parts[: 2 if parts[0].startswith("headgate") else 1])] += int(found[1])
    return own


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)


if __name__ == "__main__":
    main()
