"""Samples: how large they may be, and those that come as JSON values: OTLP/JSON, one document or a list of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from headgate_engine.errors import TooLarge
from headgate_engine.rules.engine import Sample

MAX_SAMPLE_BYTES: Final = 1_048_576


class SampleTooLarge(TooLarge):
    """The sample is over 1 MB."""

    detail = "The sample is over 1 MB (1,048,576 bytes)"


def require_small(sample: Sample) -> None:
    """Raises SampleTooLarge."""
    if len(sample.text.encode()) > MAX_SAMPLE_BYTES:
        raise SampleTooLarge


def of_request(value: str | Mapping[str, JsonValue] | Sequence[Mapping[str, JsonValue]]) -> Sample:
    """A text as it is, and of JSON one document a line, so that an error in the third one is reported for line 3."""
    if isinstance(value, str):
        return Sample(value, is_otlp=False)
    documents = [value] if isinstance(value, Mapping) else value
    lines = [json.dumps(document, ensure_ascii=False, separators=(",", ":")) for document in documents]
    return Sample("\n".join(lines), is_otlp=True)
