"""The template can be deployed over the last release: nothing that holds data is replaced; indexes change singly."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from scripts import stored_resources
from tests.support.aws import read_template

NOW = stored_resources.described(read_template())


def test_the_template_can_be_deployed_over_the_last_release() -> None:
    released = json.loads(stored_resources.RELEASED.read_text())

    assert list(stored_resources.refusals(released, NOW)) == []


def test_everything_that_holds_data_is_compared() -> None:
    missing = {name for name in read_template().holding_data() if name not in NOW and "Repository" not in name}

    assert missing == set()


def without_table(now: dict[str, Any]) -> None:
    del now["FleetsTable"]


def another_key(now: dict[str, Any]) -> None:
    now["FleetsTable"]["KeySchema"][0]["AttributeName"] = "partition"


def a_name(now: dict[str, Any]) -> None:
    now["Bucket"]["BucketName"] = "ours"


def another_projection(now: dict[str, Any]) -> None:
    now["RunsTable"]["GlobalSecondaryIndexes"]["of_organization"]["Projection"] = {"ProjectionType": "KEYS_ONLY"}


def two_more_indexes(now: dict[str, Any]) -> None:
    indexes = now["VersionsTable"]["GlobalSecondaryIndexes"]
    indexes["first"] = indexes["second"] = indexes["published"]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (without_table, "FleetsTable would be removed"),
        (another_key, "FleetsTable would be replaced, for KeySchema"),
        (a_name, "Bucket would be replaced, for BucketName"),
        (another_projection, "RunsTable: index of_organization cannot be changed in place"),
        (two_more_indexes, "VersionsTable: an update adds or removes one index, not first, second"),
    ],
)
def test_an_update_that_would_lose_data_or_be_refused_is_named(
    change: Callable[[dict[str, Any]], None], refusal: str
) -> None:
    now = copy.deepcopy(NOW)
    change(now)

    (found,) = stored_resources.refusals(NOW, now)

    assert found.startswith(refusal)


def test_one_more_index_is_an_update_like_another() -> None:
    now = copy.deepcopy(NOW)
    indexes = now["VersionsTable"]["GlobalSecondaryIndexes"]
    indexes["first"] = indexes["published"]

    assert list(stored_resources.refusals(NOW, now)) == []
