"""A folder of configuration files and what the server had of each: `headgate.json` beside them, to be kept in git."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headgate_cli.errors import Failed

MANIFEST: Final = "headgate.json"
SUFFIXES: Final = (".yaml", ".yml")
CONFIGURATION_ID: Final = re.compile(r"cfg_[0-7][0-9a-hjkmnp-tv-z]{25}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file's configuration, and the version and content that were last pulled or pushed."""

    id: str
    name: str
    version: int
    sha256: str


class Folder:
    """The files of a folder. The manifest is written after each change, whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries = _read(path / MANIFEST)

    def of(self, configuration_id: str) -> str | None:
        """The file that holds the configuration."""
        return next((file for file, entry in self.entries.items() if entry.id == configuration_id), None)

    def files(self) -> list[str]:
        """The YAML files, in order."""
        try:
            found = sorted(one.name for one in self.path.iterdir() if one.suffix in SUFFIXES and one.is_file())
        except OSError as error:
            raise Failed(f"cannot read {self.path}: {error.strerror}") from error
        return found

    def keep(self, file: str, entry: Entry) -> None:
        self.entries = {**self.entries, file: entry}
        content = {
            "configurations": {
                name: {"id": one.id, "name": one.name, "version": one.version, "sha256": one.sha256}
                for name, one in sorted(self.entries.items())
            }
        }
        _write(self.path / MANIFEST, json.dumps(content, ensure_ascii=False, indent=2) + "\n")

    def write(self, file: str, text: str) -> None:
        """Replace the file's text, whole or not at all."""
        _write(self.path / file, text)

    def changed_here(self, file: str) -> bool:
        """Whether the file is there and not as it was last pulled or pushed."""
        entry = self.entries.get(file)
        try:
            content = (self.path / file).read_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Failed(f"cannot read {self.path / file}: {error.strerror}") from error
        return entry is None or hashlib.sha256(content).hexdigest() != entry.sha256


def entry_of(configuration_id: str, name: str, version: int, text: str) -> Entry:
    return Entry(configuration_id, name, version, digest(text))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def at(entry: Entry, version: int, text: str) -> Entry:
    return replace(entry, version=version, sha256=digest(text))


def _plain(file: str) -> str:
    """The name, if it is one of a file in the folder. Raises ValueError: a manifest may come from a stranger."""
    if not file or file in (".", "..", MANIFEST) or not file.isprintable() or re.search(r"[/\\:]", file):
        raise ValueError(f"{file!r} names no file of this folder")
    return file


def _id(value: object) -> str:
    if not isinstance(value, str) or not CONFIGURATION_ID.fullmatch(value):
        raise ValueError(f"{value!r} is no configuration's id")
    return value


def _read(path: Path) -> Mapping[str, Entry]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            _plain(file): Entry(_id(one["id"]), str(one["name"]), int(one["version"]), str(one["sha256"]))
            for file, one in content["configurations"].items()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Failed(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Failed(
            f"{path} is no manifest of this command ({error}): mend it, or delete it and pull again"
        ) from error


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # As it is on the server: no translation of line ends.
        unfinished.write_bytes(text.encode())
        unfinished.replace(path)
    except OSError as error:
        raise Failed(f"cannot write {path}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
