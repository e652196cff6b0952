"""The stand-in for Fargate: runs the container's command as a process of this machine, in the same sandbox.

The sandbox confines the collector by itself, without a container. On AWS, each task also has a machine of its own, and
its network has no route to the internet.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from headgate.foundation.errors import Unavailable
from headgate_engine.checker.installed import Installed
from headgate_local.template import Node, Template, TemplateError

_BINARY: Final = "otelcol-contrib"
_LONGEST_CAUSE: Final = 2_000
_SECONDS_TO_STOP: Final = 5


@dataclass(frozen=True, slots=True)
class Container:
    """The single container of the template's task definition."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


class Task:
    """A running container. It watches its standard input, so that it ends with this process, however that ends."""

    def __init__(self, process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
        self._process = process
        self._stderr = stderr

    def exit_code(self) -> int | None:
        """The exit status, None while it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """The end of its standard error. Call it once, when the container has ended."""
        self._stderr.seek(0)
        words = self._stderr.read()[-_LONGEST_CAUSE:].decode(errors="replace").strip()
        self._close()
        return words

    def stop(self) -> None:
        """Stop it as ECS does: SIGTERM, then SIGKILL if it does not end."""
        self._process.terminate()
        try:
            self._process.wait(timeout=_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._close()

    def _close(self) -> None:
        self._stderr.close()
        if self._process.stdin is not None:
            # Nothing was written to it, so closing cannot fail.
            self._process.stdin.close()


class Fargate:
    """Runs the containers of one template."""

    def __init__(self, template: Template, collectors: Path, collector_version: str) -> None:
        self._containers = {
            task_definition_name(logical_id): _container(template, properties["ContainerDefinitions"])
            for logical_id, properties in template.of_type("AWS::ECS::TaskDefinition")
        }
        self._collectors = collectors
        self._installed = Installed(collectors)
        self._collector_version = collector_version

    def run_task(self, definition: str, overrides: Sequence[Mapping[str, Node]]) -> Task:
        """Start a task as ECS's RunTask does, with the environments of `overrides` by the container's name.

        Raises OSError if the process cannot be started, KeyError for an unknown task definition.
        """
        container = self._containers[definition]
        environment = dict(container.environment)
        # In the image, the program is in this folder too.
        environment["HEADGATE_COLLECTORS_DIR"] = str(self._collectors)
        environment["HEADGATE_STOP_WITH_STDIN"] = "1"
        for override in overrides:
            if override.get("Name") == container.name:
                environment |= _environment(override.get("Environment"))
        command = [self._program() if part == _BINARY else part for part in container.command]
        stderr = tempfile.TemporaryFile()  # noqa: SIM115  it is the task's, which outlives this call
        try:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr
            )
        except OSError:
            stderr.close()
            raise
        return Task(process, stderr)

    def _program(self) -> str:
        """The default collector's program, of now: it may be built behind this service. Raises OSError."""
        try:
            return str(self._installed.binary(self._collector_version))
        except Unavailable as error:
            raise OSError(error.detail) from error


def task_definition_name(logical_id: str) -> str:
    """The name that replaces the ARN of a task definition here."""
    return f"task-definition/{logical_id}"


def _container(template: Template, node: Node) -> Container:
    match template.resolve(node):
        case [{"Name": str(name), "EntryPoint": list(entry_point), "Command": list(command), **rest}]:
            parts = tuple(str(part) for part in (*entry_point, *command))
            return Container(name, parts, _environment(cast("Node", rest.get("Environment"))))
    raise TemplateError("a task definition has one container, with a Name, an EntryPoint and a Command")


def _environment(entries: Node) -> dict[str, str]:
    """The variables in ECS's list of names and values."""
    if not isinstance(entries, list):
        return {}
    return {str(entry["Name"]): str(entry["Value"]) for entry in entries if isinstance(entry, dict)}
