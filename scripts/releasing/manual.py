"""The manual page headgate(1), written from the commands' own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from headgate_cli.main import headgate


def page(version: str, epoch: int) -> str:
    """The page in roff, with the macros of man(7)."""
    day = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")
    lines = [
        f'.TH HEADGATE 1 "{day}" "headgate {version}" "Headgate"',
        *(".SH NAME", r"headgate \- work with a Headgate server"),
        *(".SH SYNOPSIS", r"\fBheadgate\fR \fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]"),
        ".SH DESCRIPTION",
        *_paragraphs(headgate),
        ".SH COMMANDS",
    ]
    context = click.Context(headgate, info_name="headgate")
    for command, of_command in commands(headgate, context):
        lines += [f".SS {_escaped(usage(command, of_command))}", *_paragraphs(command), *_options(command, of_command)]
    return "\n".join(lines) + "\n"


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command below a group that help lists, each with a context that knows its whole name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        of_command = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(command, of_command)
        else:
            yield command, of_command


def usage(command: click.Command, context: click.Context) -> str:
    """`headgate config push [OPTIONS] FILES...`"""
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def _paragraphs(command: click.Command) -> list[str]:
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        # Click's mark for lines that stay as they are.
        retained, text = paragraph.startswith("\b\n"), paragraph.removeprefix("\b\n")
        lines += [
            ".PP",
            *([".nf"] if retained else []),
            *map(_escaped, text.splitlines()),
            *([".fi"] if retained else []),
        ]
    return lines


def _options(command: click.Command, context: click.Context) -> list[str]:
    lines = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            lines += [".TP", rf"\fB{_escaped(record[0])}\fR", _escaped(record[1])]
    return lines


def _escaped(text: str) -> str:
    """A line that roff prints as it is."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + escaped if escaped.startswith((".", "'")) else escaped
