"""A folder of configuration files and what the server had of each: `headgate.json` beside them, to be kept in git."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line

MANIFEST: Final = "headgate.json"
SUFFIXES: Final = (".yaml", ".yml")
MOST_FILES: Final = 1_000
CONFIGURATION_ID: Final = re.compile(r"cfg_[0-7][0-9a-hjkmnp-tv-z]{25}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file's configuration, and the version and content that were last pulled or pushed."""

    id: str
    name: str
    version: int
    sha256: str


class Folder:
    """The files of a folder, read and written as `safe_files` does. The manifest is written after each change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries = _read(path / MANIFEST)

    def of(self, configuration_id: str) -> str | None:
        """The file that holds the configuration."""
        return next((file for file, entry in self.entries.items() if entry.id == configuration_id), None)

    def files(self) -> list[str]:
        """The YAML files, in order; with those that `safe_files` refuses, and without the locks of an editor."""
        found = []
        try:
            for one in safe_files.place(self.path).iterdir():
                if one.suffix in SUFFIXES and not one.is_dir() and not one.name.startswith(".#"):
                    found.append(one.name)
                if len(found) > MOST_FILES:
                    raise Failed(f"{one_line(str(self.path))} holds over {MOST_FILES:,} YAML files: name some of them")
        except OSError as error:
            raise Failed(f"cannot read {one_line(str(self.path))}: {error.strerror}") from error
        return sorted(found)

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
            content = safe_files.read_bytes(self.path / file)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Failed(f"cannot read {one_line(str(self.path / file))}: {error.strerror}") from error
        return entry is None or hashlib.sha256(content).hexdigest() != entry.sha256

    def holds(self, file: str, text: str) -> bool:
        """Whether the file is there with this text. Raises Failed."""
        return safe_files.is_file(str(self.path / file)) and safe_files.read_bytes(self.path / file) == text.encode()


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
        content = json.loads(safe_files.read_bytes(path))
        return {
            _plain(file): Entry(_id(one["id"]), str(one["name"]), int(one["version"]), str(one["sha256"]))
            for file, one in content["configurations"].items()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Failed(f"cannot read {one_line(str(path))}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Failed(
            f"{one_line(str(path))} is not a manifest of this command ({one_line(str(error))}): mend it, or delete "
            "it and pull again"
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        # As it is on the server: no translation of line ends.
        safe_files.replace(path, text.encode())
    except OSError as error:
        raise Failed(f"cannot write {one_line(str(path))}: {error.strerror}") from error
