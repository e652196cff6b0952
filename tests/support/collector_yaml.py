"""A configuration as the collector's own YAML library reads it, for validators of JSON: go-yaml follows YAML 1.2."""

import re
from typing import Any, ClassVar

import yaml

from headgate.foundation.yaml_text import SafeLoader


class _Loader(SafeLoader):
    """Leaves `yes`, `on`, `12:30` and dates the texts that they are."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] in {"null", "merge"}]
        for first, resolvers in SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^([tT]rue|TRUE|[fF]alse|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile("^[-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0|[0-9][0-9_]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"),
    list("-+.0123456789"),
)


def read(text: str) -> Any:
    """The value of the text's one document, with texts for keys. Raises yaml.YAMLError, also if it holds itself."""
    try:
        return _with_texts_for_keys(yaml.load(text, _Loader))
    except (RecursionError, ValueError) as error:
        raise yaml.YAMLError(str(error)) from error


def _with_texts_for_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _with_texts_for_keys(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_texts_for_keys(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
