"""Completion in a shell: the command that prints its script, and arguments, which are names of the server or files.

An argument's metavar says what it takes. Nothing here changes a command that runs: the types are set only while a shell
asks for completions.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

from headgate_cli.api import Api, Entity
from headgate_cli.connection import api as connect
from headgate_cli.connection import as_json
from headgate_cli.errors import Failed
from headgate_cli.output import print_outcome
from headgate_cli.shaped import PlainAnswer
from headgate_cli.untrusted import one_line

# A person waits for it at the prompt.
_SECONDS: Final = 2.0
_MOST: Final = 200
# Others need quotes, which the shells' scripts of click do not write, or are options: the id stands for them.
_PLAIN: Final = re.compile(r"(?![-=])[A-Za-z0-9_./@%+=-]+")
_WORD: Final = re.compile(r"[A-Z]+")

Names = Callable[[Api, click.Context], Iterator[Entity]]


def _listed(path: str) -> Names:
    return lambda api, _context: api.items(PlainAnswer, path)


def _of_fleet(kind: str) -> Names:
    def list_of_fleet(api: Api, context: click.Context) -> Iterator[Entity]:
        label = context.params.get("fleet")
        for fleet in api.items(PlainAnswer, "/fleets"):
            if label in (fleet.get("id"), fleet.get("label")):
                yield from api.items(PlainAnswer, f"/fleets/{fleet.get('id')}/{kind}")

    return list_of_fleet


_NAMES: Final[dict[str, Names]] = {
    "CONFIGURATION": _listed("/configurations"),
    "FLEET": _listed("/fleets"),
    "GROUP": _of_fleet("deployments"),
    "INSTANCE": _of_fleet("instances"),
    "SLUG": _listed("/flows"),
    "WEBHOOK": _listed("/webhooks"),
}
# The fields of an entry, the first of which that it has is completed.
_FIELDS: Final = ("name", "label", "slug", "host_name", "id")
_FILES: Final = {"FILE": "file", "FOLDER": "dir", "PATH": "file"}


def prepare(command: click.Command) -> None:
    """Make the command's arguments, and those of its commands, complete what they take."""
    for parameter in command.params:
        words = _WORD.findall(parameter.metavar or (parameter.name or "").upper())
        if isinstance(parameter.type, click.types.StringParamType) and (_NAMES.keys() | _FILES.keys()) & set(words):
            parameter.type = Completed(words)
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            prepare(subcommand)


class Completed(click.ParamType[str]):
    """A text that is one of the words' kinds."""

    name = "text"

    def __init__(self, words: list[str]) -> None:
        self._names = [_NAMES[word] for word in words if word in _NAMES]
        kinds = {_FILES[word] for word in words if word in _FILES}
        # Shells offer folders among files.
        self._files = ["file"] if "file" in kinds else [*kinds]

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Files, and what the server lists: nothing of it without a server, a credential, or an answer in time."""
        del param
        # Files first: the script for bash forgets what it had when it meets one.
        items = [CompletionItem(incomplete, type=kind) for kind in self._files]
        for names in self._names:
            with contextlib.suppress(Failed, click.UsageError, TimeoutError), _at_most(_SECONDS):
                url = str(ctx.params.get("url") or os.environ.get("HEADGATE_URL", ""))
                asked = connect(url, str(ctx.params.get("token") or ""), waits=False)
                for entry in itertools.islice(names(asked, ctx), _MOST):
                    if (item := _item(entry)).value.startswith(incomplete):
                        items.append(item)
        return items


def _item(entry: Entity) -> CompletionItem:
    name = next((str(entry[field]) for field in _FIELDS if entry.get(field)), "")
    if _PLAIN.fullmatch(name):
        return CompletionItem(name)
    return CompletionItem(re.sub(r"[^a-z0-9_]", "", str(entry.get("id"))), help=one_line(name))


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError after that many seconds. For the main thread of a process that does nothing else."""

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@as_json
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that makes a shell complete headgate's commands, options, files and names.

    Names of configurations, fleets, groups, instances, webhooks and flows are the server's: it is asked at most two
    seconds, with the credential that commands use.

    Make the folder of the script if it is missing. For zsh, ~/.zshrc has to contain `fpath+=(~/.zfunc)` before
    `autoload -U compinit && compinit`.

    \b
    Examples:
      headgate completion bash > ~/.local/share/bash-completion/completions/headgate
      headgate completion zsh > ~/.zfunc/_headgate
      headgate completion fish > ~/.config/fish/completions/headgate.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    script = completion_class(context.find_root().command, {}, "headgate", "_HEADGATE_COMPLETE").source()
    print_outcome({"shell": shell, "script": script}, as_json, lambda: click.echo(script))
