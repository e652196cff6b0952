"""The reference tells every default of every component, asked in the sandbox in which the service asks it.

What a component has by itself comes from its CreateDefaultConfig, which the operation `inspect` marshals; what the
reference tells is in the schemas of the operation `reference`. The two are compared value by value.
"""

import base64
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from headgate.foundation.settings import settings
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits
from tests.support.second_version import needs_second_version, second_version

pytestmark = [pytest.mark.contract, pytest.mark.collector]

DEFAULT: Final = settings().collector_version
SECOND: Final = second_version() or "second version"
# What is not told, and why, by `kind/type::path`; a `*` stands for any characters.
EXCEPTIONS: Final = {
    "receiver/azuremonitor::services": "a list of more than 100 entries",
    "receiver/gitlab::webhook..X-Gitlab-Event": "a key in a mapping that takes any",
    "exporter/influxdb::headers.0.name": "stands beside a secret, which is not told",
    "receiver/splunkenterprise::*.headers.0.name": "stands beside a secret, which is not told",
    "extension/sumologic::collector_credentials_directory": "in the home folder of the host",
    "receiver/prometheus::config.global.*": "set by Prometheus's own decoder, which reads the section",
}
# What is told and `inspect` does not have, and why.
NOT_INSPECTED: Final = {
    "exporter/dataset::logs.export_*": "marshalled under another name than it is decoded by",
    "exporter/debug::verbosity": "a number that writes itself as a text, which `inspect` leaves out",
    "receiver/gitlab::webhook.*": "fields without names of their own, marshalled without a name",
    "receiver/hostmetrics::scrapers.*": "of a scraper that is off until its key is written",
    "receiver/host_metrics::scrapers.*": "of a scraper that is off until its key is written",
}
REDACTED: Final = "[REDACTED]"
NOTHING: Final = (None, "", [], {})
ZEROS: Final = (*NOTHING, False, 0, "0s")


@pytest.mark.parametrize("version", [DEFAULT, pytest.param(SECOND, marks=needs_second_version)])
def test_the_reference_tells_what_each_component_has_by_itself(version: str) -> None:
    components, defaults = asked(version)
    equal = 0
    wrong, untold, needed, of_nothing = [], [], set(), []
    for component in components:
        name = f"{component['kind']}/{component['type']}"
        own = defaults[name]
        told = dict(told_in(component["schema"], component["schema"].get("$defs", {}), "", 12))
        for path, value in own.items():
            if value in NOTHING:
                if told.get(path) not in NOTHING:
                    wrong.append((name, path, told[path], value))
            elif path in told:
                equal += told[path] == value
                wrong += [(name, path, told[path], value)] if told[path] != value else []
            elif value != REDACTED:
                untold += [] if is_excepted(EXCEPTIONS, f"{name}::{path}", needed) else [(name, path, value)]
        # The collector leaves out zeros of some settings, and writes nothing of a section that is off.
        of_nothing += [
            (name, path, value)
            for path, value in told.items()
            if path not in own and value not in ZEROS and not is_within_nothing(path, own)
            if not is_excepted(NOT_INSPECTED, f"{name}::{path}", needed)
        ]

    assert (wrong, untold, of_nothing) == ([], [], [])
    assert equal > (3_000 if version == DEFAULT else 1_000)
    kinds = {f"{one['kind']}/{one['type']}" for one in components}
    assert {one for one in (*EXCEPTIONS, *NOT_INSPECTED) if one.partition("::")[0] in kinds} == needed


def asked(version: str) -> tuple[list[dict[str, Any]], dict[str, Mapping[str, Any]]]:
    """The components as the reference describes them, and their own defaults by `kind/type`; both in the sandbox."""
    child = Child.start(Path(settings().collectors_dir, version, "otelcol-contrib"), Limits())
    try:
        answer = child.ask("reference", {"form": "components"}, 60)
        components = json.loads(gzip.decompress(base64.b64decode(str(answer["gzip"]))))["components"]
        text: dict[str, Any] = {"service": {"pipelines": {}}}
        for component in components:
            text.setdefault(f"{component['kind']}s", {})[component["type"]] = None
        inspected: Any = child.ask("inspect", {"yaml": json.dumps(text), "env": {}}, 60)
    finally:
        child.kill()
    return components, {f"{one['section'][:-1]}/{one['type']}": one["defaults"] for one in inspected["components"]}


def told_in(schema: Any, definitions: Mapping[str, Any], path: str, left: int) -> Iterator[tuple[str, Any]]:
    for form in forms(schema, definitions, 8) if left else ():
        if "default" in form:
            yield from flat(path, form["default"])
        for key, inner in form.get("properties", {}).items():
            yield from told_in(inner, definitions, f"{path}.{key}" if path else key, left - 1)


def forms(schema: Any, definitions: Mapping[str, Any], left: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, dict) or not left:
        return
    yield schema
    name = schema.get("$ref", "").removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
    if name in definitions:
        yield from forms(definitions[name], definitions, left - 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(keyword, ()):
            yield from forms(inner, definitions, left - 1)


def flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """As `inspect` tells settings: a list of plain values is one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
        for index, entry in enumerate(value):
            yield from flat(f"{path}.{index}", entry)
    else:
        yield path, value


def is_within_nothing(path: str, own: Mapping[str, Any]) -> bool:
    parts = path.split(".")
    return any(".".join(parts[:end]) in own and own[".".join(parts[:end])] in NOTHING for end in range(1, len(parts)))


def is_excepted(exceptions: Mapping[str, str], path: str, needed: set[str]) -> bool:
    """Whether one of these has the path; it is then needed."""
    matching = [one for one in exceptions if re.fullmatch(".*".join(map(re.escape, one.split("*"))), path)]
    needed.update(matching)
    return bool(matching)
