"""Errors always have a sentence: their class states it, or whoever raises one gives it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLASS = re.compile(r"^class (\w+)\(([^)]*)\):\n((?:(?!^\S).*\n)*)", re.MULTILINE)
RAISED = re.compile(r"raise (?:\w+\.)?(\w+)(?:\(\))?(?: from \w+)?$", re.MULTILINE)
FOLDERS = ("engine", "functions", "shared")


def test_an_error_that_is_raised_without_a_sentence_is_of_a_class_that_states_one() -> None:
    texts = [file.read_text() for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    classes = {name: (bases, body) for text in texts for name, bases, body in CLASS.findall(text)}

    def of_ours(name: str) -> bool:
        return name == "HeadgateError" or any(map(of_ours, bases_of(name)))

    def bases_of(name: str) -> list[str]:
        bases = classes[name][0] if name in classes else ""
        return [base.strip().rpartition(".")[2] for base in bases.split(",") if base.strip().rpartition(".")[2] != name]

    def states(name: str) -> bool:
        body = classes[name][1] if name in classes and name != "HeadgateError" else ""
        return "    detail = " in body or "def __init__(" in body or any(map(states, bases_of(name)))

    raised = {name for text in texts for name in RAISED.findall(text) if of_ours(name)}

    assert len(raised) > 50
    assert [name for name in sorted(raised) if not states(name)] == []
