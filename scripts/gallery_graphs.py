"""Write flows/graphs.json, the pipelines of each flow as the collector resolves them.

    python -m scripts.gallery_graphs

The gallery's pictures are drawn from it. tests/contract/test_gallery_graphs.py holds it against the collector.
"""

from pathlib import Path
from typing import Final

from headgate import checker
from headgate.checker import Asker
from headgate.flows import source
from headgate.flows.model import FlowPipeline
from headgate.flows.source import Graphs
from headgate_engine.validation import service as validation

FLOWS: Final = Path(__file__).parents[1] / "flows"
_ASKER: Final = Asker("org_of_the_gallery", "tok_of_the_gallery")


def graphs() -> Graphs:
    """The pipelines of each flow, of the default collector."""
    return {flow.slug: _pipelines(flow.yaml) for flow in source.load(FLOWS)}


def _pipelines(yaml: str) -> tuple[FlowPipeline, ...]:
    # A variable without a default has no value here; which one it has changes no pipeline.
    graph = validation.graph(yaml, None, {}, asker=_ASKER)
    assert not graph.incomplete
    return tuple(
        FlowPipeline(
            id=pipeline.id,
            signal=pipeline.signal,
            receivers=tuple((listed.id, listed.section) for listed in pipeline.receivers),
            processors=tuple((listed.id, listed.section) for listed in pipeline.processors),
            exporters=tuple((listed.id, listed.section) for listed in pipeline.exporters),
        )
        for pipeline in graph.pipelines
    )


def main() -> None:
    result = graphs()
    checker.close()
    (FLOWS / source.GRAPHS_FILE).write_text(source.graphs_file(result))
    print(f"wrote the pipelines of {len(result)} flows")


if __name__ == "__main__":
    main()
