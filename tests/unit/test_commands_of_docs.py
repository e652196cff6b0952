"""Every command of `headgate` that a page names exists, with the options that the page gives it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from headgate_cli.main import headgate

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# In a code block a line, else a span of code.
COMMAND = re.compile(r"^ *(?:\$ |- run: |run: )?(headgate [^`]*?)$|`(headgate [^`\n]*)`", re.MULTILINE)
# What ends a command for the shell.
ENDS = ("|", "||", "&&", ">", ">>", "<", ";", "&", "2>&1")


def commands(page: Path) -> Iterator[list[str]]:
    for match in COMMAND.finditer(page.read_text()):
        try:
            words = shlex.split((match[1] or match[2]).rstrip("\\"), comments=True)
        except ValueError:
            continue
        ends = min((words.index(word) for word in ENDS if word in words), default=len(words))
        if words[1:3] != ["rollout", "..."]:
            yield words[1:ends]


def problem(words: list[str]) -> str:
    """Why click refuses the words; empty if it takes them."""
    command: click.Command = headgate
    context = click.Context(command, info_name="headgate")
    try:
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            name, below, words = command.resolve_command(context, words)
            assert below
            command, context = below, click.Context(below, parent=context, info_name=name)
        command.make_parser(context).parse_args([word for word in words if word != "…"])
    except click.UsageError as error:
        # In a sentence, an option may stand without its value.
        return "" if error.message.endswith("requires an argument.") else error.format_message()
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_has_the_options_that_the_page_gives_it(page: Path) -> None:
    problems = {" ".join(words): problem(words) for words in commands(page)}

    assert {command: why for command, why in problems.items() if why} == {}
