"""The pictures of the gallery show what the collector resolves."""

import pytest

from headgate.flows import source
from scripts import gallery_graphs

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]


def test_the_stored_pipelines_of_each_flow_are_those_of_the_collector() -> None:
    """If it fails: `python -m scripts.gallery_graphs` writes them anew."""
    found = gallery_graphs.graphs()

    assert len(found) > 30
    assert source.graphs(gallery_graphs.FLOWS) == found
