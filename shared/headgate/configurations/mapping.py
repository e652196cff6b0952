"""Configurations and versions as items of their tables, and back."""

from typing import Final

from headgate.configurations.model import Configuration, Version
from headgate.storage import large_texts
from headgate.storage.items import Item
from headgate.storage.stored import Stored

CONFIGURATIONS: Final = Stored(Configuration, names={"id": "configuration_id"}, unless_default=["assigned"])
VERSIONS: Final = Stored(Version, elsewhere=["yaml"], unless_default=["feature_gates"])


def version_with_text(item: Item | None, text: Item | None) -> Version | None:
    return VERSIONS.read(item, yaml=large_texts.read(text or {})) if item else None
