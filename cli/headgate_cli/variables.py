"""The options `--env NAME=VALUE`, `--env-file FILE` and `--file NAME=PATH`, and the fields of a request they become.

Values may be secrets, so no message repeats one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import click

from headgate_cli.errors import Failed
from headgate_cli.safe_files import name, read
from headgate_cli.shapes import ValidationResult
from headgate_cli.untrusted import one_line

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FROM_FILES: Final = "headgate_cli.variables"
_ENV_FILE_HELP: Final = (
    "A file of NAME=VALUE lines for ${env:NAME}; a value is everything after the =, quotes too, and # begins a comment "
    "line. --env wins. Repeatable."
)
_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Variable(click.ParamType[tuple[str, str]]):
    name = "NAME=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        variable, separator, content = str(value).partition("=")
        if not separator:
            self.fail("there is no = in it: write NAME=VALUE", param, ctx)
        if not _NAME.fullmatch(variable):
            self.fail(f"{variable!r} is not a variable name: use letters, digits and _, no digit first", param, ctx)
        return variable, content


class _File(click.ParamType[tuple[str, str]]):
    name = "NAME=PATH"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        path, separator, file = str(value).partition("=")
        if not (separator and path and file):
            self.fail("write NAME=PATH, with the name that stands in ${file:NAME}", param, ctx)
        return path, file


def in_request(env: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The field `env`; nothing without values."""
    return {"env": dict(env)} if env else {}


def to_give(*answers: ValidationResult) -> str:
    """Advice for giving the variables that errors of verdicts come from; empty without any."""
    errors = [error for answer in answers for error in answer.get("errors", ())]
    causes = [cause for error in errors if (cause := error.get("cause"))]
    names = [name for cause in causes if cause["kind"] == "variable" for name in cause["names"]]
    listed = ", ".join(map(one_line, dict.fromkeys(names)))
    return f"give {listed} with --env NAME=VALUE or --env-file FILE" if names else ""


def env(command: _Command) -> _Command:
    """Give a command both options; it gets `env`, names with values, of which a later one wins."""
    from_file = click.option(
        "--env-file",
        multiple=True,
        metavar="FILE",
        help=_ENV_FILE_HELP,
        expose_value=False,
        # Before --env, whose value has both.
        is_eager=True,
        callback=_remember,
    )
    single = click.option(
        "--env",
        multiple=True,
        type=_Variable(),
        callback=lambda ctx, _, values: (*ctx.meta.get(_FROM_FILES, ()), *values),
        help="A value for ${env:NAME}. Repeatable.",
    )
    return single(from_file(command))


def files_in_request(files: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The field `files`, with what is in each file; nothing without files. Raises Failed."""
    return {"files": {path: read(file) for path, file in files}} if files else {}


def files(command: _Command) -> _Command:
    """Give a command the option `--file`; it gets `files_of_texts`, paths in the text with files of this machine."""
    return click.option(
        "--file",
        "files_of_texts",
        multiple=True,
        type=_File(),
        help="The text of a file for ${file:NAME}, as in --file /etc/token=./token. Repeatable.",
    )(command)


def _remember(ctx: click.Context, _param: click.Parameter, files: Sequence[str]) -> None:
    if ctx.resilient_parsing:
        return
    ctx.meta[_FROM_FILES] = [variable for file in files for variable in _read(file)]


def _read(file: str) -> Iterator[tuple[str, str]]:
    """The variables of a file. Raises Failed, which names the line and not what is in it."""
    for number, line in enumerate(read(file).removeprefix("\ufeff").split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        variable, separator, content = line.partition("=")
        if not separator or not _NAME.fullmatch(variable):
            problem = "has no =" if not separator else "does not begin with a variable name and ="
            raise Failed(f"{one_line(name(file))}:{number} {problem}: write NAME=VALUE, without spaces around the name")
        yield variable, content
