"""The real Helm, and what it makes of the chart."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "headgate-supervisor"


@cache
def program() -> str:
    """Its path; built at the first use, if it is not in the cache."""
    done = subprocess.run([ROOT / "scripts" / "ensure_helm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run(*arguments: str | Path, home: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Helm with a home of its own and `given` on its standard input, whatever it answers."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "NO_PROXY": "127.0.0.1"}
    command = [program(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, input=given)


def rendered(arguments: Sequence[str | Path], home: Path, given: str = "") -> list[dict[str, Any]]:
    """The objects that `helm template` makes with those arguments."""
    # There is no cluster to ask; and of a build by `go install`, Helm would take it for an old one.
    done = run("template", "--kube-version", "1.33", *arguments, home=home, given=given)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def one_of(objects: Sequence[dict[str, Any]], kind: str, name: str = "") -> dict[str, Any]:
    (found,) = [one for one in objects if one["kind"] == kind and one["metadata"]["name"].endswith(name)]
    return found


def line(command: str, folder: Path) -> tuple[str, list[str]]:
    """What a real shell gives to helm's standard input, and the words of helm, which every user can see."""
    helm = 'cd "$0"\nhelm() { for word in "$@"; do printf \'%s\\0\' "$word"; done >seen; cat; }\n'
    out = subprocess.run(["/bin/sh", "-c", helm + command, folder], capture_output=True, check=True)
    return out.stdout.decode(), (folder / "seen").read_bytes().decode().split("\0")[:-1]
