"""The reference of the command line, from the commands' own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from headgate_cli.main import headgate
from scripts.releasing.manual import commands, usage
from scripts.site.markdown import code, table


def pages() -> dict[str, str]:
    """A page for each command of the first level, and a list of all."""
    root = click.Context(headgate, info_name="headgate", help_option_names=["-h", "--help"])
    results: dict[str, list[tuple[click.Command, click.Context]]] = {}
    for command, context in commands(headgate, root):
        results.setdefault(context.command_path.split()[1], []).append((command, context))
    rows = (
        [f"[{code(entry.command_path)}]({name}.md#{_anchor(entry)})", _escaped(command.get_short_help_str(200))]
        for name, those in results.items()
        for command, entry in those
    )
    index = ["# All commands", *_prose(headgate), *table(["Command", "What it does"], rows)]
    written = {f"reference/commands/{name}.md": _page(name, root, those) for name, those in results.items()}
    return {"reference/commands/index.md": "\n".join(index), **written}


def _page(name: str, root: click.Context, those: list[tuple[click.Command, click.Context]]) -> str:
    lines = [f"# headgate {name}"]
    whole = headgate.get_command(root, name)
    if isinstance(whole, click.Group):
        lines += _prose(whole)
    for command, context in those:
        lines += ["", f"## {context.command_path}", "", "```text", usage(command, context), "```", *_prose(command)]
        options = [get_param for get_param in command.get_params(context) if isinstance(get_param, click.Option)]
        records = (option.get_help_record(context) for option in options)
        lines += table(["Option", "Meaning"], ([code(record[0]), _escaped(record[1])] for record in records if record))
    return "\n".join(lines)


def _anchor(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _prose(command: click.Command) -> Iterator[str]:
    """Paragraphs of help; what it indents, or shall stay as it is, as code."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        retained, text = paragraph.startswith("\b\n"), paragraph.removeprefix("\b\n")
        if retained:
            yield from ("", "```text", text, "```", "")
        else:
            yield from ("", _escaped(text), "")


def _escaped(text: str) -> str:
    """Text whose signs mean nothing to Markdown, but for its spans of code."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(part if at % 2 else re.sub(r"([*_<\[\]])", r"\\\1", part) for at, part in enumerate(parts))
