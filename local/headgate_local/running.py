"""Facts of the whole local service for its parts (parts.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headgate_local.handlers import Handler, imported
from headgate_local.template import Function, Template


@dataclass(frozen=True, slots=True)
class Local:
    """The running local service. AWS clients find moto by the environment. `handler` is how a function is called."""

    template: Template
    aws_url: str
    base_url: str
    data: Path
    collectors: Path
    handler: Callable[[Function], Handler] = imported
