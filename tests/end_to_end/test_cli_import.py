"""`headgate config import`: files of somebody's own become drafts, with what is in the way in a line for each kind."""

import json

import pytest

from tests.support.cli_support import EDGE, Cli

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
