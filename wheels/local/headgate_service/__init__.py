"""The local service, laid out as in a checkout. `headgate dev` runs it in a process of its own."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent
PYTHONPATH: Final = tuple(str(ROOT / name) for name in ("shared", "engine", "functions", "local"))
