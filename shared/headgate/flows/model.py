"""Flows: ready-made collector configurations that everybody may read. They belong to no organization."""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from headgate.foundation import errors
from headgate_engine.collector import StableSignal

SLUG: Final = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


class FlowNotFound(errors.NotFound):
    """The gallery has no flow with that slug."""

    code = "flow_not_found"
    detail = "No such flow"


class GalleryNotPublished(errors.Unavailable):
    """Publishing the gallery is a step of the deployment that has not been done."""

    code = "gallery_not_published"
    no_fault = True
    detail = "The gallery of flows has not been published yet"


@dataclass(frozen=True, slots=True)
class FlowPipeline:
    """A pipeline of a flow as the collector resolves it; each list has ids with the sections that declare them."""

    id: str
    signal: str
    receivers: tuple[tuple[str, str], ...]
    processors: tuple[tuple[str, str], ...]
    exporters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow in a list. `source` says where it comes from."""

    slug: str
    name: str
    summary: str
    source: str
    author: str
    signals: tuple[StableSignal, ...]
    tags: tuple[str, ...]
    collector_version: str
    collector_distribution: str
    pipelines: tuple[FlowPipeline, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowRule:
    """A rule of a flow's test, as the API takes it."""

    name: str
    condition: str
    context: str | None = None
    expect: Literal["any", "all", "none", "count"] = "any"
    min: int | None = None
    max: int | None = None


@dataclass(frozen=True, slots=True)
class FlowTest:
    """The proof of a flow: a sample through one of its pipelines, and rules on the output."""

    name: str
    target_pipeline: str
    signal_type: StableSignal
    duration_seconds: int
    sample: str
    rules: tuple[FlowRule, ...]


@dataclass(frozen=True, slots=True)
class FullFlow:
    """A flow with its description, in Markdown, its YAML, and its tests."""

    flow: Flow
    description: str
    yaml: str
    tests: tuple[FlowTest, ...] = ()


@dataclass(frozen=True, slots=True)
class ComponentExample:
    """The part of a flow's YAML that configures one component. `flow` is the flow's slug."""

    kind: str
    type: str
    yaml: str
    flow: str

    def renamed(self, type_: str) -> "ComponentExample":
        """The same with the component's key written by another name of its type."""
        key = rf"^(  ['\"]?){re.escape(self.type)}(?=[/:'\"])"
        return replace(self, type=type_, yaml=re.sub(key, rf"\g<1>{type_}", self.yaml, count=1, flags=re.MULTILINE))
