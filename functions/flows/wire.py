"""Answers of the flows endpoints."""

from typing import Annotated

from fastapi import Path

from headgate.flows.model import SLUG
from headgate.http.wire import Answer
from headgate_engine.collector import StableSignal

Slug = Annotated[str, Path(pattern=f"^{SLUG.pattern}$")]


class FlowSummary(Answer):
    """A flow in the list. Its distribution may be one that configurations cannot have."""

    slug: str
    name: str
    summary: str
    source: str
    author: str
    signals: list[StableSignal]
    tags: list[str]
    collector_version: str
    collector_distribution: str


class FlowRuleOut(Answer):
    name: str
    condition: str
    context: str | None
    expect: str
    min: int | None
    max: int | None


class FlowTestOut(Answer):
    """A test that proves the flow, with the fields of a version's test."""

    name: str
    target_pipeline: str
    signal_type: StableSignal
    duration_seconds: int
    sample: str
    rules: list[FlowRuleOut]


class FlowDetail(FlowSummary):
    """A flow with its description, in Markdown, the YAML to create a configuration with, and tests for it."""

    description: str
    yaml: str
    tests: list[FlowTestOut]
