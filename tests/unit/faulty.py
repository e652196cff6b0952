"""Installing the fault injector where a collector would be."""

import os
import sys
from pathlib import Path

_PROGRAM = Path(__file__).with_name("faulty_collector.py")


def install(folder: Path) -> Path:
    """Put it into `folder` as the collector's binary. It is run by the interpreter itself, not by one of a venv."""
    binary = folder / "otelcol-contrib"
    folder.mkdir(parents=True, exist_ok=True)
    binary.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{_PROGRAM.read_text()}")
    binary.chmod(0o700)
    return binary
