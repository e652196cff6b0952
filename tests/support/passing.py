"""Counts the modules of shared/headgate that a call passes through, and how often it comes back to one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

HEADGATE: Final = f"{Path(__file__).parents[2] / 'shared' / 'headgate'}/"
PLUMBING: Final = ("foundation/", "storage/")
"""What any request passes through is not counted."""


@dataclass
class Passage:
    """The modules in the order in which they were called, each time from another one."""

    calls: list[str] = field(default_factory=list)

    @property
    def modules(self) -> set[str]:
        return set(self.calls)

    @property
    def returns(self) -> int:
        """How often a module was called that had been left before."""
        return len(self.calls) - len(self.modules)

    def __str__(self) -> str:
        return f"{len(self.modules)} modules, {len(self.calls)} calls between them, {self.returns} returns"


@contextmanager
def passing() -> Iterator[Passage]:
    """Watch the calls of this thread."""
    passage = Passage()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (module := _module(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and _module(caller) is None:
            caller = caller.f_back
        if caller is None or _module(caller) != module:
            passage.calls.append(module)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield passage
    finally:
        sys.setprofile(before)


def _module(frame: FrameType) -> str | None:
    """The file below shared/headgate; None for other code, for imports and for the plumbing."""
    path, name = frame.f_code.co_filename, frame.f_code.co_name
    if not path.startswith(HEADGATE) or name == "<module>":
        return None
    module = path.removeprefix(HEADGATE)
    return None if module.startswith(PLUMBING) else module
