"""The command `accept`."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import click

from headgate_cli import safe_files
from headgate_cli.accept import remains, report
from headgate_cli.accept.bench import OF_ANY_RUN, Bench, Given
from headgate_cli.accept.checks.all import ALL
from headgate_cli.accept.model import PAGE, REMEDIES, PromiseCheck, PromiseOutcome
from headgate_cli.accept.redaction import SecretRedaction
from headgate_cli.accept.remains import APPLICATION, Admin
from headgate_cli.accept.run import Result, run
from headgate_cli.api import Api, HttpApi
from headgate_cli.connection import as_json, server_options
from headgate_cli.errors import FAILED, INTERRUPTED, Ended, Failed, NotAuthenticated
from headgate_cli.login import credentials
from headgate_cli.login.credentials import Credential
from headgate_cli.output import print_json, print_outcome, say, status_line, table
from headgate_cli.untrusted import one_line


@click.command()
@click.option(
    "--only", multiple=True, metavar="IDS", help="Only these checks or sections, with commas between them. Repeatable."
)
@click.option("--list", "lists", is_flag=True, help="List the checks, and ask no server.")
@click.option(
    "--report", "folder", default="", metavar="FOLDER", help="Also write report.md and junit.xml into this folder."
)
@click.option("--host", "runs_host", is_flag=True, help="Run the server's install command on this machine.")
@click.option("--admin", is_flag=True, help="Also check with the sign-in of `headgate login`, an Admin's.")
@click.option("--strict", is_flag=True, help="Fail also if a check could not be made.")
@click.option("--remove", "removing", is_flag=True, help="Take away what killed runs left; check nothing.")
@as_json
@server_options
def accept(
    url: str,
    token: str | None,
    only: Sequence[str],
    lists: bool,
    folder: str,
    runs_host: bool,
    admin: bool,
    strict: bool,
    removing: bool,
    as_json: bool,
) -> None:
    """Check that a running server does what the specification promises, in under 10 minutes.

    It needs a token with write access. A token without, in HEADGATE_READ_TOKEN, and --admin let it check more. What it
    creates is named headgate-accept-… and is taken away again. Use a token of its own: its requests use up the limit.

    Ends with 0 if no check fails, with 1 if one fails or none passes, and with --strict also if one is not checked.

    \b
    Examples:
      headgate accept --list
      headgate accept --only versions,verdicts.valid
      headgate accept --report report
    """
    chosen = _chosen(ALL, only)
    if lists:
        if as_json:
            print_json([{"id": check.id, "promise": check.promise} for check in chosen])
        else:
            table(["CHECK", "WHAT IT PROVES"], [(check.id, check.promise) for check in chosen], nothing="", whole=True)
        return
    writes = _credential(url, token)
    session = _session(writes.url) if admin else None
    if removing:
        _remove(writes, session, as_json=as_json)
        return
    # `make` and CI systems end a program with it, and what it made has to be taken away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    inputs = Given(
        writes.url,
        writes.value,
        os.environ.get("HEADGATE_READ_TOKEN", "").strip(),
        session.headers if session else {},
        runs_host,
    )
    result = _run(inputs, HttpApi(writes), chosen, session)
    _tell(result, Path(folder) if folder else None, as_json=as_json)
    if result.interrupted:
        raise Ended(INTERRUPTED)
    if not result.passed or (strict and result.count("not checked")):
        raise Ended(FAILED)


def _credential(url: str, token: str | None) -> Credential:
    """The token that writes. Raises NotAuthenticated if there is none: a session would check something else."""
    chosen = credentials.choose(credentials.server(url) if url else "", token or "")
    if chosen is None or chosen.organization_id:
        raise NotAuthenticated("the checks need an API token with write access: --token or SERVICE_API_TOKEN")
    return credentials.usable(chosen)


def _chosen(checks: Sequence[PromiseCheck], only: Sequence[str]) -> Sequence[PromiseCheck]:
    """All of them, or those that `only` names by ids and sections. Raises UsageError for a name that is none."""
    requested = [name.strip() for names in only for name in names.split(",")]
    sections = {listed.section: [check.id for check in checks if check.section == listed.section] for listed in checks}
    for name in requested:
        section = name.partition(".")[0]
        if section in sections and name not in (section, *sections[section]):
            raise click.UsageError(f"--only: there is no check {name!r}: {section} has {', '.join(sections[section])}")
        if section not in sections:
            every = f"the sections are {', '.join(sections)}, and `headgate accept --list` shows their checks"
            raise click.UsageError(f"--only: there is no check or section {name!r}: {every}")
    return [check for check in checks if not only or check.id in requested or check.section in requested]


def _session(url: str) -> Credential:
    stored = credentials.load()
    if stored is None or stored.url != url or not stored.organization_id:
        raise NotAuthenticated(f"--admin needs a sign-in: `headgate login --url {one_line(url)}`")
    return credentials.usable(stored)


def _admin(session: Credential) -> Admin:
    return Admin(HttpApi(session), HttpApi(session, base=APPLICATION))


def _run(inputs: Given, api: Api, chosen: Sequence[PromiseCheck], session: Credential | None) -> Result:
    count = 0

    def show(outcome: PromiseOutcome) -> None:
        nonlocal count
        count += 1
        status_line("")
        mark = {"passed": click.style("pass", fg="green"), "failed": click.style("FAIL", fg="red", bold=True)}
        message = f": {one_line(outcome.message)}" if outcome.message else ""
        shown = mark.get(outcome.status, "not checked")
        say(f"{count:>3}/{len(chosen)}  {shown}  {outcome.check.id}  {outcome.seconds:.1f} s{message}")
        if outcome.status == "failed":
            say(f"         {REMEDIES[outcome.check.section]} See {PAGE}, section {outcome.check.section}.")

    bench = Bench(inputs, lambda line: say(f"         {line}"))
    say(f"Checking {one_line(bench.redacted(inputs.url))} as run {bench.run_id}: {len(chosen)} checks")
    return run(bench, api, chosen, show, _admin(session) if session else None)


def _tell(result: Result, folder: Path | None, *, as_json: bool) -> None:
    if folder:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            safe_files.replace(folder / "report.md", report.as_markdown(result).encode())
            safe_files.replace(folder / "junit.xml", report.as_junit(result))
        except OSError as error:
            raise Failed(f"cannot write the report into {folder}: {error}") from error
    if as_json:
        print_json(report.as_json(result))
    else:
        headings = ["ENDPOINT", "REQUESTS", "FIRST MS", "MEDIAN MS", "LONGEST MS"]
        table(headings, [tuple(row.values()) for row in report.latencies(result)], nothing="No request was answered")
    for sentence in result.left:
        say(sentence)
    say(f"{report.LEFT}\n{report.summary(result)}")


def _remove(writes: Credential, session: Credential | None, *, as_json: bool) -> None:
    redacted = SecretRedaction([writes.value, *([session.value] if session else [])])
    remaining = remains.remove(HttpApi(writes), OF_ANY_RUN, admin=_admin(session) if session else None)
    left = [redacted(sentence) for sentence in remaining]
    if session is None:
        say("Webhooks and service accounts were not looked for: that takes --admin")
    print_outcome({"left": left}, as_json, "\n".join(left) or "What earlier runs made is taken away")
    if left:
        raise Ended(FAILED)
