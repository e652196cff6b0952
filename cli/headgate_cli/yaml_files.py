"""Reading YAML files: rules, and the pipelines of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line, quoted

_MOST_MERGED: Final = 200_000
SIGNALS: Final = ("logs", "metrics", "traces")


def parse(content: str, label: str) -> object:
    """The parsed text. Raises Failed, with line and column, if it is not YAML."""
    # Imported here: most commands do without it.
    import yaml

    class Loader(yaml.SafeLoader):
        """Bounds merges (`<<`): merges of merges can double the size with each line."""

        merged = 0

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            self.merged += len(node.value)
            if self.merged > _MOST_MERGED:
                raise yaml.YAMLError(f"its merges (<<) expand to more than {_MOST_MERGED:,} entries")

    try:
        return yaml.load(content, Loader)  # noqa: S506  Loader is a SafeLoader with a bound on merges
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        # "expected a single document in the stream", "but found another document"
        parts = [error.context, error.problem] if (error.problem or "").startswith("but ") else [error.problem]
        reason = ", ".join(part for part in parts if part)
        raise Failed(f"{one_line(label)}{where}: {quoted(reason)}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Failed(f"{one_line(label)} is not valid YAML: {quoted(str(error))}") from error


def dump_yaml(value: object) -> str:
    """The value as YAML, texts of several lines as blocks."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, block)
    return yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=120)


def pipelines(content: str, label: str) -> list[str]:
    """The names of the configuration's pipelines."""
    document = parse(content, label)
    service = document.get("service") if isinstance(document, Mapping) else None
    defined = service.get("pipelines") if isinstance(service, Mapping) else None
    return [str(name) for name in defined] if isinstance(defined, Mapping) else []


def signal_of(pipeline: str) -> str:
    """The pipeline's signal: `logs` for `logs/edge`. Raises Failed for any other name."""
    signal = pipeline.partition("/")[0]
    if signal not in SIGNALS:
        raise Failed(f"{pipeline!r} is not a pipeline name: it must start with logs, metrics or traces")
    return signal
