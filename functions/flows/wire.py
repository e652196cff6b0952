"""The answers of the flows endpoints."""

from dataclasses import asdict
from typing import Self

from pydantic import BaseModel

from headgate.flows.model import Flow, FullFlow
from headgate_engine.collector import Signal


class FlowSummary(BaseModel):
    """A flow in the list. Its distribution may be one that configurations cannot have."""

    slug: str
    name: str
    summary: str
    source: str
    author: str
    signals: list[Signal]
    tags: list[str]
    collector_version: str
    collector_distribution: str

    @classmethod
    def of(cls, flow: Flow) -> Self:
        return cls(
            slug=flow.slug,
            name=flow.name,
            summary=flow.summary,
            source=flow.source,
            author=flow.author,
            signals=list(flow.signals),
            tags=list(flow.tags),
            collector_version=flow.collector_version,
            collector_distribution=flow.collector_distribution,
        )


class FlowRuleOut(BaseModel):
    name: str
    condition: str
    context: str | None
    expect: str
    min: int | None
    max: int | None


class FlowTestOut(BaseModel):
    """A test that proves the flow, with the fields of a version's test."""

    name: str
    target_pipeline: str
    signal_type: Signal
    duration_seconds: int
    sample: str
    rules: list[FlowRuleOut]


class FlowDetail(FlowSummary):
    """A flow with its description, in Markdown, the YAML to create a configuration with, and tests for it."""

    description: str
    yaml: str
    tests: list[FlowTestOut]

    @classmethod
    def of_full(cls, full: FullFlow) -> Self:
        return cls(
            **FlowSummary.of(full.flow).model_dump(),
            description=full.description,
            yaml=full.yaml,
            tests=[FlowTestOut.model_validate(asdict(test)) for test in full.tests],
        )
