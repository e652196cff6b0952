"""Watching a list (`--watch` prints each entry again when its line changes), and waiting for an end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NoReturn

import click

from headgate_cli.output import print_result, say, status_line
from headgate_cli.untrusted import one_line

# All requests of a credential share a limit of 60 a minute, and a large fleet takes several.
_SECONDS: Final = 10.0

option = click.option("--watch", is_flag=True, help="Then print each change, until interrupted.")


def refuse_json(*, watch: bool, as_json: bool) -> None:
    """Raises UsageError if both are asked for."""
    if watch and as_json:
        raise click.UsageError("--watch prints lines for people: leave --json out")


def watch(before: Mapping[str, str], lines: Callable[[], Mapping[str, str]]) -> NoReturn:
    """Print each line that is new or changed, until the person ends it; `before` are those of the list above, by id.

    A line that is not in the list any more is told by its first words. Raises KeyboardInterrupt.
    """
    say(f"Watching every {_SECONDS:.0f} s; Ctrl-C ends it")
    while True:
        time.sleep(_SECONDS)
        now = lines()
        for key, line in now.items():
            if before.get(key) != line:
                print_result(line)
        for gone in before.keys() - now.keys():
            print_result(f"{before[gone].partition('  ')[0]}  is not in the list any more")
        before = now


@contextmanager
def waiting(continues: Callable[[], str]) -> Iterator[Callable[[str], None]]:
    """Give a function that shows the status of what is waited for, with the seconds since then.

    If the person interrupts, `continues` is said, unless it is empty: what is waited for goes on without the command.
    """
    begun = time.monotonic()
    try:
        yield lambda status: status_line(f"{one_line(status)}  {time.monotonic() - begun:.0f} s")
    except KeyboardInterrupt:
        status_line("")
        if message := continues():
            say(message)
        raise
    finally:
        status_line("")
