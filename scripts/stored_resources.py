"""Limits on updates of the resources that hold data, by the template of the last release.

    python -m scripts.stored_resources --write     # when a release is made: what the next ones are compared with

CloudFormation replaces a resource if one of these properties changes, and refuses an update that adds or removes more
than one index of a table, or changes one in place. A stack that is updated from release to release gets over neither.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from headgate_local import template
from headgate_local.template import Template

RELEASED: Final = Path(__file__).with_name("released_resources.json")
_INDEXES: Final = "GlobalSecondaryIndexes"
# By CloudFormation's reference, "Update requires: Replacement".
_REPLACING: Final[Mapping[str, tuple[str, ...]]] = {
    "AWS::DynamoDB::Table": ("TableName", "KeySchema", "LocalSecondaryIndexes", "ImportSourceSpecification"),
    "AWS::S3::Bucket": ("BucketName", "ObjectLockEnabled"),
    "AWS::KMS::Key": (),
    "AWS::Cognito::UserPool": ("UsernameAttributes", "AliasAttributes", "UsernameConfiguration", "Schema"),
}


def described(here: Template) -> dict[str, Any]:
    """The fixed properties of each resource that holds data, and of the table of runs."""
    resources: dict[str, Any] = {}
    for kind, names in _REPLACING.items():
        for logical_id, properties in here.of_type(kind):
            retained: dict[str, Any] = {name: properties.get(name) for name in names}
            if kind == "AWS::DynamoDB::Table":
                indexes = properties.get(_INDEXES) or []
                assert isinstance(indexes, list)
                retained[_INDEXES] = {str(index["IndexName"]): index for index in indexes if isinstance(index, dict)}
                types = properties.get("AttributeDefinitions")
                retained["KeyTypes"] = _types(types, properties.get("KeySchema"))
            resources[logical_id] = {"Type": kind, **retained}
    return resources


def refusals(released: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """A line for each change that cannot be deployed over that release."""
    for logical_id, before in released.items():
        after = now.get(logical_id)
        if after is None or after["Type"] != before["Type"]:
            yield f"{logical_id} would be removed"
            continue
        for name in sorted((before.keys() | after.keys()) - {"Type", _INDEXES}):
            if before.get(name) != after.get(name):
                yield f"{logical_id} would be replaced, for {name}"
        yield from _of_indexes(logical_id, before.get(_INDEXES, {}), after.get(_INDEXES, {}))


def _of_indexes(logical_id: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f"{logical_id}: index {name} cannot be changed in place; add another, and remove it later"
    changed = sorted(before.keys() ^ after.keys())
    if len(changed) > 1:
        yield f"{logical_id}: an update adds or removes one index, not {', '.join(changed)}"


def _types(definitions: object, keys: object) -> dict[str, str]:
    """The types of the attributes that are the table's own key."""
    names = {str(key["AttributeName"]) for key in keys if isinstance(key, dict)} if isinstance(keys, list) else set()
    listed = definitions if isinstance(definitions, list) else []
    return {entry["AttributeName"]: entry["AttributeType"] for entry in listed if entry["AttributeName"] in names}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what holds data with the last release.")
    parser.add_argument("--write", action="store_true", help="record the template as that of the last release")
    now = described(template.read())
    if parser.parse_args().write:
        RELEASED.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    result = list(refusals(json.loads(RELEASED.read_text(encoding="utf-8")), now))
    print("\n".join(result) or "This template can be deployed over the last release.")
    raise SystemExit(1 if result else 0)


if __name__ == "__main__":
    main()
