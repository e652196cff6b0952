"""Keeps what the service never uses out of its start."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

_BATCH: Final = "moto.batch"


def leave_out_batch() -> None:
    """Make moto's interpreter of state machines start without moto's AWS Batch, and EC2 behind it.

    The interpreter takes one list of names from `moto.batch.utils`. The package around that module loads all of EC2's
    description, which was two thirds of the service's start.
    """
    if _BATCH in sys.modules:
        return
    spec = find_spec(_BATCH)
    assert spec is not None, "moto no longer has that package: this function is not needed"
    package = ModuleType(_BATCH)
    package.__path__ = list(spec.submodule_search_locations or [])
    sys.modules[_BATCH] = package
    try:
        import_module(f"{_BATCH}.utils")
    finally:
        # Who asks for AWS Batch itself gets the whole package.
        del sys.modules[_BATCH]
