"""What the parts of the local service (parts.py) know about the whole."""

from dataclasses import dataclass
from pathlib import Path

from headgate_local.template import Template


@dataclass(frozen=True, slots=True)
class Local:
    """The running local service. AWS clients find moto by the environment."""

    template: Template
    aws_url: str
    base_url: str
    data: Path
    collectors: Path
