"""The command line without the start of an interpreter; tests/end_to_end/test_cli_examples.py starts every command as
people do."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.support.forking import forked


def run(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
    seconds: float = 60,
    program: str = "headgate",
) -> subprocess.CompletedProcess[bytes]:
    """Run `headgate`, or another program of tests/support/forking.py, in pipes, with `given` as its standard input."""
    with ExitStack() as ends:
        stdin = ends.enter_context(tempfile.TemporaryFile())
        stdin.write(given)
        stdin.seek(0)
        readers, writers = zip(os.pipe(), os.pipe(), strict=True)
        streams = (stdin.fileno(), *writers)
        command = ends.enter_context(forked(program, arguments, folder, environment, streams, seconds))
        for writer in writers:
            os.close(writer)
        pool = ends.enter_context(ThreadPoolExecutor(len(readers)))
        try:
            out, err = pool.map(_read, readers, timeout=seconds)
            status = command.wait()
        except TimeoutError:
            command.kill()
            raise
    return subprocess.CompletedProcess(list(arguments), status, out, err)


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()
