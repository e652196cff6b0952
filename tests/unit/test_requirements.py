"""The locks of requirements/: who includes another list installs all of it."""

import re
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "requirements"


def _locked(name: str) -> set[str]:
    return set(re.findall(r"^[\w.-]+==[^\s;\\]+", (_FOLDER / f"{name}.txt").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(("including", "included"), [("local", "lambda"), ("run", "local"), ("dev", "local")])
def test_a_lock_has_all_that_its_list_includes(including: str, included: str) -> None:
    assert f"-r {included}.in" in (_FOLDER / f"{including}.in").read_text(encoding="utf-8").splitlines()
    assert _locked(included) - _locked(including) == set()
