"""The tests of a version on the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from headgate_cli.api import Api
from headgate_cli.errors import Failed
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import ListedTestOut, VersionTestsOut
from headgate_cli.suites.fields import CONTEXTS, DURATION_SECONDS, Fields, digest, essential, signal_of
from headgate_cli.suites.files import NAME, FileTest, beside
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import dump_yaml

_SHORTENED: Final = ("context", "expect")


def digests(api: Api, configuration_id: str, n: int) -> dict[str, str]:
    """The SHA-256 of what each test says, by its name; one request."""
    tests = api.get(VersionTestsOut, _path(configuration_id, n))["items"]
    return {_name(test): test["sha256"] for test in tests}


def get(api: Api, configuration_id: str, n: int, name: str) -> dict[str, object]:
    """Get the content of a test."""
    return essential(api.get(PlainAnswer, f"{_path(configuration_id, n)}/{name}"))


def saved(api: Api, configuration_id: str, n: int, test: FileTest, known: str) -> ListedTestOut:
    """Save a test, and return it as it is listed; `known` is the SHA-256 of what it replaces, empty for a new one."""
    path = f"{_path(configuration_id, n)}/{test.name}"
    return api.put(ListedTestOut, path, test.fields, if_match=_etag(known))


def delete(api: Api, configuration_id: str, n: int, name: str, known: str) -> None:
    api.delete(f"{_path(configuration_id, n)}/{name}", if_match=_etag(known))


def between(api: Api, configuration_id: str, older: int, newer: int) -> Iterator[tuple[str, str, str]]:
    """Each test that differs between two versions, as the files would have it, and its name."""
    before, after = digests(api, configuration_id, older), digests(api, configuration_id, newer)
    for name in sorted(set(before) | set(after)):
        if before.get(name) != after.get(name):
            old = as_yaml(get(api, configuration_id, older, name)) if name in before else ""
            yield old, as_yaml(get(api, configuration_id, newer, name)) if name in after else "", name


def against_files(
    api: Api, configuration_id: str, n: int, configuration: Path, content: str
) -> Iterator[tuple[str, str, str]]:
    """Each test of a version that differs from the one beside the file. Raises WrongTests."""
    before = digests(api, configuration_id, n)
    after = {test.name: test.fields for test in beside(configuration, content)}
    for name in sorted(set(before) | set(after)):
        if name not in after or before.get(name) != digest(after[name]):
            old = as_yaml(get(api, configuration_id, n, name)) if name in before else ""
            yield old, as_yaml(after[name]) if name in after else "", name


def as_yaml(fields: Fields) -> str:
    """The test as a file has it, without what is the default."""
    return dump_yaml(short(fields)) if fields else ""


def short(fields: Fields) -> dict[str, object]:
    """The fields without what is the default, in the order of a file."""
    said = essential(fields)
    signal = signal_of(said)
    rules = said.get("rules")
    if isinstance(rules, list):
        defaults: Mapping[str, object] = {"expect": "any", "context": CONTEXTS.get(str(said["signal_type"]))}
        said["rules"] = [
            {name: value for name, value in rule.items() if name not in _SHORTENED or value != defaults[name]}
            for rule in rules
        ]
    if said.get("duration_seconds") == DURATION_SECONDS:
        del said["duration_seconds"]
    if said.get("signal_type") == signal:
        del said["signal_type"]
    return said


def _name(test: ListedTestOut) -> str:
    name = test["name"]
    if not NAME.fullmatch(name):
        raise Failed(f"the server has a test {one_line(name)!r}, which cannot be the name of a file")
    return name


def _etag(sha256: str) -> str:
    return f'"{sha256}"' if sha256 else ""


def _path(configuration_id: str, n: int) -> str:
    return f"/configurations/{configuration_id}/versions/{n}/tests"
