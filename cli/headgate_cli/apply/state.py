"""What was applied to one organization before: `.headgate/<organization id>.json` in the folder.

It belongs into git with the folder. It says which objects `headgate apply` created, which is what `--prune` may remove,
and what was last seen of each configuration, so that one that nobody changed is not read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from headgate_cli import safe_files
from headgate_cli.apply.wanted import Wanted
from headgate_cli.errors import Failed
from headgate_cli.untrusted import one_line

FOLDER: Final = ".headgate"
_ID: Final = re.compile(r"((cfg|flt|dep)_[0-7][0-9a-hjkmnp-tv-z]{25})?")
_ORGANIZATION: Final = re.compile(r"org_[0-7][0-9a-hjkmnp-tv-z]{25}")


@dataclass(frozen=True, slots=True)
class Seen:
    """A configuration's latest version as it was left or found: what its tests and text say, and when it changed last.

    `updated_at` is empty if it has to be read again; `tests` is that of `digest_of_tests`.
    """

    version: int = 0
    updated_at: str = ""
    sha256: str = ""
    tests: str = ""
    collector_version: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A configuration, a fleet or a group. `id` is empty while it is being created.

    `created` is whether apply created it.
    """

    id: str
    created: bool
    seen: Seen = Seen()


@dataclass(frozen=True, slots=True)
class State:
    """Entries by name; groups by `FLEET_ID/GROUP`."""

    configurations: Mapping[str, Entry] = field(default_factory=dict)
    fleets: Mapping[str, Entry] = field(default_factory=dict)
    groups: Mapping[str, Entry] = field(default_factory=dict)

    def managing(self, wanted: Wanted) -> Wanted:
        """The same folder; a configuration whose tests were applied before, and that has none now, wants none."""
        none = digest_of_tests({})
        without = {
            name: replace(one, tests=())
            for name, one in wanted.configurations.items()
            if one.tests is None and (entry := self.configurations.get(name)) and entry.seen.tests not in ("", none)
        }
        return replace(wanted, configurations={**wanted.configurations, **without})


class Recorder:
    """The state of a folder for an organization; each change is written at once."""

    def __init__(self, folder: Path, organization_id: str) -> None:
        """Raises Failed if there is a state that cannot be read."""
        if not _ORGANIZATION.fullmatch(organization_id):
            raise Failed("the server's answer names no organization: server and command line may be of other versions")
        self._root = folder
        self._relative = f"{FOLDER}/{organization_id}.json"
        self.path = folder / FOLDER / f"{organization_id}.json"
        self.state = self._read()

    def set(self, kind: str, name: str, entry: Entry | None) -> None:
        """Set or remove an entry. Raises Failed."""
        entries = {known: one for known, one in getattr(self.state, kind).items() if known != name}
        if entry is not None:
            entries[name] = entry
        after = replace(self.state, **{kind: entries})
        if after != self.state:
            self.state = after
            self._write()

    def _read(self) -> State:
        try:
            content = json.loads(safe_files.read_bytes(safe_files.below(self._root, self._relative)))
            return State(*({_name(name): _entry(one) for name, one in content[kind].items()} for kind in _KINDS))
        except FileNotFoundError:
            return State()
        except OSError as error:
            raise Failed(f"cannot read {one_line(str(self.path))}: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Failed(
                f"{one_line(str(self.path))} is not a state of headgate apply ({one_line(str(error))}): take it from "
                "git again, or delete it; without it nothing can be pruned that was created before"
            ) from error

    def _write(self) -> None:
        content = {
            kind: {name: _compact(one) for name, one in sorted(getattr(self.state, kind).items())} for kind in _KINDS
        }
        try:
            (self._root / FOLDER).mkdir(exist_ok=True)
            path = safe_files.below(self._root, self._relative)
            safe_files.replace(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
        except OSError as error:
            raise Failed(f"cannot write {one_line(str(self.path))}: {error.strerror}") from error


_KINDS: Final = ("configurations", "fleets", "groups")


def digest_of_tests(digests: Mapping[str, str]) -> str:
    """The SHA-256 of tests by their names and the SHA-256 of what each says."""
    return hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()


def _compact(entry: Entry) -> dict[str, object]:
    content = asdict(entry)
    if entry.seen == Seen():
        del content["seen"]
    return content


def _entry(content: Mapping[str, object]) -> Entry:
    id_, created, seen = str(content["id"]), content["created"], content.get("seen", {})
    if not _ID.fullmatch(id_) or not isinstance(created, bool) or not isinstance(seen, dict):
        raise ValueError(f"{id_!r} is not an id, or what is known of it is not complete")
    version = seen.get("version", 0)
    texts = {name: str(seen.get(name, "")) for name in ("updated_at", "sha256", "tests", "collector_version")}
    return Entry(id_, created, Seen(version if isinstance(version, int) else 0, **texts))


def _name(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} cannot be a name")
    return name
