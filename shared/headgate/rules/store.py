"""Rule sets, items of the versions table beside their version. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from botocore.exceptions import ClientError

from headgate.configurations import keys
from headgate.rules.items import rule_attributes, rule_of
from headgate.rules.model import RuleSet, Signal, StoredRule
from headgate.settings import settings
from headgate.storage import aws, items
from headgate.storage.items import Item, Value
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def rule_set(configuration_id: str, n: int, pipeline: str) -> RuleSet | None:
    """One read. None if nothing was saved."""
    answer = aws.dynamodb().get_item(
        TableName=settings().versions_table,
        Key=items.marshal(keys.rules(configuration_id, n, pipeline)),
        ConsistentRead=True,
    )
    return _rule_set(items.unmarshal(answer["Item"])) if "Item" in answer else None


def rule_sets(configuration_id: str, n: int) -> list[RuleSet]:
    """Every set of a version, by pipeline; one query."""
    answer = aws.dynamodb().query(
        TableName=settings().versions_table,
        ConsistentRead=True,
        KeyConditionExpression="configuration_id = :id AND begins_with(#item, :prefix)",
        ExpressionAttributeNames={"#item": "item"},
        ExpressionAttributeValues=items.marshal(
            {":id": configuration_id, ":prefix": keys.rules(configuration_id, n, "")["item"]}
        ),
    )
    return [_rule_set(items.unmarshal(item)) for item in answer["Items"]]


def save(configuration_id: str, n: int, saved: RuleSet, *records: TransactWriteItemTypeDef) -> None:
    """One transaction, with `records` of the change. Raises LostRace unless the set is still the one before `saved`."""
    write: TransactWriteItemTypeDef = {
        "Put": {
            "TableName": settings().versions_table,
            "Item": items.marshal(keys.rules(configuration_id, n, saved.pipeline) | _item(saved)),
            "ConditionExpression": "attribute_not_exists(configuration_id) OR revision = :before",
            "ExpressionAttributeValues": items.marshal({":before": saved.revision - 1}),
        }
    }
    try:
        aws.dynamodb().transact_write_items(TransactItems=[write, *records])
    except ClientError as error:
        if items.lost_a_race(error):
            raise LostRace from error
        raise


def _item(saved: RuleSet) -> Item:
    return {
        "pipeline": saved.pipeline,
        "name": saved.name,
        "signal_type": saved.signal_type,
        "revision": saved.revision,
        "rules": [{"id": one.id, "api_owned": one.api_owned, **rule_attributes(one.rule)} for one in saved.rules],
    }


def _rule_set(item: Item) -> RuleSet:
    rules = cast("list[Mapping[str, Value]]", item["rules"])
    return RuleSet(
        pipeline=items.text(item, "pipeline"),
        name=items.text(item, "name"),
        signal_type=cast("Signal", items.text(item, "signal_type")),
        rules=tuple(StoredRule(items.text(one, "id"), one["api_owned"] is True, rule_of(one)) for one in rules),
        revision=items.number(item, "revision"),
    )
