"""The stand-in for Fargate: the container's command as a process of this machine, in the same sandbox.

The sandbox confines the collector by itself, so there is no container to stand in for: what differs on AWS is that the
machine is the task's own, and that the network has no way out.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from headgate_local.template import Node, Template, TemplateError

_BINARY: Final = "otelcol-contrib"
_LONGEST_CAUSE: Final = 2_000
_SECONDS_TO_STOP: Final = 5


@dataclass(frozen=True, slots=True)
class Container:
    """What the template's task definition says of its one container."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


class Task:
    """A running container. It ends with this process, however this process ends: it watches its standard input."""

    def __init__(self, process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
        self._process = process
        self._stderr = stderr

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """The end of its standard error. For once, when it has ended."""
        self._stderr.seek(0)
        words = self._stderr.read()[-_LONGEST_CAUSE:].decode(errors="replace").strip()
        self._close()
        return words

    def stop(self) -> None:
        """As ECS stops a task: it is asked to, and killed when it does not."""
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
            # Nothing was ever written to it, so there is nothing that could fail to be flushed.
            self._process.stdin.close()


class Fargate:
    """Runs the containers of one template."""

    def __init__(self, template: Template, collectors: Path, collector_version: str) -> None:
        self._containers = {name: _container(template, node) for name, node in _definitions(template)}
        self._collectors = collectors
        self._binary = collectors / collector_version / _BINARY

    def run_task(self, definition: str, overrides: Sequence[Mapping[str, Node]]) -> Task:
        """Start a task as ECS's RunTask does, with the environments of `overrides` by the container's name.

        Raises OSError when the process cannot be started, KeyError for a task definition that there is none of.
        """
        container = self._containers[definition]
        environment = dict(container.environment)
        # In the image both are in one place.
        environment["HEADGATE_COLLECTORS_DIR"] = str(self._collectors)
        environment["HEADGATE_STOP_WITH_STDIN"] = "1"
        for override in overrides:
            if override.get("Name") == container.name:
                environment |= _environment(override.get("Environment"))
        command = [str(self._binary) if part == _BINARY else part for part in container.command]
        stderr = tempfile.TemporaryFile()  # noqa: SIM115  it is the task's, which outlives this call
        try:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr
            )
        except OSError:
            stderr.close()
            raise
        return Task(process, stderr)


def task_definition_name(logical_id: str) -> str:
    """What stands for the ARN of a task definition here."""
    return f"task-definition/{logical_id}"


def _definitions(template: Template) -> list[tuple[str, Node]]:
    return [
        (task_definition_name(logical_id), properties["ContainerDefinitions"])
        for logical_id, properties in template.of_type("AWS::ECS::TaskDefinition")
    ]


def _container(template: Template, node: Node) -> Container:
    match template.resolve(node):
        case [{"Name": str(name), "EntryPoint": list(entry_point), "Command": list(command), **rest}]:
            parts = tuple(str(part) for part in (*entry_point, *command))
            return Container(name, parts, _environment(cast("Node", rest.get("Environment"))))
    raise TemplateError("a task definition has one container, with a Name, an EntryPoint and a Command")


def _environment(entries: Node) -> dict[str, str]:
    """Of a list of names and values, as ECS has them."""
    if not isinstance(entries, list):
        return {}
    return {str(one["Name"]): str(one["Value"]) for one in entries if isinstance(one, dict)}
