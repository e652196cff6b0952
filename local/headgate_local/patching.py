"""Replaces attributes of classes and modules, such as moto's, for a while."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

Patch = tuple[type | ModuleType, str, object]
"""The owner of an attribute, the attribute's name, and what replaces it."""


@contextmanager
def patched(patches: Sequence[Patch]) -> Iterator[None]:
    """The attributes are replaced until the end of the `with` block."""
    originals = [(owner, name, vars(owner).get(name)) for owner, name, _ in patches]
    for owner, name, replacement in patches:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original in originals:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
