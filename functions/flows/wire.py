"""The answers of the flows endpoints."""

from typing import Self

from pydantic import BaseModel

from headgate.flows.model import Flow, FullFlow
from headgate.foundation.collector import Signal


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


class FlowDetail(FlowSummary):
    """A flow with its description, in Markdown, and the YAML to create a configuration with."""

    description: str
    yaml: str

    @classmethod
    def of_full(cls, full: FullFlow) -> Self:
        return cls(**FlowSummary.of(full.flow).model_dump(), description=full.description, yaml=full.yaml)
