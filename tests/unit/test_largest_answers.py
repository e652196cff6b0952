"""The largest answer of each operation fits into what Lambda sends, by the shape that openapi.json gives it.

What a text, a list or a map has at most is here by its name, from the constant that bounds it where it is made. A field
that is new and has no bound fails: give it one, or let its operation answer in pages. Sizes are bytes of JSON in JSON,
as a function returns a body on Python 3.12 and later.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from fleets.api.observed import MOST_SHARED
from fleets.api.series_wire import MOST_VERSIONS as VERSIONS_OF_A_DAY
from headgate.captures.model import LONGEST_CONDITION
from headgate.captures.samples import MOST_BYTES as SAMPLE_OF_CAPTURE
from headgate.deployments.mounts import MAX_MOUNTS
from headgate.deployments.selectors import MOST_LABELS as LABELS_OF_GROUP
from headgate.deployments.variables import MOST as VARIABLES
from headgate.deployments.variables import MOST_REMOVED
from headgate.events.model import EVENT_TYPES
from headgate.fleets.prices import MOST as MOST_PRICES
from headgate.fleets.prices import UNITS
from headgate.http.app import LARGEST_ANSWER
from headgate.http.body_limit import MAX_BODY_BYTES
from headgate.instances import mode_preview, token_status
from headgate.instances.adopting import LONGEST_PATH, MOST_VARIABLES
from headgate.instances.observed import MOST_DIFFERENCE, MOST_HOSTS, MOST_VERSIONS
from headgate.instances.reported.health_tree import DEEPEST, LONGEST_ERROR, LONGEST_NAME, LONGEST_STATUS, MOST_PARTS
from headgate.instances.reported.host import LARGEST_NAMES
from headgate.instances.series.costs import MOST_DAYS, MOST_LINES
from headgate.instances.series.service import MOST_POINTS, MOST_SERIES
from headgate.instances.state.model import INSTANCE_STATES
from headgate.instances.timeline.day import STEPS
from headgate.opamp.effective import MOST_COMPONENTS
from headgate.opamp.host_reports import LARGEST as REPORT_OF_HOST
from headgate.opamp.reasons import LONGEST as LONGEST_REASON
from headgate.overview.service import MOST_FLEETS
from headgate.rollouts.model import MOST_STEPS
from headgate.rollouts.upgrading import MOST_RUNNING
from headgate.runs.service import LARGEST_ANSWER as LARGEST_FILE
from headgate.storage.sealed import MAX_BYTES as LONGEST_VALUE
from headgate.version_tests.model import MAX_EVIDENCE
from headgate_engine.rules.model import MAX_RULES
from headgate_engine.testing.model import MAX_RESULT_BYTES
from headgate_engine.testing.named_test import MAX_TESTS
from headgate_engine.wire.bounds import MOST_CHARACTERS
from headgate_engine.wire.inputs import MAX_STORED_GATES, MAX_VARIABLES

DOCUMENT: Final = json.loads((Path(__file__).parents[2] / "functions" / "identity" / "openapi.json").read_text())
SCHEMAS: Final[Mapping[str, Any]] = DOCUMENT["components"]["schemas"]

PAGE: Final = 100
QUERY: Final = 1 << 20
"""What DynamoDB returns in a query at most, of which a list shows one."""
# A quotation mark of a stored text takes four bytes, and one that is JSON already two. Lines of text have no controls.
STORED, IN_JSON = 4, 2

BEYOND: Final = {
    "as much as a text of a megabyte makes the collector, its linter and the policies say": (
        "validateText",
        "validateTexts",
        "lintOttl",
        "checkTextUpgrade",
        "checkVersionUpgrade",
        "checkDeploymentUpgrade",
        "getReportedFindings",
        "listFleetFindings",
    ),
    "what a release of the collector or of Headgate describes, whoever asks": (
        "listCollectorVersions",
        "listComponents",
        "getComponentsSchema",
        "getComponent",
        "listFlows",
        "getFlow",
        "getOttlReference",
        "getPolicies",
        "putPolicies",
    ),
    "the rules of all pipelines of a version, 80 KB each; the API has no pages of them": ("listValidationPipelines",),
}
"""Operations without a bound of their own: an answer that is too large is compressed, or says to ask for less."""

CHARACTERS: Final = {
    "condition": LONGEST_CONDITION,
    "description": 2_000,
    "next_cursor": 2_000,
    "name": 255,
    "label": 255,
    "host_name": 255,
    "os": 255,
    "arch": 255,
    "configuration_name": 255,
    "state_message": LONGEST_REASON,
    "HappenedOut.reason": 500,
    "FailureOut.message": 300,
    "RunSummary.reason": 300,
    "RunOut.stderr": 65_536,
    "value": LONGEST_VALUE,
    "InstallOut.command": 100_000,
    "ObserveOut.text": 20_000,
    "collector_version": 255,
    "collector_distribution": 255,
    "supervisor_version": 255,
    "managed_by": 100,
    "target_pipeline": 1_024,
    "pipeline": 1_024,
    "component": 1_024,
    "host_path": 1_000,
    "mount_path": 1_000,
    "namespace": 63,
    "sha256": 64,
    "text_sha256": 64,
    "tests_sha256": 64,
    "host_key": 64,
    "exporter": 255,
    "host": 255,
    "amount": 32,
    "currency": 3,
    "configuration": 64,
    "InventoryOut.configuration_problem": 200,
    "distribution": 255,
    "former": 64,
    "difference": MOST_DIFFERENCE,
    "PlaceholderOut.component_path": LONGEST_PATH,
    "PartHealthOut.path[]": LONGEST_NAME,
    "PartHealthOut.error": LONGEST_ERROR,
    "PartHealthOut.status": LONGEST_STATUS,
    "HealthOut.status": LONGEST_STATUS,
    "HealthOut.error": LONGEST_REASON,
}
ENTRIES: Final = {
    "HealthOut.parts": MOST_PARTS,
    "ModeCheckOut.hosts": mode_preview.MOST_HOSTS,
    "TokenStatusOut.hosts": token_status.MOST_HOSTS,
    "PartHealthOut.path": DEEPEST,
    "items": PAGE,
    "warnings": 50,
    "volume_mounts": MAX_MOUNTS,
    "selector": LABELS_OF_GROUP,
    "canaries": LABELS_OF_GROUP,
    "steps": MOST_STEPS,
    "failures": 10,
    "not_moved": 20,
    "EnvHostsOut.running": MOST_RUNNING,
    "notes": 50,
    "component_errors": 20,
    "orders": 8,
    "feature_gates": MAX_STORED_GATES,
    "prices": MOST_PRICES,
    "ExportOut.prices": len(UNITS),
    "exports": MOST_LINES,
    "days": MOST_DAYS,
    # Those saved through the API, and those by hand.
    "rules": 2 * MAX_RULES,
    "validation_results": 2 * MAX_RULES,
    "env_names": MAX_VARIABLES,
    "EnvOut.items": VARIABLES,
    "EnvOut.removed": MOST_REMOVED,
    "VariablesChangeOut.names": VARIABLES + MOST_REMOVED,
    "VersionTestsOut.items": MAX_TESTS,
    "EvidenceOut.tests": MAX_TESTS,
    "evidence": MAX_EVIDENCE,
    "TestOfVersionOut.history": MAX_EVIDENCE,
    "attempts": 24,
    "types": len(EVENT_TYPES),
    "fleet_ids": 25,
    "kinds": 20,
    "patterns": 20,
    "keys": PAGE,
    "notices": PAGE,
    "series": MOST_SERIES,
    # MOST_POINTS are those of all series of an answer.
    "points": MOST_POINTS // MOST_SERIES,
    "LastDayOut.points": STEPS,
    "StatesThenOut.states": len(INSTANCE_STATES),
    "StatesThenOut.versions": VERSIONS_OF_A_DAY,
    "RecordsOut.in": 3,
    "RecordsOut.out": 3,
    "fleets": MOST_FLEETS,
    "AdoptionOut.variables": MOST_VARIABLES,
    "SharedConfigurationsOut.items": MOST_SHARED,
}
BYTES: Final = {
    "yaml": IN_JSON * MAX_BODY_BYTES,
    # All of these came in one request, or in one report of a host.
    "NamedTestOut": IN_JSON * MAX_BODY_BYTES + 2_000,
    "RunOut.attributes": IN_JSON * 16_384,
    "labels": IN_JSON * (REPORT_OF_HOST + LARGEST_NAMES),
    "set_labels": IN_JSON * LARGEST_NAMES,
    "InstanceOut.drifted": 0,
    "InstanceOut.last_exits": 0,
    "InstanceOut.counters": 0,
    "InstanceDetail.drifted": 0,
    "InstanceDetail.last_exits": 0,
    "InstanceDetail.counters": 0,
    "SharedConfigurationOut.hosts": STORED * MOST_HOSTS * 255,
    "SharedConfigurationOut.versions": STORED * MOST_VERSIONS * 255,
    "SharedConfigurationOut.components": IN_JSON * MOST_COMPONENTS * 80,
    "InventoryOut.components": IN_JSON * MOST_COMPONENTS * 80,
    "HappenedOut.drifted": IN_JSON * REPORT_OF_HOST,
    "LineOut.pipelines": IN_JSON * REPORT_OF_HOST,
    "ExportOut.pipelines": IN_JSON * REPORT_OF_HOST,
    # A host takes 255 characters of them together.
    "EvidenceOut.feature_gates": 2_000,
    # Beyond these, the answer is a link.
    "StepsOut": IN_JSON * LARGEST_FILE,
    "StepOut": IN_JSON * LARGEST_FILE,
    "getRunOutput": IN_JSON * LARGEST_FILE,
    "getRunSample": MAX_BODY_BYTES,
    "getRunStderr": 6 * 65_536,
    "getCaptureSample": IN_JSON * SAMPLE_OF_CAPTURE,
    # Measured as they are sent.
    "SuiteOut.result": MAX_RESULT_BYTES,
    "ComparisonOut.result": MAX_RESULT_BYTES,
    "CoverageOut.result": MAX_RESULT_BYTES,
}
QUERIED: Final = {
    "DeploymentOutPage": STORED,
    "VersionSummaryPage": STORED,
    "CaptureOutPage": STORED,
    "RolloutOutPage": IN_JSON,
}
"""Pages of which a query holds less than a hundred of the largest entries."""
_ID: Final = re.compile(r"(^|\.|_)ids?(\[\])?$")


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each operation answers when it succeeds, by the operation's id."""
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                for content in answer.get("content", {}).values():
                    if status.startswith("2"):
                        yield operation["operationId"], content["schema"]


ANSWERS: Final = dict(operations())
UNBOUNDED: Final = [name for names in BEYOND.values() for name in names]


@pytest.mark.parametrize("operation", sorted(ANSWERS.keys() - set(UNBOUNDED)))
def test_the_largest_answer_fits(operation: str) -> None:
    assert 0 < size_of(ANSWERS[operation], operation) < LARGEST_ANSWER - 10_000


def test_each_operation_without_a_bound_is_there() -> None:
    assert set(UNBOUNDED) <= ANSWERS.keys()


def test_a_field_without_a_bound_is_found() -> None:
    with pytest.raises(AssertionError, match=r"New\.list has no bound"):
        size_of({"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}}, "New")


def size_of(schema: Mapping[str, Any], name: str) -> int:
    """The most bytes of a value with this schema. `name` is the schema's own, or with its field."""
    field = name.rpartition(".")[2]
    if (fixed := BYTES.get(name, BYTES.get(field) if "." in name else None)) is not None:
        return fixed
    match schema:
        case {"$ref": str(ref)}:
            named = ref.rpartition("/")[2]
            return queried(named) if named in QUERIED else size_of(SCHEMAS[named], named)
        case {"anyOf": list(choices)} | {"oneOf": list(choices)} | {"allOf": list(choices)}:
            return max(size_of(choice, name) for choice in choices)
        case {"enum": list(words)}:
            return 4 + max(len(str(word)) for word in words)
        case {"const": word}:
            return 4 + len(str(word))
        case {"type": "string"}:
            return text_of(schema, name, field)
        case {"type": "array", "items": items}:
            return 2 + most(schema, "maxItems", name, field) * (1 + size_of(items, f"{name}[]"))
        case {"type": "object", "additionalProperties": dict(values)}:
            return 2 + most(schema, "maxProperties", name, field) * (1_000 + size_of(values, f"{name}[]"))
        case {"type": "object", "properties": properties}:
            owner = name if "." not in name else field
            return 2 + sum(len(key) + 6 + size_of(value, f"{owner}.{key}") for key, value in properties.items())
    assert schema.get("type") in ("integer", "number", "boolean", "null"), f"{name} has no bound"
    return 21


def text_of(schema: Mapping[str, Any], name: str, field: str) -> int:
    if schema.get("format") == "date-time" or _ID.search(field):
        return 40
    bare = field.removesuffix("[]")
    characters = CHARACTERS.get(name, CHARACTERS.get(bare, schema.get("maxLength", MOST_CHARACTERS)))
    # A control character takes most.
    return 4 + 7 * int(characters)


def most(schema: Mapping[str, Any], bound: str, name: str, field: str) -> int:
    entries = ENTRIES.get(name, ENTRIES.get(field, schema.get(bound)))
    assert entries is not None, f"{name} has no bound"
    return int(entries)


def queried(page: str) -> int:
    """A page of what one query holds, with what each entry has beside its stored texts."""
    entry = SCHEMAS[page]["properties"]["items"]["items"]["$ref"].rpartition("/")[2]
    beside = sum(len(key) + 60 for key in SCHEMAS[entry]["properties"])
    return QUERIED[page] * QUERY + PAGE * 2 * beside
