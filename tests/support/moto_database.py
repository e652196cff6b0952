"""moto with tables of a template of its own, stopped and started on the same data."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from headgate_local import aws_server, store, template

TEMPLATE = """
Resources:
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: things
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: sk, AttributeType: S}
        - {AttributeName: owner, AttributeType: S}
      KeySchema: [{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
      GlobalSecondaryIndexes:
        - IndexName: by-owner
          KeySchema: [{AttributeName: owner, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
          Projection: {ProjectionType: ALL}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
  Markers:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: markers
      AttributeDefinitions: [{AttributeName: name, AttributeType: S}]
      KeySchema: [{AttributeName: name, KeyType: HASH}]
  Texts:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: texts
      LifecycleConfiguration:
        Rules: [{Status: Enabled, Prefix: old/, ExpirationInDays: 1}]
"""


@dataclass
class Database:
    """moto with the data of a folder, as the local service has it."""

    folder: Path
    url: str = ""
    fresh: bool = True
    dynamodb: Any = None
    s3: Any = None
    _stack: ExitStack | None = None

    def start(self) -> None:
        (self.folder / "template.yaml").write_text(TEMPLATE)
        self._stack = ExitStack()
        self.url = self._stack.enter_context(aws_server.running())
        described = template.read(self.folder / "template.yaml")
        self.fresh = self._stack.enter_context(store.restored(self.folder, described))
        self.dynamodb, self.s3 = boto3.client("dynamodb"), boto3.client("s3")

    def stop(self) -> None:
        """End without any farewell: nothing is written here that was not written before."""
        assert self._stack is not None
        self._stack.close()

    def restart(self) -> None:
        self.stop()
        self.start()

    def items(self, table: str) -> list[dict[str, Any]]:
        return sorted(self.dynamodb.scan(TableName=table)["Items"], key=str)

    def things(self) -> dict[tuple[str, str], Any]:
        return {(item["pk"]["S"], item["sk"]["S"]): item for item in self.items("things")}

    def put(self, pk: str, sk: str, **attributes: dict[str, Any]) -> None:
        self.dynamodb.put_item(TableName="things", Item={"pk": {"S": pk}, "sk": {"S": sk}, **attributes})


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    environment = dict(os.environ)
    one = Database(tmp_path)
    one.start()
    yield one
    one.stop()
    os.environ.clear()
    os.environ.update(environment)


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def put_of(pk: str, sk: str, **more: Any) -> dict[str, Any]:
    return {"Put": {"TableName": "things", "Item": key(pk, sk), **more}}
