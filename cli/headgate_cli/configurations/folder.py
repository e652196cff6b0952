"""A folder of configuration files, with the manifest `headgate.json`: the configuration and version of each file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.errors import Failed
from headgate_cli.ids import is_id
from headgate_cli.untrusted import one_line

# In a folder that `headgate apply` takes.
SETTINGS: Final = "apply.yaml"
POLICIES: Final = "policies.yaml"
CONFIGURATIONS: Final = "configurations"
MANIFEST: Final = "headgate.json"
SUFFIXES: Final = (".yaml", ".yml")
MOST_FILES: Final = 1_000


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A file's configuration, and the version and content that were last pulled or pushed.

    `tests` has the SHA-256 of what each of its tests says, by the test's name.
    """

    id: str
    name: str
    version: int
    sha256: str
    tests: Mapping[str, str] = field(default_factory=dict)


class Folder:
    """The files of a folder, read and written by `safe_files`. Every recorded change is written to the manifest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries = _read(path / MANIFEST)

    def file_of(self, configuration_id: str) -> str | None:
        """The configuration's file, if the manifest has one."""
        return next((file for file, entry in self.entries.items() if entry.id == configuration_id), None)

    def files(self) -> list[str]:
        """List the YAML files, as `files_in` does."""
        return files_in(self.path, "name the files to push")

    def record(self, file: str, entry: ManifestEntry) -> None:
        """Set the file's entry in the manifest."""
        self.entries = {**self.entries, file: entry}
        content = {
            "configurations": {
                name: {"id": entry.id, "name": entry.name, "version": entry.version, "sha256": entry.sha256}
                | ({"tests": dict(sorted(entry.tests.items()))} if entry.tests else {})
                for name, entry in sorted(self.entries.items())
            }
        }
        safe_files.write(self.path / MANIFEST, json.dumps(content, ensure_ascii=False, indent=2) + "\n")

    def write(self, file: str, text: str) -> None:
        """Replace the file's text atomically."""
        safe_files.write(self.path / file, text)

    def changed_here(self, file: str, text: str) -> bool:
        """True if the file exists and differs from what was last pulled or pushed, and from the text. Raises Failed."""
        entry = self.entries.get(file)
        try:
            content = safe_files.read_bytes(self.path / file)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Failed(f"cannot read {one_line(str(self.path / file))}: {error.strerror}") from error
        return content != text.encode() and (entry is None or hashlib.sha256(content).hexdigest() != entry.sha256)


def of_configurations(folder: Path) -> Path:
    """The folder whose files are configurations: inside of one that `headgate apply` takes, its folder for them."""
    inner = folder / CONFIGURATIONS
    return inner if inner.is_dir() and {*files_in(folder, "name the files")} <= {SETTINGS, POLICIES} else folder


def files_in(folder: Path, way_out: str) -> list[str]:
    """The YAML files of a folder, sorted; includes files that `safe_files` refuses to read, excludes an editor's locks.

    Raises Failed, for a folder with too many with the `way_out`.
    """
    names = []
    try:
        for file in safe_files.place(folder).iterdir():
            if file.suffix in SUFFIXES and not file.is_dir() and not file.name.startswith(".#"):
                names.append(file.name)
            if len(names) > MOST_FILES:
                raise Failed(f"{one_line(str(folder))} contains over {MOST_FILES:,} YAML files: {way_out}")
    except OSError as error:
        raise Failed(f"cannot read {one_line(str(folder))}: {error.strerror}") from error
    return sorted(names)


def require_some(files: Sequence[str], folder: str) -> None:
    """Raises Failed if a folder that a person named has no YAML files."""
    if not files:
        raise Failed(f"{one_line(folder)} contains no file whose name ends with {' or '.join(SUFFIXES)}")


def entry_of(
    configuration_id: str, name: str, version: int, text: str, tests: Mapping[str, str] | None = None
) -> ManifestEntry:
    return ManifestEntry(configuration_id, name, version, digest(text), tests or {})


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(file: str) -> str:
    """The name, if it can be that of a file in the folder. Raises ValueError: somebody else may have written it."""
    if not file or file in (".", "..", MANIFEST) or not file.isprintable() or re.search(r"[/\\:]", file):
        raise ValueError(f"{file!r} is not the name of a file in this folder")
    return file


def _id(value: object) -> str:
    if not isinstance(value, str) or not is_id("cfg", value):
        raise ValueError(f"{value!r} is not a configuration id")
    return value


def _read(path: Path) -> Mapping[str, ManifestEntry]:
    try:
        content = json.loads(safe_files.read_bytes(path))
        return {
            _plain(file): ManifestEntry(
                _id(entry["id"]),
                str(entry["name"]),
                int(entry["version"]),
                str(entry["sha256"]),
                {_plain(name): str(sha256) for name, sha256 in entry.get("tests", {}).items()},
            )
            for file, entry in content["configurations"].items()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Failed(f"cannot read {one_line(str(path))}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Failed(
            f"{one_line(str(path))} is not a manifest of headgate ({one_line(str(error))}): correct it, or delete it "
            "and pull again"
        ) from error
