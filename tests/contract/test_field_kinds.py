"""Kinds of mistakes that public configurations of vendors have, each in a short text: what a check tells of them."""

from typing import Final

import pytest

from tests.support.members import API, JoinWith, Member
from tests.support.misplaced import FILTER, TRANSFORM, WAYS_OUT, of
from tests.support.second_version import needs_second_version, second_version
from tests.support.validated import checked
from validation.app import router as validation_router

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]


RESOURCE: Final = of("debug: {}").replace(
    "service:\n", "service:\n  telemetry: {resource: {attributes: [{name: a, value: b}]}}\n"
)
SCRAPED: Final = (
    "{job_name: a, authorization: {credentials_file: /no/such/token}, static_configs: [{targets: ['${env:NODE}:1']}],"
    " kubernetes_sd_configs: [{role: node, selectors: [{role: node, field: 'a=${env:NODE}'}]}]}"
)
# For each text: the code of its error, words of the message, and whether it is valid on a host.
KINDS: Final[dict[str, tuple[str, str, str, bool | None]]] = {
    "a name of a later release": (
        of("debug: {}", "processors: {resource_detection: {}}\n"),
        "unknown_component",
        'newer releases call "resourcedetection" so, did you mean "resourcedetection"?',
        False,
    ),
    "a later name that is not the former one with underscores": (
        of("otlp_grpc: {endpoint: 'a:1'}"),
        "unknown_component",
        "collectors know it from 0.144.0 on, and before that use otlp",
        False,
    ),
    "a component of another distribution": (
        of("debug: {}", "processors: {ecsattributes: {}}\n"),
        "unknown_component",
        "it is a component of Coralogix's distribution, and otelcol-contrib has none of that name",
        False,
    ),
    "a removed setting of a vendor's exporter": (
        of("splunk_hec: {token: t, endpoint: 'https://a', max_connections: 20}"),
        "unknown_key",
        "it was removed in 0.88.0: use max_idle_conns and max_idle_conns_per_host",
        False,
    ),
    "a form of a later release": (
        RESOURCE,
        "wrong_type",
        "collectors know it from 0.151.0 on, and before that use a mapping of names to texts as resource",
        False,
    ),
    "a variable without a value": (
        of("splunk_hec: {token: t, endpoint: '${env:SPLUNK_HEC_URL}'}"),
        "invalid_value",
        "its endpoint is from ${env:SPLUNK_HEC_URL}, which has no value here",
        None,
    ),
    "a variable without a value, and a mistake": (
        of("splunk_hec: {token: t, endpoint: '${env:SPLUNK_HEC_URL}', timeout: 5 parsecs}"),
        "invalid_value",
        "unknown unit",
        False,
    ),
    "a variable in what is not known at all": (
        of("otlpgrpc: {endpoint: '${env:ENDPOINT}'}"),
        "unknown_component",
        'unknown type: "otlpgrpc"',
        False,
    ),
    "the metadata of a task in ECS": (
        of("debug: {}", signal="metrics")
        .replace("otlp: {protocols: {grpc: {}}}", "awsecscontainermetrics: {}")
        .replace("[otlp]", "[awsecscontainermetrics]"),
        "depends_on_host",
        "must have the metadata endpoint of an ECS task",
        True,
    ),
    "credentials of AWS": (
        of(
            "otlphttp: {endpoint: 'https://a', auth: {authenticator: sigv4auth}}",
            "extensions: {sigv4auth: {region: us-east-1}}\n",
        ).replace("service:\n", "service:\n  extensions: [sigv4auth]\n"),
        "depends_on_host",
        "must have AWS credentials in its environment, or a role",
        True,
    ),
    "the pods of a service in Kubernetes": (
        of("loadbalancing: {protocol: {otlp: {}}, resolver: {k8s: {service: a.b}}}"),
        "depends_on_host",
        "must have the service account of a pod in Kubernetes",
        True,
    ),
    "a context of a kubeconfig": (
        of("debug: {}", signal="metrics")
        .replace("otlp: {protocols: {grpc: {}}}", "kubeletstats: {auth_type: kubeConfig, context: mine}")
        .replace("[otlp]", "[kubeletstats]"),
        "depends_on_host",
        "must have that context in its kubeconfig",
        True,
    ),
    "a token of a pod, beside variables of other settings": (
        of("debug: {}", signal="metrics")
        .replace("otlp: {protocols: {grpc: {}}}", f"prometheus: {{config: {{scrape_configs: [{SCRAPED}]}}}}")
        .replace("[otlp]", "[prometheus]"),
        "depends_on_host",
        "/token: no such file or directory; this depends on the host",
        True,
    ),
    "a key that another one replaced": (
        of("debug: {}", "extensions: {health_check/a: {port: 13133}}\n"),
        "unknown_key",
        "invalid keys: port; use endpoint",
        False,
    ),
    "a key of few letters that is like another one": (
        of("debug: {}", "extensions: {pprof: {sort: 1}}\n"),
        "unknown_key",
        "invalid keys: sort",
        False,
    ),
    "a component of another type": (
        of("debug: {}", "processors: {transform/x_os_name: {}}\n").replace(
            "exporters: [", "processors: [resource/x_instance], exporters: ["
        ),
        "undefined_reference",
        'references processor "resource/x_instance" which is not configured',
        False,
    ),
    "a component without its name": (
        of(
            "debug: {}", "processors: {batch/traces: {}, attributes/a: {actions: [{key: a, action: delete}]}}\n"
        ).replace("exporters: [", "processors: [batch], exporters: ["),
        "undefined_reference",
        'references processor "batch" which is not configured; did you mean "batch/traces"?',
        False,
    ),
    "a text of Docker": (
        "services: {collector: {image: otel/opentelemetry-collector}}\nvolumes: {}\n",
        "unknown_section",
        "this is not a collector configuration: it has none of the sections receivers",
        False,
    ),
    "a plugin of another program": (
        'version: 0.1.0\ntitle: A\ntemplate: |\n  {{ $a := "b" }}\n  receivers: {filelog: {}}\n  service: {}\n',
        "unknown_section",
        "this is not a collector configuration: it has none of the sections receivers",
        False,
    ),
    "a pipeline behind a feature gate": (
        of("debug: {}", signal="profiles"),
        "pipeline_graph",
        "to check it as hosts that run with it, send it in feature_gates",
        False,
    ),
}


TWO_DOCUMENTS: Final = """\
apiVersion: v1
kind: Namespace
---
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
spec:
  config:
    receivers: {otlp: {protocols: {grcp: {}}}}
    exporters: {debug: {}}
    service: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}
"""
CONNECTED: Final = """\
receivers: {{otlp: {{protocols: {{grpc: {{}}}}}}}}
exporters: {{debug: {{}}}}
connectors:
  {connector}
service:
  pipelines:
    logs/in: {{receivers: [otlp], exporters: [{name}]}}
    logs/a: {{receivers: [{name}], exporters: [debug]}}
    traces/b: {{receivers: [{traces}], exporters: [debug]}}
"""
# For each text: words of the finding, its place, and the text that mends it there.
PLACED: Final[dict[str, tuple[str, str, tuple[int, int], str | None]]] = WAYS_OUT | {
    "an empty condition": (FILTER + "\n", "the entry is empty: remove it", (5, 10), None),
    "an empty route": (
        "connectors:\n  routing:\n    table:\n      -\n",
        "no condition or statement provided; the entry is empty: remove it",
        (4, 8),
        None,
    ),
    "a resource in the second document": (TWO_DOCUMENTS, "the configuration is under spec.config", (8, 5), None),
    "a mistake in the second document": (TWO_DOCUMENTS, 'did you mean "grpc"?', (8, 36), None),
    "a later name in a resource": (
        "kind: ConfigMap\ndata:\n  a: |\n    "
        + of("debug: {}", "processors: {resource_detection: {}}\n").replace("\n", "\n    "),
        'did you mean "resourcedetection"?',
        (7, 18),
        "resourcedetection",
    ),
    "a template of a chart": (
        "# {{ in a comment\n{{- if .Values.enabled }}\nreceivers: {}\n{{- end }}\n",
        "; this text is a template of a Helm chart: render it with `helm template`",
        (2, 1),
        None,
    ),
    "a template of a chart whose actions are values": (
        of("otlp:\n    endpoint: {{ .Values.endpoint }}"),
        "; this text is a template of a Helm chart: render it with `helm template`",
        (4, 15),
        None,
    ),
    "an action of a chart in a text": (
        of("otlp: {endpoint: 'a:1', timeout: '{{ .Values.timeout }}'}"),
        "; this text is a template of a Helm chart: render it with `helm template`",
        (3, 36),
        None,
    ),
    "a template of Ansible": (
        "receivers:\n{% for one in all %}\n  otlp: {}\n{% endfor %}\n",
        "; this text is a template: render it, and check what comes out",
        (2, 1),
        None,
    ),
    "a resource without a configuration": (
        "apiVersion: apps/v1\nkind: Deployment\nspec: {}\n",
        "this text is a Kubernetes Deployment, and no configuration of a collector is in it",
        (2, 1),
        None,
    ),
    "a level of failover of another signal": (
        CONNECTED.format(
            connector="failover: {priority_levels: [[logs/a], [traces/b]]}", name="failover", traces="otlp"
        ),
        "traces/b is a pipeline of traces, and failover routes logs",
        (4, 43),
        None,
    ),
    "a connector between two signals": (
        CONNECTED.format(connector="forward: {}", name="forward", traces="forward").replace(
            "    logs/a: {receivers: [forward], exporters: [debug]}\n", ""
        ),
        "forward cannot send logs to traces/b",
        (4, 3),
        None,
    ),
    "a removed exporter of which there is a receiver": (
        of("loki: {endpoint: 'http://a'}"),
        "it was removed in 0.131.0: use otlphttp",
        (3, 3),
        None,
    ),
    "a mistyped key of the telemetry": (
        of("debug: {}").replace("service:\n", "service:\n  telemetry: {logs: {levl: debug}}\n"),
        'did you mean "level"?',
        (5, 22),
        None,
    ),
    "a number where a text is expected": (
        of("otlphttp: {endpoint: 'https://a', headers: {tenant: 0123}}"),
        "YAML reads 0123 as a number: quote it",
        (3, 55),
        "'0123'",
    ),
    "a duration without a unit": (
        of("debug: {}", "processors: {batch: {timeout: 5}}\n"),
        "5 has no unit, so it counts nanoseconds: write 5s or 5ms",
        (4, 31),
        None,
    ),
    "a comment in a statement": (
        TRANSFORM + 'set(log.attributes["a"], "b #1")\n',
        "YAML ended the text at column 36, because ` #` begins a comment: quote it",
        (4, 34),
        """'set(log.attributes["a"], "b #1")'""",
    ),
    "a split statement beside others": (
        TRANSFORM + 'set(log.body, "c")\n      - set(log.body, "a: b")\n',
        "YAML ended the text at column 25",
        (5, 9),
        """'set(log.body, "a: b")'""",
    ),
    "a condition that begins with a quote": (
        FILTER + '"a" == log.body\n',
        "a text must not go on behind its closing quote: put all of it into quotes",
        (5, 11),
        """'"a" == log.body'""",
    ),
    "a pattern of files that begins with a star": (
        "receivers:\n  filelog:\n    include: *.log\n",
        "a text must not begin with `*`: quote it",
        (3, 14),
        "'*.log'",
    ),
    "a layout that begins with a percent sign": (
        "receivers:\n  filelog:\n    operators:\n      - type: time_parser\n        layout: %Y\n",
        "a text must not begin with `%`: quote it",
        (5, 17),
        "'%Y'",
    ),
    "an at sign in a list": (
        "receivers:\n  filelog:\n    include: [@a]\n",
        "a text must not begin with `@`: quote it",
        (3, 1),
        None,
    ),
    "a tab": (
        "exporters:\n  debug:\n\tverbosity: detailed\n",
        "a tab must not indent a line: use blanks",
        (3, 1),
        None,
    ),
}


def test_what_real_configurations_have_is_told_with_its_cause(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")

    answers = checked(ann, {name: text for name, (text, *_) in KINDS.items()})

    for name, (_, code, words, on_host) in KINDS.items():
        answer = answers[name]
        matching = [one for one in answer["errors"] if words in one["message"]]
        assert [one["code"] for one in matching] == [code], (name, answer["errors"])
        assert (answer["valid"], answer["valid_on_host"]) == (False, on_host), name
    for name in ("a key of few letters that is like another one", "a component of another type", "a text of Docker"):
        assert "did you mean" not in str(answers[name]["errors"]), name
    # A text that is not a configuration has one error.
    assert [len(answers[name]["errors"]) for name in ("a text of Docker", "a plugin of another program")] == [1, 1]
    # An error that no value causes names no variable, and the words of the sandbox are left out.
    assert "ENDPOINT" not in answers["a variable in what is not known at all"]["errors"][0]["message"]
    assert "AWS_EC2_METADATA_DISABLED" not in answers["credentials of AWS"]["errors"][0]["message"]
    assert answers["a pipeline behind a feature gate"]["errors"][0]["component_path"] == "service::pipelines::profiles"


@needs_second_version
def test_a_key_of_another_installed_version_is_named_with_it(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    later = str(second_version())
    filters = "  filter: {metric_conditions: ['name == \"a\"']}\n"
    texts = {
        "later": of("debug: {}", "processors:\n" + filters).replace(
            "exporters: [debug]", "processors: [filter], exporters: [debug]"
        ),
        "mistyped": of("debug: {verbosty: normal}"),
    }
    texts["inside"] = "config:\n  " + texts["later"].replace("\n", "\n  ")

    answers = checked(ann, texts, "?lint=true")

    for finding in (answers["later"]["errors"][0], answers["inside"]["wrapped"]["errors"][0]):
        assert finding["message"].endswith(f"; collector {later} knows it, and 0.139.0 does not yet")
        assert finding["cause"] == {"kind": "newer_release", "names": ["metric_conditions"], "instead": ""}
    assert answers["mistyped"]["errors"][0]["message"].endswith('; did you mean "verbosity"?')


@pytest.mark.parametrize(
    "text",
    [
        'processors:\n  transform:\n    log_statements:\n      - set(log.body, "a: b")\n',
        'processors:\n  filter:\n    logs:\n      log_record:\n        - body == "a: b"\n',
    ],
)
def test_lint_tells_an_expression_that_yaml_reads_as_a_mapping(text: str, join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")

    linted = ann.http.post(f"{API}/ottl/lint", json={"yaml": text}).json()
    found = checked(ann, {"it": text}, "?lint=true")["it"]["findings"]

    assert (linted["valid"], linted["checked"]) == (False, 1)
    assert "put it in quotes" in linted["items"][0]["error"]
    # One mistake is one finding.
    assert [one["code"] for one in found if one["line"] == linted["items"][0]["location"]["line"]] == ["wrong_type"]


@pytest.mark.parametrize("around", ["", "data:\n  relay: |\n    "])
def test_lint_says_where_yaml_ended_an_expression_in_the_words_of_the_verdict(around: str, join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    text = of("debug: {}", 'processors:\n  transform:\n    log_statements:\n      - set(log.body, "a #b")\n')
    text = around + text.replace("\n", "\n    ").rstrip() + "\n" if around else text

    answer = checked(ann, {"it": text}, "?lint=true&policies=true")["it"]

    assert answer["lint"]["items"][0]["error"].endswith("because ` #` begins a comment: quote it")
    (finding,) = [each for each in answer["findings"] if each["source"] == "lint" and each["severity"] == "error"]
    assert finding["message"] == answer["lint"]["items"][0]["error"]
    assert len(finding["fix"]) > 0


def test_what_is_one_decision_is_one_finding_of_a_policy(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    grpc, http = "grpc: {endpoint: '0.0.0.0:4317'}", "http: {endpoint: '0.0.0.0:4318'}"
    text = of("debug: {}").replace("grpc: {}", f"{grpc}, {http}")
    allowed = "# headgate: allow memory_limiter_missing because of a test"
    text += f"    logs: {{receivers: [otlp], exporters: [debug]}} {allowed}\n"
    text += "    metrics: {receivers: [otlp], exporters: [debug]}\n"

    findings = checked(ann, {"it": text}, "?policies=true")["it"]["findings"]

    messages = {each["code"]: each["message"] for each in findings if each["source"] == "policy"}
    assert messages["memory_limiter_missing"] == "the pipelines traces, metrics have no memory_limiter"
    assert messages["listens_everywhere"] == "these listen on all addresses: otlp (port 4317), otlp (port 4318)"
    assert len([each for each in findings if each["code"] in messages]) == len(messages)


def test_a_mistake_is_told_at_its_place_with_what_mends_it(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")

    answers = checked(ann, {name: text for name, (text, *_) in PLACED.items()}, "?lint=true")

    for name, (_, words, place, text) in PLACED.items():
        answer = answers[name]
        # In the findings, the linter's words stand for the error about an expression.
        lists = [[one for one in answer[key] if words in one["message"]] for key in ("findings", "errors")]
        matching = lists[0] or lists[1]
        fixes = [edit["text"] for one in matching for edit in one["fix"] or ()]
        assert [(one["line"], one["column"]) for one in matching] == [place], (name, answers[name]["findings"])
        assert fixes == ([] if text is None else [text]), name


def test_a_text_is_linted_as_a_whole_beyond_what_a_request_of_lint_takes(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    text = FILTER + "\n        - ".join(f"'severity_number == {n}'" for n in range(201)) + "\n"

    refused = ann.http.post(f"{API}/ottl/lint", json={"yaml": text})
    assert refused.status_code == 422
    assert refused.json()["detail"].endswith(
        ": lint the text in parts, or with POST /validate?lint=true, which takes more"
    )
    assert ann.http.post(f"{API}/validate?lint=true", json={"yaml": text}).json()["lint"]["checked"] == 201
