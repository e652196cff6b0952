"""`test run | show | output | stderr`; `test steps` is in steps.py."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from headgate_cli import variables
from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.collector_version import CollectorVersion
from headgate_cli.command_group import CommandGroup
from headgate_cli.comparisons.commands import diff
from headgate_cli.configurations import lookup, names
from headgate_cli.configurations.lookup import VersionNumber
from headgate_cli.connection import as_json, connected
from headgate_cli.coverage.commands import coverage
from headgate_cli.errors import FAILED, Ended, Failed
from headgate_cli.ids import RunId
from headgate_cli.local.options import connected_or_local
from headgate_cli.output import print_json, print_outcome, print_text, say
from headgate_cli.rules.files import refusal, rules_for
from headgate_cli.runs import stand_ins, steps
from headgate_cli.runs.follow import FINAL, follow, show
from headgate_cli.runs.listing import runs
from headgate_cli.safe_files import STDIN, is_file, name, read
from headgate_cli.shapes import RunOut
from headgate_cli.suites.commands import list_, suite
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import SIGNALS, pipelines, signal_of

_WATCH_SECONDS: Final = 0.5
_NOTHING: Final[Entity] = {}
_EXPECTED: Final = ("any", "all", "none")
_RULE_HELP: Final = (
    "A rule. It passes if the condition is true for any item; NAME:all requires all items, NAME:none none of them. "
    "Repeatable."
)


@click.group(cls=CommandGroup)
def test() -> None:
    """Run pipeline tests and show their results: sample telemetry goes through a real collector, and rules check it.

    \b
    Examples:
      headgate test run edge --sample sample.log --saved-rules
      headgate test show run_01... --wait
    """


@test.command()
@click.argument("configuration", metavar="CONFIGURATION[@N]|FILE")
@click.option("--sample", required=True, metavar="FILE", help="OTLP/JSON, or any text for logs; `-` is standard input.")
@click.option(
    "--sample-format",
    type=click.Choice(("raw", "otlp")),
    help="What the sample is: log lines, even if they are OTLP/JSON, or OTLP/JSON. By default, what it looks like.",
)
@click.option(
    "--sample-name",
    metavar="PATH",
    help="The absolute path of the file that the log lines are in, such as /var/log/pods/...; only the run sees it.",
)
@click.option("--pipeline", default="", help="The pipeline to test; required if there are several.")
@click.option("--signal", type=click.Choice(SIGNALS), help="The sample's signal; the pipeline's by default.")
@click.option(
    "--rules",
    "rules_file",
    default="",
    metavar="FILE",
    help="Rules by pipeline, in the format of `headgate rules set --help`; or a plain list of rules.",
)
@click.option("--rule", "rules", multiple=True, metavar="NAME[:EXPECT]=CONDITION", help=_RULE_HELP)
@click.option("--saved-rules", is_flag=True, help="Use the rules saved on the version.")
@click.option("--version", "n", type=VersionNumber(), help="The version; the latest one by default.")
@click.option(
    "--duration", type=click.IntRange(1, 60), default=5, show_default=True, metavar="SECONDS", help="How long to run."
)
@click.option("--collector-version", type=CollectorVersion(), help="Instead of the configuration's collector version.")
@click.option(
    "--feature-gate",
    "feature_gates",
    multiple=True,
    metavar="[+|-]NAME",
    help="A feature gate of the collector to enable (+, the default) or disable (-). Repeatable.",
)
@stand_ins.stand_ins
@variables.env
@click.option("--trace", is_flag=True, help="Print what each component of the pipeline did.")
@click.option(
    "--record",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --trace, what became of this record of the sample in each component.",
)
@click.option("--no-wait", is_flag=True, help="Print the run's id without waiting for the result.")
@click.option("--watch", is_flag=True, help="Run again whenever one of the files changes; Ctrl-C stops.")
@as_json
@connected_or_local("Run")
def run(
    api: Api,
    configuration: str,
    sample: str,
    sample_format: str | None,
    sample_name: str | None,
    pipeline: str,
    signal: str | None,
    rules_file: str,
    rules: Sequence[str],
    saved_rules: bool,
    n: int | None,
    duration: int,
    collector_version: str | None,
    feature_gates: Sequence[str],
    replaced: Entity,
    env: Sequence[tuple[str, str]],
    trace: bool,
    record: int | None,
    no_wait: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Send a sample through a pipeline of a stored configuration, or of a file.

    edge@3 is version 3 of edge, as with --version 3.

    Ends with 0 if every rule passes, with 1 if a rule fails or the run ends in an error.

    \b
    Examples:
      headgate test run edge --sample sample.log --saved-rules
      headgate test run collector.yaml --pipeline logs --sample sample.log --rule 'has a body:all=log.body != nil'
      headgate test run collector.yaml --sample sample.log --rules rules.yaml --duration 2
      headgate test run collector.yaml --sample sample.log --trace --record 3
      headgate test run edge --sample sample.log --skip k8sattributes --env-file test.env
      headgate test run edge --sample sample.log --attribute k8sattributes:k8s.pod.name=web-1
    """
    if bool(rules_file) + bool(rules) + saved_rules > 1:
        raise click.UsageError("--rules, --rule and --saved-rules exclude each other: choose one")
    if saved_rules and is_file(configuration):
        raise click.UsageError("--saved-rules needs a configuration; a file has no saved rules")
    if api.is_local:
        _require_local(configuration, saved_rules=saved_rules, no_wait=no_wait)
    if record and (not trace or no_wait):
        raise click.UsageError("--record needs --trace, and excludes --no-wait")
    given_rules = [_rule(rule) for rule in rules]
    files = [file for file in (configuration, sample, rules_file) if file and is_file(file) and file != STDIN]
    if watch and (no_wait or not files):
        raise click.UsageError("--no-wait excludes --watch" if no_wait else "--watch needs a file to watch")

    def once() -> None:
        yaml, request = _configuration(api, configuration, n)
        chosen = pipeline or _only_pipeline(yaml, configuration)
        request |= {
            "sample": read(sample),
            "signal_type": signal or signal_of(chosen),
            "target_pipeline": chosen,
            "duration_seconds": duration,
        }
        options = {
            "collector_version": collector_version,
            "sample_format": sample_format,
            "sample_name": sample_name,
            "feature_gates": list(feature_gates),
            "trace": trace,
        }
        # A server that does not know a field refuses it.
        request |= {field: value for field, value in options.items() if value}
        request |= dict(replaced) | variables.in_request(env)
        if saved_rules:
            request["use_saved_rules"] = True
        elif rules_file:
            request["rules"] = rules_for(rules_file, chosen)
        elif rules:
            request["rules"] = given_rules
        try:
            started = api.create(RunOut, "/testing/runs", request)
        except ServerError as error:
            raise (refusal(error, rules_file, chosen) if rules_file else error) from error
        if no_wait:
            print_outcome(started, as_json, one_line(started["id"]))
        else:
            if not api.is_local:
                # Whoever waits may need it before the end: to look from elsewhere, or after Ctrl-C.
                say(f"Run {one_line(started['id'])}")
            _finish(api, started, as_json=as_json, trace=trace, record=record)

    if watch:
        _watch(files, once)
    else:
        once()


@test.command("show")
@click.argument("run_id", metavar="RUN", type=RunId())
@click.option("--wait", is_flag=True, help="Wait until the run has ended.")
@connected
def show_(api: Api, run_id: str, wait: bool, as_json: bool) -> None:
    """Show a run and its results. Ends with 1 if a rule failed or the run ended in an error.

    \b
    Examples:
      headgate test show run_01... --wait
    """
    run = api.get(RunOut, f"/testing/runs/{run_id}")
    if wait:
        _finish(api, run, as_json=as_json)
    else:
        _present(api, run, as_json=as_json)


@test.command()
@click.argument("run_id", metavar="RUN", type=RunId())
@connected
def output(api: Api, run_id: str, as_json: bool) -> None:
    """Print the pipeline's output, one OTLP/JSON document a line; with --json, a list of these documents.

    \b
    Examples:
      headgate test output run_01... > output.jsonl
    """
    path = f"/testing/runs/{run_id}/output"
    if as_json:
        print_json(api.documents(path))
    else:
        print_text(api.text(path))


@test.command()
@click.argument("run_id", metavar="RUN", type=RunId())
@connected
def stderr(api: Api, run_id: str, as_json: bool) -> None:
    """Print the collector's standard error as it was written; `test show` has what matters of it.

    \b
    Examples:
      headgate test stderr run_01...
    """
    written = api.text(f"/testing/runs/{run_id}/stderr")
    print_outcome({"id": run_id, "stderr": written}, as_json, lambda: print_text(written))


def _finish(api: Api, started: RunOut, *, as_json: bool, trace: bool = False, record: int | None = None) -> None:
    ended = started if started["status"] in FINAL else follow(api, started["id"])
    traced = steps.traced(api, ended["id"], record) if trace else None
    if traced and not as_json:
        # First, so that the rules' results are what is seen last.
        traced.show()
    _present(api, ended, as_json=as_json, further=traced.as_json() if traced else {})


def _present(api: Api, run: RunOut, *, as_json: bool, further: Entity = _NOTHING) -> None:
    by_id = names.by_id(api, [run["configuration_id"] or ""])
    if not as_json:
        show(run, names.version(run, by_id))
        return
    print_json({**names.named(run, by_id), **further})
    if run["status"] in ("Fail", "Error"):
        raise Ended(FAILED)


def _require_local(configuration: str, **asked: bool) -> None:
    """Raises UsageError for what only a server has."""
    if not is_file(configuration):
        raise click.UsageError("--local runs a file: a stored configuration is on a server")
    for option, is_set in asked.items():
        if is_set:
            raise click.UsageError(f"--{option.replace('_', '-')} needs a server: leave it out, or --local")


def _configuration(api: Api, label: str, n: int | None) -> tuple[str, dict[str, object]]:
    """The configuration's YAML, and the fields that name it in a request."""
    if is_file(label):
        if n:
            raise click.UsageError("--version is for stored configurations: leave it out for a file")
        content = read(label)
        return content, {"yaml": content}
    stored, n = lookup.one_version(label, n)
    latest = lookup.latest(api, lookup.find(api, stored))
    version = n or latest.version
    content = lookup.text_of(api, latest, version).text
    return content, {"configuration_id": latest.id, "version_number": version}


def _only_pipeline(content: str, label: str) -> str:
    defined = pipelines(content, name(label))
    if not defined:
        raise click.UsageError(f"{one_line(name(label))} has no pipelines: add one under service.pipelines")
    if len(defined) > 1:
        raise click.UsageError(f"choose a pipeline with --pipeline: {', '.join(defined)}")
    return defined[0]


# The `=` is that of a comparison, or stands in a text in quotes.
_IS_CONDITION: Final = re.compile(r"""==$|[!<>]=.?$|\"""")


def _rule(argument: str) -> dict[str, object]:
    """The rule of a --rule: `NAME[:EXPECT]=CONDITION`. The first `=` ends the name; the name may contain colons."""
    label, separator, condition = argument.partition("=")
    name, _, expect = label.rpartition(":")
    if name and separator and expect.isalpha() and expect not in _EXPECTED:
        # A typing error would otherwise become part of the name, and the rule would expect `any`.
        raise click.BadParameter(
            f"{expect!r} is not known: write any, all or none (`count` needs a file of rules); for a name with a colon "
            f"write '{label}:any=CONDITION'",
            param_hint="--rule",
        )
    if expect not in _EXPECTED or not name:
        name, expect = label, "any"
    if separator and _IS_CONDITION.search(f"{label}={condition[:1]}"):
        raise _wrong_rule(
            argument, f"begins with a condition: write NAME=CONDITION, for example {shlex.quote(f'name={argument}')}"
        )
    if not separator:
        raise _wrong_rule(argument, "has no =: write NAME=CONDITION or NAME:all=CONDITION")
    if not name.strip():
        raise _wrong_rule(argument, "has no name before the =: write NAME=CONDITION")
    if not condition.strip():
        raise _wrong_rule(argument, f"has no condition after the =: write {label}=CONDITION")
    return {"name": name.strip(), "condition": condition.strip(), "expect": expect}


def _wrong_rule(argument: str, reason: str) -> click.BadParameter:
    return click.BadParameter(f"{argument!r} {reason}", param_hint="--rule")


def _watch(files: Sequence[str], once: Callable[[], None]) -> None:
    """Run again after each change, until Ctrl-C; an error does not end it, as the next change may correct it."""
    while True:
        before = _state(files)
        try:
            once()
        except Ended:
            pass
        except Failed as error:
            error.show()
        say(f"Waiting for a change of {one_line(', '.join(files))}; Ctrl-C stops")
        while _state(files) == before:
            time.sleep(_WATCH_SECONDS)


def _state(files: Sequence[str]) -> list[tuple[int, int]]:
    """Time and size of each file."""
    states = []
    for file in files:
        try:
            stat = Path(file).stat()
        except FileNotFoundError:
            # Editors remove a file for a moment while they save it.
            states.append((0, 0))
        else:
            states.append((stat.st_mtime_ns, stat.st_size))
    return states


for _command in (suite, list_, runs, coverage, steps.steps, diff):
    test.add_command(_command)
