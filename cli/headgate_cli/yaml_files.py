"""YAML in files of a person's own: rules, and the pipelines of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line, quoted

_MOST_MERGED: Final = 200_000
SIGNALS: Final = ("logs", "metrics", "traces")


def parse(content: str, called: str) -> object:
    """What the text holds. Raises Failed with the place where it is no YAML."""
    # Only now: no other command needs it.
    import yaml

    class Loader(yaml.SafeLoader):
        """Merges (`<<`) of merges can double at each line; a file of rules has none."""

        merged = 0

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            self.merged += len(node.value)
            if self.merged > _MOST_MERGED:
                raise yaml.YAMLError("its merges grow without bound")

    try:
        return yaml.load(content, Loader)  # noqa: S506  Loader is a SafeLoader with a bound on merges
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        # "expected a single document in the stream", "but found another document"
        words = [error.context, error.problem] if (error.problem or "").startswith("but ") else [error.problem]
        said = ", ".join(word for word in words if word)
        raise Failed(f"{one_line(called)}{where}: {quoted(said)}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Failed(f"{one_line(called)} is no YAML: {quoted(str(error))}") from error


def shown(value: object) -> str:
    import yaml

    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=120)


def pipelines(content: str, called: str) -> list[str]:
    """The names of the configuration's pipelines."""
    document = parse(content, called)
    service = document.get("service") if isinstance(document, Mapping) else None
    found = service.get("pipelines") if isinstance(service, Mapping) else None
    return [str(name) for name in found] if isinstance(found, Mapping) else []


def signal_of(pipeline: str) -> str:
    """`logs/edge` is of logs. Raises Failed for what is named otherwise."""
    signal = pipeline.partition("/")[0]
    if signal not in SIGNALS:
        raise Failed(f"{pipeline!r} is no pipeline of logs, metrics or traces")
    return signal
