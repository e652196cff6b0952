"""Samples that come as JSON values: OTLP/JSON, one document or a list of them."""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate_engine.rules.engine import Sample


def of_json(value: Mapping[str, JsonValue] | Sequence[Mapping[str, JsonValue]]) -> Sample:
    """One document a line, so that an error in the third one is reported for line 3."""
    documents = [value] if isinstance(value, Mapping) else value
    lines = [json.dumps(document, ensure_ascii=False, separators=(",", ":")) for document in documents]
    return Sample("\n".join(lines), is_otlp=True)
