"""YAML read and written by libyaml, which takes a tenth of the time, if PyYAML was built with it."""

from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeDumper as SafeDumper
    from yaml import SafeLoader as SafeLoader
else:
    from yaml import CSafeDumper as SafeDumper
    from yaml import CSafeLoader as SafeLoader


def safe_load(text: str) -> object:
    """The text's one document, None for an empty text. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=SafeLoader)


def safe_dump(value: object) -> str:
    """The value as one document, with the keys in their order. Raises yaml.YAMLError for a type that YAML lacks."""
    text: str = yaml.dump(value, Dumper=SafeDumper, sort_keys=False)
    return text
