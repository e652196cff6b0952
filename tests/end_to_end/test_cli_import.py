"""`headgate config import`: files of somebody's own become drafts, with what is in the way in a line for each kind."""

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.support.cli_support import EDGE, Cli
from tests.support.second_version import needs_second_version, second_version
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

NEWER = """\
# Kept as it is.
receivers:
  file_log/app: {include: [/var/log/app.log]}
exporters:
  otlp_grpc:
    endpoint: ${env:BACKEND}
service:
  pipelines:
    logs: {receivers: [file_log/app], exporters: [otlp_grpc]}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
data:
  relay: |
    receivers: {host_metrics: {scrapers: {cpu: }}}
    exporters: {signozclickhousemetrics: }
    service: {pipelines: {metrics: {receivers: [host_metrics], exporters: [signozclickhousemetrics]}}}
"""


def test_files_become_drafts_with_known_fixes_and_the_rest_in_a_line_for_each_kind(cli: Cli) -> None:
    cli.write("theirs/newer.yaml", NEWER)
    cli.write("theirs/map.yaml", CONFIG_MAP)
    cli.write("theirs/edge.yaml", EDGE)
    cli.ok("config", "create", "theirs/edge.yaml")
    cli.write("theirs/edge.yaml", f"{EDGE}# changed since\n")

    shown = cli.run("config", "import", "theirs", "gone.yaml", "--dry-run")
    assert shown.code == 1
    lines = shown.out.splitlines()
    newer = "error     3  written for a newer collector: host_metrics is hostmetrics here, file_log is filelog here, "
    assert f"{newer}otlp_grpc is otlp here (3 fixes known)  in theirs/map.yaml, theirs/newer.yaml" in lines
    assert (
        "error     1  not in otelcol-contrib: signozclickhousemetrics, of SigNoz's distribution  in theirs/map.yaml"
        in lines
    )
    assert "--fix applies 3 known fixes\n" in shown.err

    done = cli.run("config", "import", "theirs", "gone.yaml", "--fix", "--env", "BACKEND=otel:4317", "--json")
    files = {one["name"]: one for one in json.loads(done.out)["files"]}
    assert done.code == 1
    assert {name: (one["valid"], one["errors"], one["fixed"]) for name, one in files.items()} == {
        "newer": (True, 0, 4),
        "map": (False, 1, 2),
        "edge": (None, 0, 0),
        "gone": (None, 0, 0),
    }
    assert "exists already" in files["edge"]["problem"]
    assert files["gone"]["problem"] == "cannot read gone.yaml: No such file or directory"

    stored = cli.ok("config", "show", "newer", "--yaml")
    assert stored == NEWER.replace("file_log", "filelog").replace("otlp_grpc", "otlp")
    assert cli.ok("config", "show", "map", "--yaml").startswith("receivers: {hostmetrics:")


def typed(cli: Cli, *words: str, answers: str) -> tuple[str, str]:
    """What the command prints, and what it shows on a terminal where somebody types these answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "headgate_cli.main", *words, "--url", cli.url, "--token", cli.token]
    paths = os.pathsep.join(str(ROOT / name) for name in ("cli", "engine"))
    environment = {**os.environ, "PYTHONPATH": paths, "HOME": str(cli.folder)}
    # What is asked beyond these answers meets the end of the input.
    os.write(ours, answers.encode() + b"\x04")
    with subprocess.Popen(
        command, cwd=cli.folder, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            printed, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    os.set_blocking(ours, False)
    shown = os.read(ours, 65_536).decode()
    os.close(theirs)
    os.close(ours)
    return printed, shown


@needs_second_version
def test_a_terminal_is_asked_for_the_collector_that_the_files_are_for_and_for_fixes(cli: Cli) -> None:
    cli.write("newer.yaml", NEWER)
    cli.write("again.yaml", NEWER)
    proposed = cli.run("config", "import", "newer.yaml", "--dry-run", "--env", "BACKEND=otel:4317")
    printed, shown = typed(cli, "config", "import", "newer.yaml", "--env", "BACKEND=otel:4317", answers="y\n")
    mended, asked = typed(cli, "config", "import", "again.yaml", "--env", "BACKEND=otel:4317", answers="n\ny\n")
    created = json.loads(cli.ok("config", "show", "newer", "--json"))

    leaves = f"collector {second_version()} leaves 0 errors instead of 2"
    assert f"--match-version: {leaves}\n" in proposed.err
    assert f"The {leaves}: import for it? [Y/n]" in shown
    assert "Fixed" not in shown, printed
    assert second_version() in str(created)
    assert cli.ok("config", "show", "newer", "--yaml") == NEWER
    assert "Apply 2 fixes to what is imported?" in asked, mended
    assert cli.ok("config", "show", "again", "--yaml") == NEWER.replace("file_log", "filelog").replace(
        "otlp_grpc", "otlp"
    )
