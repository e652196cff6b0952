"""The reference of both collector generations, as their real check processes tell it, and the pages made from it."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from headgate import checker
from headgate.checker import Asker
from headgate.flows import source
from headgate.foundation.settings import settings
from headgate.reference import answers, builds
from headgate.reference import service as reference
from headgate_engine.collectors import service as collectors
from headgate_engine.reference import documents
from headgate_engine.reference.fields import MOST_FIELDS, fields
from headgate_engine.reference.model import KINDS, Kind, NotInThisBuild
from headgate_local.options import read_options
from scripts.site import components as component_pages
from tests.support.second_version import needs_second_version, second_version, versions_in_turn
from tests.support.service import ROOT

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

VERSIONS = [settings().collector_version, *filter(None, [second_version()])]
LARGEST_DOCUMENT = 5_000_000
# Base64 makes four bytes of three.
LARGEST_IN_LAMBDA = 6_000_000 * 3 // 4


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(read_options(os.environ).collectors))
        settings.cache_clear()
        checker.close()
        builds.forget()
        yield
        builds.forget()
        checker.close()


def schema_of(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(documents.plain(reference.document(version).compressed))
    return found


@pytest.mark.parametrize("version", versions_in_turn(1))
def test_the_program_carries_the_texts_of_its_modules(version: str) -> None:
    """The build embeds them. In tests of the Go code there are none."""
    components = reference.matching(version)
    settings_at_the_top = [
        property_
        for component in components
        for property_ in json.loads(component.schema).get("properties", {}).values()
    ]
    described = [component for component in settings_at_the_top if component.get("description")]

    assert len([component for component in components if component.summary]) > len(components) * 0.95
    assert len(described) > len(settings_at_the_top) * 0.8


@pytest.mark.parametrize("version", versions_in_turn(2))
def test_the_components_are_those_that_the_binary_describes(version: str) -> None:
    described = checker.COLLECTORS.describe(version, asker=Asker("o", "c"))["components"]
    assert isinstance(described, list)

    assert [(component.kind, component.type, component.module) for component in reference.matching(version)] == sorted(
        (component["kind"], component["type"], component["module"])
        for component in described
        if component["kind"] != "provider"
    )


@pytest.mark.parametrize("version", versions_in_turn(3))
def test_every_component_has_a_schema_whose_fields_can_be_listed(version: str) -> None:
    for component in reference.matching(version):
        found = [one.path for one in fields(json.loads(component.schema))]
        assert len(found) == len(set(found)) < MOST_FIELDS, component.position
        assert component.stability, component.position


@pytest.mark.parametrize("version", versions_in_turn(4))
def test_a_former_name_leads_to_its_component(version: str) -> None:
    renamed = [component for component in reference.matching(version) if component.aliases]

    assert [reference.component(version, component.kind, component.aliases[0]) for component in renamed] == renamed


@pytest.mark.parametrize("version", versions_in_turn(5))
def test_the_schema_of_a_configuration_has_every_component_and_fits_in_an_answer(version: str) -> None:
    text = documents.plain(reference.document(version).compressed)
    definitions = schema_of(version)["$defs"]

    assert [
        component.position for component in reference.matching(version) if component.position not in definitions
    ] == []
    assert len(text) < min(LARGEST_DOCUMENT, LARGEST_IN_LAMBDA)


def test_every_component_of_the_gallery_has_an_entry() -> None:
    uses = {
        (section.removesuffix("s"), name)
        for flow in source.load(ROOT / "flows")
        for section, names in re.findall(
            r"^(receivers|processors|exporters):\n((?:  .*\n|\n)+)", flow.yaml, re.MULTILINE
        )
        for name in re.findall(r"^  ([a-z_0-9]+)", names, re.MULTILINE)
    }

    assert len(uses) > 40
    for kind, name in uses:
        assert reference.component(None, kind, name).schema


@pytest.mark.parametrize("version", versions_in_turn(6))
def test_ottl_answers_for_every_context_of_every_component(version: str) -> None:
    for entry in reference.ottl_components(version):
        for context in entry.contexts:
            answer = reference.ottl(entry.component, context, version)
            assert (answer.component, answer.kind, answer.context) == (entry.component, entry.kind, context)
            assert answer.paths, (entry.component, context)
            assert answer.functions, (entry.component, context)


@needs_second_version
def test_what_a_reduced_build_lacks_is_said_to_be_lacking() -> None:
    lacking = next(
        (one for one in collectors.lacks(VERSIONS[1], asker=answers.ASKER) if one.kind in ("receiver", "exporter")),
        None,
    )
    if lacking is None:
        pytest.skip(f"this build of {VERSIONS[1]} lacks no component")

    with pytest.raises(NotInThisBuild, match=f"lacks the {lacking.kind} {lacking.type} of the official release"):
        reference.component(VERSIONS[1], cast(Kind, lacking.kind), lacking.type)


def test_the_pages_of_the_site_have_each_component_with_its_settings() -> None:
    pages = component_pages.pages(VERSIONS[0])
    batch = pages["components/processors.md"].split("\n## batch\n")[1].split("\n## ")[0]

    assert '| `timeout` | duration | `"200ms"` |' in batch
    assert "https://pkg.go.dev/go.opentelemetry.io/collector/processor/batchprocessor@" in batch
    assert set(pages) == {f"components/{name}.md" for name in ("index", *(f"{kind}s" for kind in KINDS))}
