"""Pipelines, samples and rules to test with, a file each under `pipelines/`; and how to run one by hand."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "pipelines"
Json = dict[str, Any]

# What differs between two runs of the same thing: the time of reading, and times and places that connectors make up.
VOLATILE = ("observedTimeUnixNano", "log.file.name")
MADE_UP = ("timeUnixNano", "startTimeUnixNano", "exemplars", "first_observed_timestamp", "last_observed_timestamp")
MEMBERS = ("resourceLogs", "resourceSpans", "resourceMetrics")


@dataclass(frozen=True)
class Case:
    """One file: a configuration, a sample, rules that pass on what comes out, and rules that fail."""

    name: str
    signal_type: str
    target_pipeline: str
    duration_seconds: int
    yaml: str
    sample: str
    passes: list[Json]
    fails: list[Json]

    def request(self, rules: list[Json]) -> Json:
        return {
            "yaml": self.yaml,
            "sample": self.sample,
            "signal_type": self.signal_type,
            "target_pipeline": self.target_pipeline,
            "duration_seconds": self.duration_seconds,
            "rules": rules,
        }


def names(*parts: str) -> list[str]:
    """All, or those with one of these parts in their names."""
    found = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    return [name for name in found if not parts or any(part in name for part in parts)]


def case(name: str) -> Case:
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    sample = content.get("sample") or (FOLDER / content["sample_file"]).read_text()
    rest = {key: value for key, value in content.items() if key not in ("sample", "sample_file")}
    return Case(name=name, sample=sample, **rest)


def run_by_hand(collector: Path, tested: Case, folder: Path) -> str:
    """What the plain collector writes with a file exporter in the place of every exporter, and the sample in a file."""
    folder.mkdir()
    (folder / "sample").write_text(tested.sample.rstrip("\n") + "\n")
    (folder / "config.yaml").write_text(yaml.safe_dump(_by_hand(tested, folder), sort_keys=False))
    command = [str(collector), "--config", "config.yaml"]
    with subprocess.Popen(command, cwd=folder, env={}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = ""
        for line in process.stderr:
            told += line
            if "Everything is ready" in line:
                break
        else:
            raise AssertionError(told)
        time.sleep(tested.duration_seconds)
        os.kill(process.pid, signal.SIGINT)
        process.communicate()
    return (folder / "output").read_text()


def _by_hand(tested: Case, folder: Path) -> Json:
    """The configuration as a person would change it, knowing nothing of how the service does."""
    config = yaml.safe_load(tested.yaml)
    connectors = config.get("connectors", {})
    target = config["service"]["pipelines"][tested.target_pipeline]
    is_otlp = tested.sample.startswith('{"resource')
    own = next((name for name in target["receivers"] if name.startswith("filelog")), "filelog/by_hand")
    name = "otlpjsonfile/by_hand" if is_otlp else own
    reader = {"include_file_name": False} if own == "filelog/by_hand" or is_otlp else config["receivers"][own]
    reader = {key: value for key, value in reader.items() if key not in ("exclude", "storage")}
    config["receivers"] = {name: {**reader, "include": [str(folder / "sample")], "start_at": "beginning"}}
    config["exporters"] = {"file/by_hand": {"path": str(folder / "output")}}
    config.pop("extensions", None)
    config["service"].pop("extensions", None)
    config["service"]["telemetry"] = {"metrics": {"level": "none"}}
    kept = {}
    for pipeline, parts in config["service"]["pipelines"].items():
        fed = [receiver for receiver in parts["receivers"] if receiver in connectors]
        parts["receivers"] = [name] if pipeline == tested.target_pipeline else fed
        parts["exporters"] = sorted({one if one in connectors else "file/by_hand" for one in parts["exporters"]})
        if parts["receivers"]:
            kept[pipeline] = parts
    config["service"]["pipelines"] = kept
    return dict(config)


def records(output: str, made_up_times: bool) -> Counter[str]:
    """Every log record, span and data point with its surroundings, without what no two runs have in common."""
    return Counter(
        json.dumps(_stable(record, made_up_times), sort_keys=True)
        for line in output.splitlines()
        for record in _records(json.loads(line))
    )


def _records(document: Json) -> Iterator[Json]:
    # A recorder writes an empty batch as an empty document.
    assert set(document) <= set(MEMBERS)
    for resource in (one for resources in document.values() for one in resources):
        for scopes in (value for key, value in resource.items() if key.startswith("scope")):
            for scope in scopes:
                surroundings = {"resource": resource.get("resource"), "scope": scope.get("scope")}
                for things in (value for key, value in scope.items() if isinstance(value, list)):
                    for thing in things:
                        yield from ({**surroundings, **one} for one in _points(thing))


def _points(thing: Json) -> Iterator[Json]:
    kind = next((key for key, value in thing.items() if isinstance(value, dict) and "dataPoints" in value), None)
    if kind is None:
        yield thing
        return
    for point in thing[kind]["dataPoints"]:
        yield {**thing, kind: {**thing[kind], "dataPoints": point}}


def _stable(value: Any, made_up_times: bool) -> Any:
    left_out = VOLATILE + (MADE_UP if made_up_times else ())
    match value:
        case dict():
            return {key: _stable(inner, made_up_times) for key, inner in value.items() if key not in left_out}
        case list():
            kept = [inner for inner in value if not (isinstance(inner, dict) and inner.get("key") in left_out)]
            # Attributes have no order.
            return sorted(
                (_stable(inner, made_up_times) for inner in kept), key=lambda inner: json.dumps(inner, sort_keys=True)
            )
    return value
