"""The places that name the default collector, and how another version is written to all of them.

`layers/collector/versions/DEFAULT` decides. The others repeat it where that file cannot be read: the template, the
functions, the gallery's flows, and examples that readers copy.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.stack import Stop

DEFAULT: Final = Path("layers/collector/versions/DEFAULT")


@dataclass(frozen=True, slots=True)
class VersionPlace:
    """A regular expression in the files of a pattern, with <version> for the version's own expression.

    A place that is `needed` names the default exactly once, and it is an error if it names another version. Elsewhere
    every mention of the old default becomes the new one.
    """

    files: str
    text: str
    needed: bool


PLACES: Final = (
    VersionPlace("template.yaml", r"(?m)^  CollectorVersion:\n(?:    .*\n)*?    Default: <version>$", needed=True),
    VersionPlace("shared/headgate/foundation/settings.py", r'    collector_version: str = "<version>"', needed=True),
    # What a flow was written for: a configuration that is made from it has this version.
    VersionPlace("flows/*/flow.yaml", r"(?m)^collector_version: <version>$", needed=False),
    VersionPlace("README.md", r"(?<![\d.])<version>(?![\d.])", needed=False),
    # The last one: until it is written, the same command writes them all again.
    VersionPlace(str(DEFAULT), r"\A<version>\n\Z", needed=True),
)
_ANY: Final = r"\d+\.\d+\.\d+"


def default(root: Path) -> str:
    return (root / DEFAULT).read_text(encoding="utf-8").strip()


def changes(root: Path, new: str) -> dict[Path, str]:
    """The content of each file that has to change so that the default is `new`, in the order of writing.

    Raises Stop, with the file, if a place that is needed names neither the default nor `new`.
    """
    old = default(root)
    changed: dict[Path, str] = {}
    for place in PLACES:
        for path in sorted(root.glob(place.files)):
            before = path.read_text(encoding="utf-8")
            if place.needed:
                _require(place, path.relative_to(root), before, (old, new))
            after = _with(place, old, new, before)
            if after != before:
                changed[path] = after
        if place.needed and not list(root.glob(place.files)):
            raise Stop(f"{place.files} is missing, which names the default collector")
    return changed


def write(contents: Mapping[Path, str]) -> None:
    """Write all files, or none if one cannot be written: each beside the old one first, and then in its place."""
    new = {path: path.with_name(f".{path.name}.{uuid.uuid4().hex}") for path in contents}
    try:
        for path, content in contents.items():
            new[path].write_text(content, encoding="utf-8")
            if path.exists():
                new[path].chmod(path.stat().st_mode)
        for path in contents:
            new[path].replace(path)
    finally:
        for path in new.values():
            path.unlink(missing_ok=True)


def _require(place: VersionPlace, path: Path, text: str, versions: tuple[str, str]) -> None:
    named = [re.search(_ANY, match[0]) for match in re.finditer(place.text.replace("<version>", _ANY), text)]
    matches = [match[0] for match in named if match]
    if len(matches) != 1 or matches[0] not in versions:
        was = f"names {', '.join(matches)}" if matches else "does not name it"
        raise Stop(f"{path} has to name the default collector {versions[0]} once, but {was}: correct it")


def _with(place: VersionPlace, old: str, new: str, text: str) -> str:
    pattern = place.text.replace("<version>", re.escape(old))
    return re.sub(pattern, lambda match: re.sub(rf"{re.escape(old)}(?=\D*\Z)", new, match[0]), text)
