"""Upgrade checks by the real collectors: what the report holds of what somebody wrote, and what it does not."""

import json

import pytest

from headgate import checker
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import SeveralConfigurations, UpgradeReport
from headgate_engine.validation.model import CheckRequest
from tests.support.askers import ASKER
from tests.support.second_version import needs_second_version, older_and_newer

OLDER, NEWER = older_and_newer()

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]

SECRETS = """\
extensions:
  basicauth/server:
    htpasswd: {inline: "ann:planted-htpasswd"}
  bearertokenauth: {token: planted-bearer}
receivers:
  otlp:
    protocols:
      http:
        endpoint: localhost:4318
        auth: {authenticator: basicauth/server}
processors:
  attributes:
    actions: [{key: planted-key, value: planted-value, action: insert}]
  transform:
    log_statements: ['set(log.attributes["a"], "planted-statement")']
exporters:
  otlphttp:
    endpoint: https://ann:planted-password@otel.example.com
    headers: {authorization: Bearer planted-header, x-key: "${env:KEY}"}
    auth: {authenticator: bearertokenauth}
  otlp:
    endpoint: otel.example.com:4317
    headers: {authorization: "${env:KEY}"}
service:
  extensions: [basicauth/server, bearertokenauth]
  pipelines:
    logs: {receivers: [otlp], processors: [attributes, transform], exporters: [otlphttp, otlp]}
"""
VERSIONS = [OLDER, pytest.param(NEWER, marks=needs_second_version)]


def check(yaml: str, to: str, source: str = OLDER, **env: str) -> UpgradeReport:
    return upgrades.check(CheckRequest(yaml, None, env), to, source, asker=ASKER)


@pytest.mark.parametrize("target", VERSIONS)
def test_a_report_repeats_nothing_that_somebody_wrote_but_the_text(target: str) -> None:
    report = check(SECRETS, target, KEY="planted-variable")
    written = report.model_dump_json(by_alias=True, exclude={"proposed_yaml"})

    assert report.verdict.source.valid, report.verdict.source
    assert report.verdict.target.valid is not False, report.verdict.target
    assert "planted" not in written
    assert json.loads(written)["outputs"] is None


@pytest.mark.parametrize("target", VERSIONS)
def test_a_text_that_is_not_a_configuration_has_its_error_and_nothing_else(target: str) -> None:
    report = check("receivers:\n\tfilelog:\n", target)

    assert [error.code for error in report.verdict.target.errors] == ["yaml_syntax"]
    assert (list(report.new_errors), list(report.renames), report.proposed_yaml) == ([], [], None)


@pytest.mark.parametrize("target", VERSIONS)
def test_an_error_of_both_versions_is_not_new(target: str) -> None:
    report = check(SECRETS.replace("action: insert", "action: inserted"), target)

    assert report.verdict.target.errors
    assert list(report.new_errors) == []


@needs_second_version
@pytest.mark.parametrize(
    "mistake",
    [
        "processors: {batch: {timeot: 5s}}",
        "exporters: {otlp_htp: {}}",
        "receivers: {kafka: {protocol_version: x}}",
        "processors: {transform: {log_statements: ['nope']}}",
    ],
)
def test_a_common_mistake_is_not_new_in_other_words(mistake: str) -> None:
    report = check(f"{mistake}\nservice: {{pipelines: {{}}}}\n", NEWER)

    assert report.verdict.source.errors
    assert report.verdict.target.errors
    assert list(report.new_errors) == []


@needs_second_version
def test_a_text_whose_names_are_too_costly_to_place_is_checked_all_the_same() -> None:
    names = [f"otlphttp/{at}" for at in range(900)]
    exporters = ", ".join(f"{name}: {{endpoint: 'http://x'}}" for name in names)
    pipelines = f"{{traces: {{receivers: [otlp], exporters: [{', '.join(names)}]}}}}"
    report = check(
        f"{{receivers: {{otlp: {{protocols: {{grpc: }}}}}}, exporters: {{{exporters}}}, "
        f"service: {{pipelines: {pipelines}}}}}",
        NEWER,
    )

    assert report.verdict.target.valid
    assert (list(report.renames), report.proposed_yaml, len(report.not_renamed)) == ([], None, 900)


@needs_second_version
def test_a_setting_that_is_written_is_not_a_changed_default() -> None:
    defaults = check(SECRETS, NEWER).defaults
    assert defaults, "the test needs a component whose defaults differ"

    written = {(default.component_path, default.key) for default in defaults}
    assert ("exporters::otlphttp", "endpoint") not in written
    for default in defaults:
        assert default.before != default.after


@needs_second_version
def test_a_downgrade_says_that_the_older_version_does_not_know_the_new_names_and_writes_the_old_ones() -> None:
    fixed = check(SECRETS, NEWER).proposed_yaml
    assert fixed is not None
    report = check(fixed, OLDER, NEWER)

    assert {error.code for error in report.new_errors} >= {"unknown_component"}
    assert {(one.old_type, one.new_type) for one in report.renames} >= {
        ("otlp_grpc", "otlp"),
        ("otlp_http", "otlphttp"),
    }
    assert report.proposed_yaml == SECRETS
    assert check(SECRETS, OLDER).verdict.target.valid


@needs_second_version
def test_a_component_that_the_reduced_build_lacks_is_not_checked_and_the_rest_is() -> None:
    has = checker.COLLECTORS.describe(OLDER, asker=ASKER)["components"]
    lacks = checker.COLLECTORS.describe(NEWER, asker=ASKER)["lacks"]
    assert isinstance(has, list)
    assert isinstance(lacks, list)
    known = {one["type"] for one in has if one["kind"] == "receiver"}
    lacking = [one["type"] for one in lacks if one["kind"] == "receiver" and one["type"] in known]
    if not lacking:
        pytest.skip(f"this build of {NEWER} lacks no component")
    report = check(SECRETS.replace("receivers:\n", f"receivers:\n  {lacking[0]}/other: {{}}\n"), NEWER)

    assert report.verdict.target.valid is None
    assert [(one.component_path, one.line, one.column, one.type, one.version) for one in report.not_checked] == [
        (f"receivers::{lacking[0]}/other", 6, 3, lacking[0], NEWER)
    ]
    assert [one.component_path for one in report.defaults if one.component_path == "exporters::otlp"]


ON_HOST = """\
receivers: {otlp: {protocols: {grpc: }}}
exporters: {otlphttp: {endpoint: "https://a:1"}}
extensions: {file_storage: {directory: /var/lib/otelcol}}
service: {extensions: [file_storage], pipelines: {logs: {receivers: [otlp], exporters: [otlphttp]}}}
"""


@pytest.mark.parametrize("target", VERSIONS)
def test_what_the_host_decides_is_a_warning_of_both_versions_and_not_new(target: str) -> None:
    report = check(ON_HOST, target)

    for verdict in (report.verdict.source, report.verdict.target):
        assert (verdict.valid, verdict.valid_on_host, list(verdict.errors)) == (False, True, [])
        assert [warning.code for warning in verdict.warnings] == ["depends_on_host"]
    assert (list(report.new_errors), list(report.new_warnings)) == ([], [])


INNER = SECRETS.replace("\n", "\n    ").rstrip() + "\n"
AROUND = {
    "a map": f"kind: ConfigMap\ndata:\n  relay.yaml: |\n    {INNER}",
    "a resource": f"kind: A\nspec:\n  config:\n    {INNER}status: {{}}\n",
    "Windows' ends of lines": f"data:\n  relay.yaml: |\n    {INNER}".replace("\n", "\r\n"),
    "a second document": f"kind: Namespace\n---\nconfig:\n    {INNER}",
}


@needs_second_version
@pytest.mark.parametrize("text", AROUND.values(), ids=AROUND)
def test_a_configuration_inside_of_another_text_is_compared_and_renamed_at_its_places(text: str) -> None:
    alone, report = check(SECRETS, NEWER), check(text, NEWER)
    before = text.splitlines().index("    extensions:")

    assert report.inside
    assert (report.verdict.source.valid, report.verdict.target.valid) == (True, True)
    assert [(each.line, each.column) for each in report.renames] == [
        (each.line + before, each.column + 4) for each in alone.renames
    ]
    assert alone.proposed_yaml is not None
    assert report.proposed_yaml is not None
    changed = zip(text.splitlines(), report.proposed_yaml.splitlines(), strict=True)
    assert [after for now, after in changed if now != after] == [
        f"    {after}"
        for now, after in zip(SECRETS.splitlines(), alone.proposed_yaml.splitlines(), strict=True)
        if now != after
    ]


@needs_second_version
def test_a_configuration_that_is_written_with_escapes_is_compared_and_says_why_it_is_not_renamed() -> None:
    report = check(f"data:\n  relay.yaml: {json.dumps(SECRETS)}\n", NEWER)

    assert (report.verdict.target.valid, report.proposed_yaml, list(report.renames)) == (True, None, [])
    assert {(each.line, each.column) for each in report.not_renamed} == {(2, 15)}
    assert "written with escapes" in report.not_renamed[0].reason


@pytest.mark.parametrize("escaped", [False, True])
def test_a_text_with_several_configurations_is_refused_with_their_paths(escaped: bool) -> None:
    # kubectl prints a text with a blank at the end of a line like this.
    first = f"data:\n  relay.yaml: {json.dumps(SECRETS)}\n" if escaped else AROUND["a map"]
    text = first + f"  other.yaml: |\n    {INNER}"

    with pytest.raises(SeveralConfigurations) as refused:
        check(text, OLDER)

    assert "under data.relay.yaml and data.other.yaml: take each out" in refused.value.detail


def test_a_text_whose_lines_end_with_carriage_returns_alone_is_compared_at_the_place_where_it_begins() -> None:
    report = check(AROUND["a map"].replace("\n", "\r"), OLDER)

    assert (report.inside, report.verdict.target.valid) == ("data.relay.yaml", True)


def test_what_stands_in_a_file_of_the_host_is_a_warning_and_leaves_the_verdict_open() -> None:
    report = check(SECRETS.replace("${env:KEY}", "${file:/run/key}"), OLDER)

    verdict = report.verdict.target
    assert (verdict.valid, verdict.valid_on_host, list(verdict.errors)) == (False, None, [])
    assert {warning.code for warning in verdict.warnings} == {"depends_on_host"}
