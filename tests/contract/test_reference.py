"""The schemas of every installed collector, held against what that collector accepts and refuses."""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from headgate.checker import Checker, CheckerFailed
from headgate.foundation import yaml_text
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support import collector_yaml, linked_modules, verdict_parity
from tests.support.askers import ASKER
from tests.support.second_version import needs_second_version, second_version
from tests.support.sizes import either

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

FLOWS = sorted((Path(__file__).resolve().parents[2] / "flows").glob("*/collector.yaml"))
DEFAULT = settings().collector_version
SECOND = second_version() or "second version"

# How many of the texts that are wrong on purpose the schema alone refuses, by version: it may only grow.
REFUSED = {"0.139.0": 62, "0.158.0": 60}
HOST_METRICS = "github.com/open-telemetry/opentelemetry-collector-contrib/receiver/hostmetricsreceiver "
MOST_COMPRESSED = 5_000_000


@dataclass(frozen=True)
class Reference:
    """A collector, and its schema of a whole configuration."""

    version: str
    checker: Checker
    lacks: frozenset[tuple[str, str]]
    compressed: int
    document: Mapping[str, Any]
    components: Mapping[str, Any]
    validator: jsonschema_rs.Draft202012Validator

    def accepts(self, text: str) -> bool:
        return self.validator.is_valid(collector_yaml.read(text))

    def wrong_at(self, text: str) -> list[str]:
        errors = self.validator.iter_errors(collector_yaml.read(text))
        return [f"{'::'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in errors]

    def is_valid(self, text: str) -> bool | None:
        """The collector's verdict, None if it has none: a component is lacking, or it crashes."""
        try:
            answer = verdict_parity.ask(self.checker, text)
        except CheckerFailed:
            return None
        return answer and bool(answer["valid"])


def asked(checker: Checker, form: str) -> tuple[int, Any]:
    answer = checker.call("reference", {"form": form}, asker=ASKER)
    packed = base64.b64decode(answer["gzip"])
    content = gzip.decompress(packed)
    assert hashlib.sha256(content).hexdigest() == answer["digest"]
    return len(packed), json.loads(content)


@pytest.fixture(scope="module", params=[DEFAULT, pytest.param(SECOND, marks=needs_second_version)])
def reference(request: pytest.FixtureRequest) -> Iterator[Reference]:
    version = request.param
    checker = Checker(Installed(Path(settings().collectors_dir)), version, Limits(processes=1, request_seconds=60))
    lacks = frozenset((one["kind"], one["type"]) for one in checker.describe(version, asker=ASKER)["lacks"])
    compressed, document = asked(checker, "document")
    _, components = asked(checker, "components")
    validator = jsonschema_rs.Draft202012Validator(document)
    yield Reference(version, checker, lacks, compressed, document, components, validator)
    checker.close()


def readable(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts without those that are not YAML: an editor finds these before it takes a schema."""
    found = {}
    for name, text in texts.items():
        try:
            collector_yaml.read(text)
        except yaml.YAMLError:
            continue
        found[name] = text
    return found


def test_the_schemas_are_schemas(reference: Reference) -> None:
    assert jsonschema_rs.meta.is_valid(reference.document)
    wrong = [
        one["type"] for one in reference.components["components"] if not jsonschema_rs.meta.is_valid(one["schema"])
    ]
    assert wrong == []


def test_the_document_is_small_enough_for_an_editor(reference: Reference) -> None:
    assert reference.compressed < MOST_COMPRESSED


def test_every_flow_of_the_gallery_passes_the_schema(reference: Reference) -> None:
    texts = {path.parent.name: path.read_text() for path in FLOWS}
    if reference.version != DEFAULT:  # for which the flows are written
        texts = {name: text for name, text in texts.items() if reference.is_valid(text)}
    assert len(texts) > 5

    assert {name: wrong for name, text in texts.items() if (wrong := reference.wrong_at(text))} == {}


def test_every_valid_configuration_of_the_modules_passes_the_schema(
    reference: Reference, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = readable(verdict_parity.published(reference.version))
    by_rule = list(readable(verdict_parity.broken_by_rule(texts)).items())[:: either(6, 1)]
    verdicts = {name: reference.is_valid(text) for name, text in [*texts.items(), *by_rule]}
    valid = [name for name, verdict in verdicts.items() if verdict]
    assert len(valid) > 40
    texts.update(by_rule)

    refused = {name: wrong for name in valid if (wrong := reference.wrong_at(texts[name]))}
    caught = [name for name, verdict in verdicts.items() if verdict is False and not reference.accepts(texts[name])]

    assert refused == {}
    with capsys.disabled():
        invalid = sum(verdict is False for verdict in verdicts.values())
        print(f"\n{reference.version}: {len(valid)} valid pass, {len(caught)} of {invalid} invalid do not")


def configured(reference: Reference) -> Iterator[tuple[str, str]]:
    """Each component that the modules' own test data configure, in a configuration of its own, by its place."""
    types = {
        section: {pattern.removeprefix("^").removesuffix("(/.*)?$") for pattern in schema["patternProperties"]}
        for section, schema in reference.document["properties"].items()
        if section != "service"
    }
    for folder in linked_modules.folders(reference.version):
        section = next((one for one in types if one[:-1] in {folder.parent.name, folder.parent.parent.name}), None)
        for path in sorted(folder.rglob("testdata/**/*.y*ml")) if section else []:
            try:
                content = collector_yaml.read(path.read_text(errors="replace"))
            except yaml.YAMLError:
                continue
            for name, own in content.items() if isinstance(content, dict) else []:
                if name.partition("/")[0] in types[section or ""]:
                    whole = collector_yaml.read(received("otlp: {protocols: {grpc: }}"))
                    whole.setdefault(section, {})[name] = own
                    yield f"{folder.name}/{path.name}: {name}", yaml_text.safe_dump(whole)


def test_every_valid_component_in_the_modules_test_data_passes_the_schema(
    reference: Reference, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = dict(list(configured(reference))[:: either(6, 1)])
    valid = {name: text for name, text in texts.items() if reference.is_valid(text)}
    assert len(valid) > 50

    assert {name: wrong for name, text in valid.items() if (wrong := reference.wrong_at(text))} == {}
    with capsys.disabled():
        print(f"\n{reference.version}: {len(valid)} of {len(texts)} components in test data are valid, and pass")


def test_every_scraper_of_host_metrics_is_described(reference: Reference) -> None:
    folders = linked_modules.folders(reference.version)
    module = next(folder for folder in folders if folder.name.startswith("hostmetricsreceiver@"))
    scrapers = {path.name.removesuffix("scraper") for path in module.glob("internal/scraper/*scraper")}
    assert "cpu" in scrapers

    schema = next(
        one["schema"]
        for one in reference.components["components"]
        if one["kind"] == "receiver" and one["module"].startswith(HOST_METRICS)
    )

    assert schema["properties"]["scrapers"]["properties"].keys() == scrapers


def test_the_schema_alone_refuses_most_of_what_is_broken(
    reference: Reference, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = readable(verdict_parity.broken(reference.lacks))

    refused = [name for name, text in texts.items() if not reference.accepts(text)]

    with capsys.disabled():
        print(f"\n{reference.version}: the schema refuses {len(refused)} of {len(texts)} broken configurations")
    assert len(refused) >= REFUSED.get(reference.version, 0)


RECEIVER = """
receivers:
  {}
exporters:
  debug:
service:
  pipelines:
    {}:
      receivers: [{}]
      exporters: [debug]
"""


def received(settings: str, signal: str = "logs") -> str:
    return RECEIVER.format(settings, signal, settings.partition(":")[0])


ACCEPTED = {
    "nothing": received("otlp: {protocols: {grpc: }}"),
    "a name": received("otlp/my-backend.eu: {protocols: {grpc: }}"),
    "a variable for a number": received("otlp: {protocols: {http: {max_request_body_size: '${env:SIZE}'}}}"),
    "a variable for a section": received("otlp: {protocols: '${file:protocols.yaml}'}"),
    "a variable in a text": received("otlp: {protocols: {grpc: {endpoint: '${env:HOST}:4317'}}}"),
    "a duration": received("otlp: {protocols: {grpc: {keepalive: {server_parameters: {time: 1h2m3.5s}}}}}"),
    "a key that is a path": received("otlp: {'protocols::grpc::endpoint': 'localhost:4317'}"),
    "operators within operators": received(
        "filelog: {include: [a], header: {pattern: '^#', metadata_operators: [{type: json_parser}]}}"
    ),
    "pairs as a mapping": received("otlp: {protocols: {http: {response_headers: {a: b}}}}"),
    "pairs as a list": received("otlp: {protocols: {http: {response_headers: [{name: a, value: b}]}}}"),
}
REFUSED_TEXTS = {
    "a misspelt key": received("otlp: {protocols: {grcp: }}"),
    "a misspelt section": received("otlp: {protocols: {grpc: }}").replace("exporters:\n", "exporter:\n", 1),
    "an unknown type": received("otpl: {protocols: {grpc: }}"),
    "a number without digits": received("otlp: {protocols: {http: {max_request_body_size: many}}}"),
    "a duration without a unit": received("otlp: {protocols: {grpc: {keepalive: {server_parameters: {time: '5'}}}}}"),
    "an unknown word": received("otlp: {protocols: {grpc: {transport: tpc}}}"),
    "a list for a mapping": received("otlp: {protocols: [grpc]}"),
    "a pipeline of another signal": received("otlp: {protocols: {grpc: }}", "logging"),
    "a receiver that has not this signal": received("prometheus: {config: {scrape_configs: []}}", "logs"),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_the_collector_takes_passes(reference: Reference, text: str) -> None:
    assert reference.wrong_at(text) == []


@pytest.mark.parametrize("text", REFUSED_TEXTS.values(), ids=REFUSED_TEXTS)
def test_what_the_collector_refuses_does_not_pass(reference: Reference, text: str) -> None:
    assert reference.is_valid(text) is not True
    assert reference.wrong_at(text) != []
