"""`test run | show | output`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api, Entity, optional, text
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.command_group import Group
from headgate_cli.configurations import lookup, names
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import as_json, connected
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.output import dump, print_text, say, tell
from headgate_cli.rules.files import rules_for
from headgate_cli.runs.follow import FINAL, follow, show
from headgate_cli.safe_files import STDIN, is_file, name, read
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import SIGNALS, pipelines, signal_of

# Of looking whether a file has changed.
_LOOK_SECONDS: Final = 0.5
_EXPECTED: Final = ("any", "all", "none")
_RULE_HELP: Final = (
    "A rule, which holds if its condition is true of any item; of all of them by NAME:all, of none by NAME:none. "
    "Repeatable."
)
_RUN_ID: Final = re.compile("run_[0-7][0-9a-hjkmnp-tv-z]{25}")


@click.group(cls=Group)
def test() -> None:
    """Run pipeline tests and look at them: sample telemetry through the real collector, judged by rules.

    \b
    Examples:
      headgate test run edge --sample sample.log --saved-rules
      headgate test show run_01... --wait
    """


@test.command()
@click.argument("configuration", metavar="CONFIGURATION|FILE")
@click.option("--sample", required=True, metavar="FILE", help="OTLP/JSON, or for logs any text; `-` is standard input.")
@click.option("--pipeline", default="", help="The pipeline to test; needed where there are several.")
@click.option("--signal", type=click.Choice(SIGNALS), help="The sample's signal; the pipeline's by default.")
@click.option("--rules", "rules_file", default="", metavar="FILE", help="Rules, as `headgate rules get` prints them.")
@click.option("--rule", "rules", multiple=True, metavar="NAME[:EXPECT]=CONDITION", help=_RULE_HELP)
@click.option("--saved-rules", is_flag=True, help="Use the rules saved on the version.")
@click.option("--version", "n", type=VersionNumber(), help="A version instead of the latest one.")
@click.option("--duration", type=click.IntRange(1, 60), default=5, show_default=True, help="Seconds to run.")
@click.option("--collector-version", type=CollectorVersion(), help="Another collector than the configuration's.")
@click.option("--no-wait", is_flag=True, help="Print the run's id and leave it running.")
@click.option("--watch", is_flag=True, help="Run again whenever one of the files changes, until Ctrl-C.")
@as_json
@connected
def run(
    api: Api,
    configuration: str,
    sample: str,
    pipeline: str,
    signal: str | None,
    rules_file: str,
    rules: Sequence[str],
    saved_rules: bool,
    n: int | None,
    duration: int,
    collector_version: str | None,
    no_wait: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Send a sample through a pipeline of a stored configuration, or of a file that is nowhere stored.

    Ends with 0 when every rule holds, and with 1 when one does not or the run errored.

    \b
    Examples:
      headgate test run edge --sample sample.log --saved-rules
      headgate test run collector.yaml --pipeline logs --sample sample.log --rule 'has a body:all=log.body != nil'
      headgate test run collector.yaml --sample sample.log --rules rules.yaml --duration 2
    """
    if bool(rules_file) + bool(rules) + saved_rules > 1:
        raise click.UsageError("choose one of --rules, --rule and --saved-rules")
    files = [file for file in (configuration, sample, rules_file) if file and is_file(file) and file != STDIN]
    if watch and (no_wait or not files):
        raise click.UsageError("--watch needs a file to watch, and waits for each run")

    def once() -> None:
        stored, request = _configuration(api, configuration, n)
        chosen = pipeline or _only_pipeline(stored, configuration)
        request |= {
            "sample": read(sample),
            "signal_type": signal or signal_of(chosen),
            "target_pipeline": chosen,
            "duration_seconds": duration,
        }
        if collector_version:
            request["collector_version"] = collector_version
        if saved_rules:
            request["use_saved_rules"] = True
        elif rules_file:
            request["rules"] = rules_for(rules_file, chosen)
        elif rules:
            request["rules"] = [_rule(one) for one in rules]
        started = api.create("/testing/runs", request)
        if no_wait:
            if as_json:
                dump(started)
            else:
                tell(one_line(text(started, "id")))
        else:
            _finish(api, started, as_json=as_json)

    if watch:
        _watch(files, once)
    else:
        once()


@test.command("show")
@click.argument("run_id", metavar="RUN")
@click.option("--wait", is_flag=True, help="Wait until the run has ended.")
@as_json
@connected
def show_(api: Api, run_id: str, wait: bool, as_json: bool) -> None:
    """Show a run; ends with 1 for one that failed or errored.

    \b
    Examples:
      headgate test show run_01... --wait
    """
    found = api.get(f"/testing/runs/{_run(run_id)}")
    if wait:
        _finish(api, found, as_json=as_json)
    else:
        _present(api, found, as_json=as_json)


@test.command()
@click.argument("run_id", metavar="RUN")
@connected
def output(api: Api, run_id: str) -> None:
    """Print what the pipeline put out, one OTLP/JSON document a line.

    \b
    Examples:
      headgate test output run_01... > output.jsonl
    """
    print_text(api.text(f"/testing/runs/{_run(run_id)}/output"))


def _run(run_id: str) -> str:
    if not _RUN_ID.fullmatch(run_id):
        raise click.BadParameter(
            f"{run_id!r} is no run's id, as `headgate test run` prints it: run_...", param_hint="RUN"
        )
    return run_id


def _finish(api: Api, started: Entity, *, as_json: bool) -> None:
    ended = started if started["status"] in FINAL else follow(api, text(started, "id"))
    _present(api, ended, as_json=as_json)


def _present(api: Api, found: Entity, *, as_json: bool) -> None:
    called = names.of(api, [optional(found, "configuration_id")])
    if not as_json:
        show(found, names.version(found, called))
        return
    dump(names.named(found, called))
    if found["status"] in ("Fail", "Error"):
        raise Ended(FAILED)


def _configuration(api: Api, wanted: str, n: int | None) -> tuple[str, dict[str, object]]:
    """The configuration's text, and how to name it to the server."""
    if is_file(wanted):
        if n:
            raise click.UsageError("a file has no versions: leave out --version")
        content = read(wanted)
        return content, {"yaml": content}
    latest = lookup.latest(api, lookup.find(api, wanted))
    version = n or latest.version
    content = latest.yaml if version == latest.version else text(lookup.version(api, latest.id, version), "yaml")
    return content, {"configuration_id": latest.id, "version_number": version}


def _only_pipeline(content: str, called: str) -> str:
    found = pipelines(content, name(called))
    if len(found) != 1:
        raise click.UsageError(f"name one with --pipeline: {', '.join(found) or 'the configuration has none'}")
    return found[0]


def _rule(given: str) -> dict[str, object]:
    """The first `=` ends the name, and what `expect` stands for before it; a name may hold any other colon."""
    called, separator, condition = given.partition("=")
    name, _, expect = called.rpartition(":")
    if name and separator and expect.isalpha() and expect not in _EXPECTED:
        # A slip would otherwise become part of the name, and the rule would pass by `any`.
        words = ", ".join(_EXPECTED)
        raise click.BadParameter(
            f"{given!r}: {expect!r} is not one of {words}; for a name with a colon write '{called}:any=CONDITION', "
            "and count goes into a file of rules",
            param_hint="--rule",
        )
    if expect not in _EXPECTED or not name:
        name, expect = called, "any"
    if not separator or not name.strip() or not condition.strip():
        raise click.BadParameter(f"{given!r} is not NAME=CONDITION or NAME:all=CONDITION", param_hint="--rule")
    return {"name": name.strip(), "condition": condition.strip(), "expect": expect}


def _watch(files: Sequence[str], once: Callable[[], None]) -> None:
    """Ends with Ctrl-C only: what is wrong with a file is what the person is about to mend."""
    while True:
        before = _state(files)
        try:
            once()
        except Ended:
            pass
        except Failed as error:
            error.show()
        say(f"Waiting for a change of {one_line(', '.join(files))}; Ctrl-C ends it")
        while _state(files) == before:
            time.sleep(_LOOK_SECONDS)


def _state(files: Sequence[str]) -> list[tuple[int, int]]:
    found = []
    for file in files:
        try:
            stat = Path(file).stat()
        except FileNotFoundError:
            # An editor is about to put it back.
            found.append((0, 0))
        else:
            found.append((stat.st_mtime_ns, stat.st_size))
    return found
