"""How long each function of the template takes to import, and what the first request to a part of it adds.

Processor time of a new interpreter, without a client of AWS, the least of some tries, with modules that are compiled
already. Baseline: an interpreter that imports the web framework and boto3. The packages that take most are named, by
their own modules' time.
"""

import re
import subprocess
import sys
from collections import Counter
from importlib import import_module

from headgate.http.parts import Part
from headgate_local import template

TRIES = 5
BASELINE = "fastapi, boto3"
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def main() -> None:
    framework = milliseconds(BASELINE)
    print(f"import {BASELINE}: {framework:.0f} ms")
    print(f"{'function':<26} {'ms':>5} {'of it':>6} {'modules':>8}  most, ms")
    for function in template.read().functions():
        module = function.handler.rpartition(".")[0]
        spent = milliseconds(module)
        most = ", ".join(f"{name} {own / 1000:.0f}" for name, own in packages(module).most_common(4))
        print(f"{function.logical_id:<26} {spent:>5.0f} {spent / framework:>5.1f}x {modules(module):>8}  {most}")
        for part in parts(module):
            print(f"  + {part:<40} {milliseconds(part, after=module):>5.0f}")


def parts(module: str) -> list[str]:
    members = getattr(getattr(import_module(module), "app", None), "state", None)
    return [] if members is None else [member.module for member in members.members if isinstance(member, Part)]


def milliseconds(module: str, after: str = "sys") -> float:
    """The least processor time of some tries, without that of what was imported before."""
    script = f"import time, {after}; begun = time.process_time(); import {module}; print(time.process_time() - begun)"
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
