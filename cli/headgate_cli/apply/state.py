"""State of earlier applies to one organization: `.headgate/<organization id>.json` in the folder.

It belongs into git with the folder, so whoever changes the folder can change it, and nothing is done because it says so
alone. It says which objects this folder's applies created: `--prune` removes those of them that the server says the
same of, by a digest of the folder's own random id, which only this file holds. It says what was last seen of each
configuration, so that one that nobody changed is not read again: that counts if the credential that reads it has
sealed it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.errors import Failed
from headgate_cli.ids import Kind, is_id
from headgate_cli.untrusted import one_line

FOLDER: Final = ".headgate"
# What the ids of each kind begin with.
_PREFIXES: Final[Mapping[str, Kind]] = {"configurations": "cfg", "fleets": "flt", "groups": "dep"}
_TEXTS: Final = ("updated_at", "sha256", "tests", "collector_version")
_SEAL: Final = "seal"
_FOLDER_ID_BYTES: Final = 16
_FOLDER_ID: Final = re.compile(f"[0-9a-f]{{{2 * _FOLDER_ID_BYTES}}}")
_SHOWN: Final = 16


@dataclass(frozen=True, slots=True)
class SeenConfiguration:
    """A configuration's latest version as it was left or found: what its tests and text say, and when it changed last.

    `updated_at` is empty if it has to be read again; `tests` is that of `digest_of_tests`.
    """

    version: int = 0
    updated_at: str = ""
    sha256: str = ""
    tests: str = ""
    collector_version: str = ""


@dataclass(frozen=True, slots=True)
class StateEntry:
    """A configuration, a fleet or a group. `id` is empty while it is being created.

    `created` is whether an apply of this folder created it, if the server says so too.
    """

    id: str
    created: bool
    seen: SeenConfiguration = SeenConfiguration()


@dataclass(frozen=True, slots=True)
class AppliedState:
    """Entries by name; groups by `FLEET_ID/GROUP`."""

    configurations: Mapping[str, StateEntry] = field(default_factory=dict)
    fleets: Mapping[str, StateEntry] = field(default_factory=dict)
    groups: Mapping[str, StateEntry] = field(default_factory=dict)

    def managing(self, desired: FolderContent) -> FolderContent:
        """The same folder; a configuration whose tests were applied before, and that has none now, wants none."""
        without = {
            name: replace(configuration, tests=())
            for name, configuration in desired.configurations.items()
            if configuration.tests is None and (entry := self.configurations.get(name)) and _had_tests(entry)
        }
        return replace(desired, configurations={**desired.configurations, **without})


class Recorder:
    """The state of a folder for an organization; each change is written at once."""

    def __init__(
        self, folder: Path, organization_id: str, seal: Callable[[str], str], *, refreshes: bool = False
    ) -> None:
        """`refreshes`: nothing counts as seen. Raises Failed if there is a state that cannot be read."""
        if not is_id("org", organization_id):
            raise Failed("the server's answer names no organization: server and command line may be of other versions")
        self._root, self._organization_id, self._seal, self._refreshes = folder, organization_id, seal, refreshes
        # Configurations that had tests, as the state says, but no seal.
        self.unproven: list[str] = []
        self._relative = f"{FOLDER}/{organization_id}.json"
        self.path = folder / FOLDER / f"{organization_id}.json"
        # Until a state is read that has one.
        self._folder_id = secrets.token_hex(_FOLDER_ID_BYTES)
        self.state = self._read()

    @property
    def folder(self) -> str:
        """The digest of the folder's id that the server may show: nobody can compute the id from it."""
        return hashlib.sha256(self._folder_id.encode()).hexdigest()[:_SHOWN]

    def set(self, kind: str, name: str, entry: StateEntry | None) -> None:
        """Set or remove an entry. Raises Failed."""
        entries = {known: held for known, held in getattr(self.state, kind).items() if known != name}
        if entry is not None:
            entries[name] = entry
        after = replace(self.state, **{kind: entries})
        if after != self.state:
            self.state = after
            self._write()

    def _read(self) -> AppliedState:
        try:
            content = json.loads(safe_files.read_bytes(safe_files.below(self._root, self._relative)))
            self._folder_id = _folder_id(content.get("folder", self._folder_id))
            return AppliedState(
                *(
                    {name: self._entry(kind, name, written) for name, written in content[kind].items()}
                    for kind in _PREFIXES
                )
            )
        except FileNotFoundError:
            return AppliedState()
        except OSError as error:
            raise Failed(f"cannot read {one_line(str(self.path))}: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Failed(
                f"{one_line(str(self.path))} is not a state of headgate apply ({one_line(str(error))}): take it from "
                "git again, or delete it; without it nothing can be pruned that was created before"
            ) from error

    def _write(self) -> None:
        entries = {
            kind: {name: self._written(name, held) for name, held in sorted(getattr(self.state, kind).items())}
            for kind in _PREFIXES
        }
        content = {"folder": self._folder_id, **entries}
        try:
            (self._root / FOLDER).mkdir(exist_ok=True)
            path = safe_files.below(self._root, self._relative)
            safe_files.replace(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
        except OSError as error:
            raise Failed(f"cannot write {one_line(str(self.path))}: {error.strerror}") from error

    def _written(self, name: str, entry: StateEntry) -> dict[str, object]:
        content = asdict(entry)
        if entry.seen == SeenConfiguration():
            del content["seen"]
        else:
            content["seen"][_SEAL] = self._sealed(name, entry)
        return content

    def _sealed(self, name: str, entry: StateEntry) -> str:
        """Seal an entry for good: a configuration that changes has another time."""
        return self._seal(json.dumps([self._organization_id, name, entry.id, *asdict(entry.seen).values()]))

    def _entry(self, kind: str, name: str, content: Mapping[str, object]) -> StateEntry:
        """Raises ValueError with the place in the file."""
        place = f"{kind}.{name}"
        fleet_id, _, group = name.partition("/")
        if not name.isprintable() or (kind == "groups" and not (is_id("flt", fleet_id) and group)):
            raise ValueError(f"{place}: this cannot be the name of an entry")
        id_, created, seen = content.get("id"), content.get("created"), content.get("seen", {})
        prefix = _PREFIXES[kind]
        # An empty one is being created.
        if not isinstance(id_, str) or not (id_ == "" or is_id(prefix, id_)):
            raise ValueError(f"{place}.id: {id_!r} is not an id that begins with {prefix}_")
        if not isinstance(created, bool) or not (created or id_):
            raise ValueError(f"{place}.created: this is not true or false, or it is false without an id")
        if not isinstance(seen, dict):
            raise ValueError(f"{place}.seen: this is not an object")
        version = seen.get("version", 0)
        texts = {text: str(seen.get(text, "")) for text in _TEXTS}
        entry = StateEntry(id_, created, SeenConfiguration(version if isinstance(version, int) else 0, **texts))
        seal = self._sealed(name, entry)
        if not seal or not hmac.compare_digest(seal.encode(), str(seen.get(_SEAL, "")).encode()):
            if _had_tests(entry):
                self.unproven.append(name)
            return replace(entry, seen=SeenConfiguration())
        return replace(entry, seen=replace(entry.seen, updated_at="")) if self._refreshes else entry


def _folder_id(value: object) -> str:
    """Raises ValueError."""
    if not isinstance(value, str) or not _FOLDER_ID.fullmatch(value):
        raise ValueError("folder: this is not the id of a folder")
    return value


def _had_tests(entry: StateEntry) -> bool:
    return entry.seen.tests not in ("", digest_of_tests({}))


def digest_of_tests(digests: Mapping[str, str]) -> str:
    """The SHA-256 of tests by their names and the SHA-256 of what each says."""
    return hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()
