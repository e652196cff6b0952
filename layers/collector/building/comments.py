"""Puts what the sources of a collector's modules say of their settings into the program."""

import json
import os
import subprocess
from pathlib import Path

from building import toolchain
from building.cache import Cache
from building.errors import BuildError

PACKAGES = "{{.ImportPath}}\t{{.Dir}}\t{{with .Module}}{{.Path}}\t{{.Dir}}{{else}}\t{{end}}\t{{join .GoFiles ` `}}"
"""The format of `go list` in which the program `extract` reads the packages."""


def overlay(cache: Cache, shared: Path, packages: str, env: dict[str, str], scratch: Path) -> Path:
    """Extract the texts of these packages to `scratch`, and return the file for `go build -overlay` that embeds them.

    `env` is the environment of a build for this machine. Raises BuildError.
    """
    program = shared / "extract"
    go = toolchain.go(cache, program)
    texts = scratch / "comments.json.gz"
    done = subprocess.run(
        [go, "run", "-trimpath", "-buildvcs=false", ".", str(texts)],
        cwd=program,
        env=env | {"PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}"},
        input=packages,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(
            f"The descriptions of the settings could not be extracted. Its error:\n{done.stderr.strip()[-2000:]}"
        )
    replaced = scratch / "overlay.json"
    replaced.write_text(json.dumps({"Replace": {str(shared / "internal/comments/comments.json.gz"): str(texts)}}))
    return replaced
