"""Short texts with mistakes that name a value or have a way out, for what a check tells of them and where."""

from typing import Final


def of(exporters: str, more: str = "", signal: str = "traces", name: str = "") -> str:
    name = name or exporters.split(":", 1)[0].strip()
    return f"""\
receivers: {{otlp: {{protocols: {{grpc: {{}}}}}}}}
exporters:
  {exporters}
{more}service:
  pipelines:
    {signal}: {{receivers: [otlp], exporters: [{name}]}}
"""


FILTER: Final = "processors:\n  filter:\n    logs:\n      log_record:\n        - "
TRANSFORM: Final = "processors:\n  transform:\n    log_statements:\n      - "
FILES: Final = """\
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}
"""
OPERATORS: Final = "receivers:\n  filelog:\n    include: [/a]\n    operators:\n"
SECOND_JOB: Final = "{job_name: a, scrape_interval: 30, static_configs: [{targets: ['a:1']}]}"


def in_use(processor: str, content: str) -> str:
    signal = "traces" if "trace_" in content else "logs"
    return of("debug: {}", f"processors:\n  {processor}: {{{content}}}\n", signal).replace(
        "exporters: [", f"processors: [{processor}], exporters: ["
    )


# For each text: words of the finding, its place, and the text that mends it there.
WAYS_OUT: Final[dict[str, tuple[str, str, tuple[int, int], str | None]]] = {
    "an operator that is not there": (
        OPERATORS + "      - type: json_parser\n        id: json\n        output: nope\n" + FILES,
        "operator 'nope' does not exist",
        (7, 17),
        None,
    ),
    "the second operator of a name": (
        OPERATORS + "      - {type: json_parser, id: p}\n      - {type: json_parser, id: p}\n" + FILES,
        "operator with id 'p' already exists",
        (6, 33),
        None,
    ),
    "a pattern that looks ahead": (
        "receivers:\n  filelog:\n    include: [/a]\n    multiline: {line_start_pattern: '^(?!a)'}\n" + FILES,
        "`(?!`",
        (4, 37),
        None,
    ),
    "a duration of a scrape": (
        of("debug: {}", signal="metrics")
        .replace("otlp: {protocols: {grpc: {}}}", f"prometheus: {{config: {{scrape_configs: [{SECOND_JOB}]}}}}")
        .replace("[otlp]", "[prometheus]"),
        'not a valid duration string: "30"',
        (1, 83),
        None,
    ),
    "a processor that stands twice in a pipeline": (
        of("debug: {}", "processors: {batch: {}}\n").replace(
            "exporters: [", "processors: [batch, batch], exporters: ["
        ),
        "multiple times",
        (7, 53),
        None,
    ),
    "a connector among the processors": (
        of("debug: {}", "connectors: {spanmetrics: {}}\n").replace(
            "exporters: [", "processors: [spanmetrics], exporters: ["
        ),
        "spanmetrics is a connector",
        (7, 46),
        None,
    ),
    "a signal without its s": (of("debug: {}", signal="trace"), 'did you mean "traces"?', (6, 5), None),
    "a group of a pattern that is no variable": (
        of("debug: {}", "processors: {resource: {attributes: [{key: a, action: upsert, value: '${1}'}]}}\n"),
        "to keep ${1} as a text, write $${1}",
        (4, 71),
        None,
    ),
    "a default with one colon": (
        of("otlp: {endpoint: '${env:ENDPOINT:localhost:4317}'}"),
        "a default is written ${env:ENDPOINT:-localhost:4317}",
        (3, 21),
        None,
    ),
    "a context that is none": (
        in_use("transform", "trace_statements: [{context: trace, statements: ['set(name, 1)']}]"),
        "unknown context trace; its name here is span, spanevent, resource or scope",
        (5, 44),
        None,
    ),
    "a text without quotes in a condition": (
        in_use("filter", "logs: {log_record: [body == METRIC1]}"),
        'a text is written in quotes: "METRIC1"',
        (5, 40),
        None,
    ),
    "typographic quotes": (
        in_use("filter", "logs: {log_record: [body == “a”]}"),
        "these are typographic quotes",
        (5, 40),
        None,
    ),
    "a word that OTTL has not": (
        in_use("filter", "logs: {log_record: ['body in [\"a\"]']}"),
        "OTTL has no in",
        (5, 38),
        None,
    ),
    "true in quotes": (
        of("otlp: {endpoint: 'a:1', tls: {insecure: 'true'}}"),
        "true or false is expected here: write it without quotes",
        (3, 43),
        "true",
    ),
    "a metric that is switched by true alone": (
        "receivers:\n  hostmetrics: {scrapers: {cpu: {metrics: {system.cpu.utilization: true}}}}\n",
        "write {enabled: true}",
        (2, 68),
        "{enabled: true}",
    ),
    "an attribute that is switched by true alone": (
        of("debug: {}", "processors: {resourcedetection: {system: {resource_attributes: {host.name: true}}}}\n"),
        "write {enabled: true}",
        (4, 76),
        "{enabled: true}",
    ),
    "a setting of a policy one level too high": (
        of(
            "debug: {}",
            "processors: {tail_sampling: {policies: [{name: p, type: probabilistic, sampling_percentage: 9}]}}\n",
        ),
        "sampling_percentage is a setting of probabilistic",
        (4, 72),
        None,
    ),
    "a colon without a blank": (
        "receivers:\n  zipkin:\n    endpoint:0.0.0.0:9\n",
        "a blank must follow the colon",
        (3, 5),
        None,
    ),
    "a list without a blank": (
        "service:\n  pipelines:\n    logs:\n      receivers: [a]\n      exporters:[a]\n",
        "a blank must follow the colon",
        (5, 1),
        None,
    ),
    "a list of receivers": (
        "receivers: [otlp]\nservice: {pipelines: {logs: {receivers: [otlp]}}}\n",
        "a mapping is expected here, not a list",
        (1, 1),
        None,
    ),
    "a name in place of a list": (of("debug: {}").replace("[debug]", "debug"), "; write [debug]", (6, 44), "[debug]"),
    "a no-break space": ("receivers:\n  otlp:\n\u00a0 protocols: {}\n", "a no-break space (U+00A0)", (3, 1), None),
    "a configuration of Prometheus": (
        "scrape_configs: []\nglobal: {}\n",
        "a configuration of Prometheus",
        (1, 1),
        None,
    ),
    "a configuration of the supervisor": (
        "server: {endpoint: a}\nagent: {executable: b}\n",
        "a configuration of the OpAMP supervisor",
        (1, 1),
        None,
    ),
    "a configuration of Fluent Bit": (
        "service: {flush: 1}\npipeline: {inputs: [{name: tail}]}\n",
        "a configuration of Fluent Bit",
        (1, 1),
        None,
    ),
    "a configuration of Alloy": (
        'otelcol.receiver.otlp "default" {\n  grpc { endpoint = "a:1" }\n}\n',
        "a configuration of Grafana Alloy",
        (1, 1),
        None,
    ),
    "a provider in capitals": (
        of("otlp: {endpoint: '${ENV:HOST}:4317'}"),
        "; a variable is written ${env:HOST}",
        (3, 21),
        None,
    ),
    "a default of a variable that is called ENV": (
        of("otlp: {endpoint: '${ENV:-a}:4317'}"),
        "; a variable with a default is written ${env:ENV:-a}",
        (3, 21),
        None,
    ),
    "a default with a dash": (
        of("otlp: {endpoint: '${env:HOST-localhost}:4317'}"),
        "a default is written ${env:HOST:-localhost}",
        (3, 21),
        None,
    ),
    "a boolean of YAML 1.1": (
        of("otlp: {endpoint: 'a:1', tls: {insecure: yes}}"),
        "YAML reads yes as a text: write true",
        (3, 43),
        "true",
    ),
    "a pipeline whose name follows an underscore": (
        of("debug: {}", signal="traces_eu"),
        "the name of a pipeline follows a slash: traces/eu",
        (6, 5),
        None,
    ),
    "a field of an operator without its prefix": (
        OPERATORS + "      - {type: severity_parser, parse_from: level}\n" + FILES,
        "a field is written attributes.NAME, body.NAME or resource.NAME",
        (5, 9),
        None,
    ),
    "a mistyped choice": (
        "receivers:\n  filelog: {include: [/a], start_at: begining}\n" + FILES,
        "use beginning or end",
        (2, 38),
        None,
    ),
    "a condition that follows if": (
        TRANSFORM + "set(log.body, 1) if log.body == 2\n",
        "OTTL has no if: write the condition behind where",
        (4, 26),
        None,
    ),
    "an assignment": (
        TRANSFORM + "log.body = 1\n",
        "a statement is a call of a function: set(target, value)",
        (4, 12),
        None,
    ),
    "a mistyped key of an operator": (
        OPERATORS + "      - {type: json_parser, parse_form: body}\n" + FILES,
        'did you mean "parse_from"?',
        (5, 29),
        None,
    ),
    "a fraction without a unit": (
        of("debug: {}", "processors: {batch: {timeout: 0.5}}\n"),
        "0.5 has no unit, so it counts nanoseconds",
        (4, 31),
        None,
    ),
    "an alias without an anchor in a ConfigMap": (
        "kind: ConfigMap\ndata:\n  a: |\n    receivers:\n      otlp: *common\n    exporters:\n      debug:\n"
        "    service:\n      pipelines: {logs: {receivers: [otlp], exporters: [debug]}}\n",
        "unknown anchor 'common' referenced",
        (5, 13),
        None,
    ),
    "values of a chart in the text of an application": (
        "kind: Application\nspec:\n  values: |\n    mode: daemonset\n    config:\n"
        "      receivers: {otlp: {protocols: {grcp: {}}}}\n"
        "      exporters: {debug: {}}\n      service: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}\n",
        'did you mean "grpc"?',
        (6, 38),
        None,
    ),
}
