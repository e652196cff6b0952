"""What a connector makes of a signal is recorded to the end, when the signal itself has already stopped."""

import json

from tests.support.local_service import LocalService
from tests.support.run_support import output, run

# The count reaches the metrics pipeline's batch, which holds it until the collector stops.
COUNTED = """
receivers: {otlp: {protocols: {grpc: }}}
processors: {batch: {timeout: 20s}}
connectors: {count: {spans: {span.count: {description: Spans}}}}
exporters: {debug: }
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [count, debug]}
    metrics: {receivers: [count], processors: [batch], exporters: [debug]}
"""
SPAN = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "GET /"}
SAMPLE = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}


def test_every_signal_is_recorded_whichever_stops_first(service: LocalService) -> None:
    request = {
        "yaml": COUNTED,
        "sample": SAMPLE,
        "signal_type": "traces",
        "target_pipeline": "traces",
        "duration_seconds": 1,
        "rules": [{"name": "the span is there", "condition": 'name == "GET /"'}],
    }
    with service.client() as client:
        runs = [run(client, request) for _ in range(6)]
        recorded = [[next(iter(json.loads(line))) for line in output(client, one["id"]).splitlines()] for one in runs]

    assert [(one["status"], one["stderr"]) for one in runs] == [("Success", one["stderr"]) for one in runs]
    assert recorded == [["resourceSpans", "resourceMetrics"]] * 6
