"""`upgrade bisect`: the first installed collector version that refuses a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import INSTALL_ANOTHER, Api, ServerError
from headgate_cli.checks import findings
from headgate_cli.collector_version import VERSION, CollectorVersion, age
from headgate_cli.connection import as_json
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_json, print_result, say
from headgate_cli.safe_files import name, read
from headgate_cli.shapes import InstalledVersionOut, ValidationResult
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade.report import accepts

_NOT_IN_BUILD: Final = "component_not_in_build"


@dataclass
class _Search:
    """Verdicts by version, each asked for once. `skipped` are the versions without one, with the reason."""

    api: Api
    content: str
    env: Sequence[tuple[str, str]] = ()
    answers: dict[str, ValidationResult] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def accepts(self, version: str) -> bool | None:
        """Ask whether the version accepts the text; None if its build lacks a component of the text."""
        if version in self.skipped:
            return None
        if version not in self.answers:
            try:
                request = {"yaml": self.content, "version": version} | variables.in_request(self.env)
                self.answers[version] = self.api.post(ValidationResult, "/validate", request)
            except ServerError as error:
                if error.code != _NOT_IN_BUILD:
                    raise
                self.skipped[version] = error.detail
                say(f"{version}: skipped: {one_line(error.detail)}")
                return None
            say(f"{version}: {'valid' if accepts(self.answers[version]) else 'invalid'}")
        if part := self.answers[version].get("wrapped"):
            where = f"the configuration is under {one_line(part['path'])}"
            raise Failed(f"{where}: take it out with `headgate config import`, and search with that")
        return accepts(self.answers[version])


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--good", type=CollectorVersion(), help="A version that accepts it; the oldest installed by default.")
@click.option("--bad", type=CollectorVersion(), help="A version that refuses it; the newest installed by default.")
@variables.env
@as_json
@connected_or_local("Check")
def bisect(
    api: Api, file: str, good: str | None, bad: str | None, env: Sequence[tuple[str, str]], as_json: bool
) -> None:
    """Find the first of the server's collector versions that refuses a file.

    A version whose build lacks a component of the file is skipped, and what only the host decides does not count. Ends
    with 1 if a version refuses the file, or if the newest was skipped.

    \b
    Examples:
      headgate upgrade bisect collector.yaml
      headgate upgrade bisect collector.yaml --good 0.139.0 --bad 0.158.0
      headgate upgrade bisect collector.yaml --local
    """
    content = read(file)
    versions = _versions(api, good, bad)
    search = _Search(api, content, env)
    first, skipped = _first_that_refuses(search, versions, file)
    if as_json:
        answer = search.answers.get(first or "")
        print_json(
            {
                "file": name(file),
                "first_invalid": first,
                "skipped": [{"version": version, "reason": reason} for version, reason in search.skipped.items()],
                "errors": answer["errors"] if answer else [],
            }
        )
    elif first is None:
        breaks = f"no installed version up to {versions[-1 - len(skipped)]} breaks it"
        if skipped:
            breaks += f"; the newer ones could not check it: {', '.join(skipped)}"
        print_result(f"{one_line(name(file))}: {breaks}")
    else:
        which = f"{first} is the first installed version that breaks it"
        if skipped:
            which = f"{first} breaks it; it may be one of the skipped versions before it: {', '.join(skipped)}"
        print_result(f"{one_line(name(file))}: {which}")
        shown = findings.of_validation(name(file), search.answers[first])
        # Errors that only the host decides break nothing.
        errors = [each for each in shown if each.severity == "error" and each.code != "depends_on_host"]
        print_result(findings.as_text(errors, {name(file): content}))
    if first is not None or skipped:
        raise Ended(FAILED)


def _versions(api: Api, good: str | None, bad: str | None) -> list[str]:
    """The installed versions from `good` to `bad`, oldest first. Raises Failed."""
    installed = sorted(map(_version, api.items(InstalledVersionOut, "/collector-versions")), key=age)
    for version in (good, bad):
        if version and version not in installed:
            listed = ", ".join(installed)
            raise Failed(f"collector {version} is not installed on the server; installed: {listed}; {INSTALL_ANOTHER}")
    chosen = [
        version
        for version in installed
        if (not good or age(version) >= age(good)) and (not bad or age(version) <= age(bad))
    ]
    if len(chosen) < 2:
        raise Failed(f"there are not two installed versions to search; installed: {one_line(', '.join(installed))}")
    return chosen


def _first_that_refuses(search: _Search, versions: Sequence[str], file: str) -> tuple[str | None, Sequence[str]]:
    """The version, and those directly before it that were skipped.

    None if the newest that could check it accepts it, and then the skipped ones are newer.
    """
    low = next((at for at, version in enumerate(versions) if search.accepts(version) is not None), None)
    if low is None:
        raise Failed(f"no installed version could check {one_line(file)}: each build lacks one of its components")
    if not search.accepts(versions[low]):
        raise Failed(
            f"{one_line(name(file))} is invalid on {versions[low]} already: begin with an older version, with --good, "
            "or see `headgate validate`"
        )
    high = next(at for at in range(len(versions) - 1, -1, -1) if search.accepts(versions[at]) is not None)
    if search.accepts(versions[high]):
        return None, versions[high + 1 :]
    while untried := [at for at in range(low + 1, high) if versions[at] not in search.skipped]:
        middle = untried[len(untried) // 2]
        accepts = search.accepts(versions[middle])
        if accepts is True:
            low = middle
        elif accepts is False:
            high = middle
    return versions[high], versions[low + 1 : high]


def _version(installed: InstalledVersionOut) -> str:
    version = installed["version"]
    if not VERSION.fullmatch(version):
        raise Failed(f"the server lists {version!r}, which is not a collector version: is it a Headgate server?")
    return version
