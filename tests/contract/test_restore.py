"""`make restore`, against moto: tables of a stack are brought back to a time, and nothing else of the stack changes.

moto restores a table as it is when it is asked, so the tests ask before they damage anything.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from headgate_local import aws_server, template
from scripts import restore
from scripts.restore import TablePair
from scripts.stack import Stop
from tests.support.aws import read_template

pytestmark = pytest.mark.contract

ROOT = template.PATH.parent
AT = (datetime.now(UTC) - timedelta(minutes=10)).replace(microsecond=0)
TIME = f"{AT:%Y-%m-%dT%H:%M:%SZ}"


def table_of(logical_id: str) -> dict[str, Any]:
    """The table's own keys; moto needs no more."""
    (described,) = [one for one in read_template().tables() if one.logical_id == logical_id]
    names = {key["AttributeName"] for key in described.definition["KeySchema"]}
    types = [one for one in described.definition["AttributeDefinitions"] if one["AttributeName"] in names]
    return {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "KeySchema": described.definition["KeySchema"],
            "AttributeDefinitions": types,
            "BillingMode": "PAY_PER_REQUEST",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
    }


STACK = {
    "Resources": {
        **{name: table_of(name) for name in ("FleetsTable", "IdentityTable", "RunsTable")},
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}},
        },
        **{
            name: {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Code": {"ZipFile": "def handler(event, context): pass"},
                    "Handler": "index.handler",
                    "Runtime": "python3.13",
                    "Timeout": timeout,
                    "Role": {"Fn::GetAtt": ["Role", "Arn"]},
                },
            }
            for name, timeout in (("OpampFunction", 1), ("FleetsFunction", 2))
        },
    }
}


@pytest.fixture
def tables() -> Iterator[list[TablePair]]:
    """The stack's tables with what was stored at AT, restored beside them."""
    with aws_server.running():
        boto3.client("cloudformation").create_stack(StackName="headgate", TemplateBody=json.dumps(STACK))
        found = restore.pairs("headgate", AT)
        by_name = {pair.logical_id: pair.live for pair in found}
        put(by_name["FleetsTable"], "fleet#1", "group#web", "v1")
        put(by_name["FleetsTable"], "fleet#1", "group#db", "v1")
        put(by_name["IdentityTable"], "organization#1", "organization", "Acme")
        restore.begin(found, AT)
        restore.wait(found, 0.1)
        yield found


def put(table: str, pk: str, sk: str, value: str) -> None:
    boto3.client("dynamodb").put_item(
        TableName=table, Item={"pk": {"S": pk}, "sk": {"S": sk}, "value": {"S": value}, "n": {"N": "1"}}
    )


def stored(table: str) -> dict[tuple[str, str], str]:
    items = boto3.client("dynamodb").scan(TableName=table)["Items"]
    return {(item["pk"]["S"], item["sk"]["S"]): item["value"]["S"] for item in items}


def damage(tables: list[TablePair]) -> dict[str, str]:
    """What people did after AT: a change, a deletion, something new, and the record of it. The tables by name."""
    by_name = {pair.logical_id: pair.live for pair in tables}
    put(by_name["FleetsTable"], "fleet#1", "group#web", "v2, by mistake")
    boto3.client("dynamodb").delete_item(
        TableName=by_name["FleetsTable"], Key={"pk": {"S": "fleet#1"}, "sk": {"S": "group#db"}}
    )
    put(by_name["FleetsTable"], "fleet#1", "group#new", "v1")
    put(by_name["IdentityTable"], "audit#1", "2026-11-26", "who did it")
    return by_name


def run(*more: str, answer: str = "headgate") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.restore", "--stage", "prod", "--at", TIME, *more]
    return subprocess.run(command, cwd=ROOT, input=answer + "\n", capture_output=True, text=True, check=False)


def test_tables_are_what_they_were_and_the_record_of_changes_stays(tables: list[TablePair]) -> None:
    by_name = damage(tables)
    boto3.client("lambda").put_function_concurrency(
        FunctionName=function("OpampFunction"), ReservedConcurrentExecutions=200
    )
    done = run()

    assert done.returncode == 0, done.stderr
    assert "FleetsTable: 2 items are written back, 1 that came later are deleted" in done.stdout
    assert stored(by_name["FleetsTable"]) == {("fleet#1", "group#web"): "v1", ("fleet#1", "group#db"): "v1"}
    assert stored(by_name["IdentityTable"]) == {
        ("organization#1", "organization"): "Acme",
        ("audit#1", "2026-11-26"): "who did it",
    }
    assert {name: reserved(name) for name in ("OpampFunction", "FleetsFunction")} == {
        "OpampFunction": 200,
        "FleetsFunction": None,
    }
    assert [name for name in boto3.client("dynamodb").list_tables()["TableNames"] if "-at-" in name] == []


def function(logical_id: str) -> str:
    found = boto3.client("cloudformation").describe_stack_resource(StackName="headgate", LogicalResourceId=logical_id)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def reserved(logical_id: str) -> int | None:
    found = boto3.client("lambda").get_function_concurrency(FunctionName=function(logical_id))
    return found.get("ReservedConcurrentExecutions")


def test_what_was_deleted_comes_back_and_nothing_else_is_touched(tables: list[TablePair]) -> None:
    by_name = damage(tables)
    done = run("--only-missing", "--table", "FleetsTable")

    assert done.returncode == 0, done.stderr
    assert stored(by_name["FleetsTable"]) == {
        ("fleet#1", "group#web"): "v2, by mistake",
        ("fleet#1", "group#db"): "v1",
        ("fleet#1", "group#new"): "v1",
    }


def test_without_the_stacks_name_nothing_is_changed_and_the_restored_tables_stay(tables: list[TablePair]) -> None:
    by_name = damage(tables)
    before = stored(by_name["FleetsTable"])
    done = run(answer="yes")

    assert (done.returncode, stored(by_name["FleetsTable"])) == (1, before)
    assert "Nothing was changed" in done.stderr
    assert len([name for name in boto3.client("dynamodb").list_tables()["TableNames"] if "-at-" in name]) == 2


def test_no_function_runs_while_tables_are_written(tables: list[TablePair]) -> None:
    with restore.held_still("headgate"):
        assert {reserved("OpampFunction"), reserved("FleetsFunction")} == {0}
    assert {reserved("OpampFunction"), reserved("FleetsFunction")} == {None}


def test_one_function_that_is_refused_keeps_no_other_still(
    tables: list[TablePair], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    functions, client = boto3.client("lambda"), boto3.client
    let_go, refused = functions.delete_function_concurrency, list[str]()

    def refuses_the_first(*, FunctionName: str) -> None:
        if not refused:
            refused.append(FunctionName)
            raise ClientError({"Error": {"Code": "TooManyRequestsException"}}, "DeleteFunctionConcurrency")
        let_go(FunctionName=FunctionName)

    monkeypatch.setattr(functions, "delete_function_concurrency", refuses_the_first)
    monkeypatch.setattr(boto3, "client", lambda name: functions if name == "lambda" else client(name))
    with pytest.raises(Stop, match="could not be let go: run the same command again"):
        hold()

    assert sorted(map(str, {reserved("OpampFunction"), reserved("FleetsFunction")})) == ["0", "None"]
    assert refused[0] in capsys.readouterr().err
    hold()
    assert {reserved("OpampFunction"), reserved("FleetsFunction")} == {None}


def hold() -> None:
    with restore.held_still("headgate"):
        pass


def test_what_runs_already_may_end_before_tables_are_written(
    tables: list[TablePair], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    with restore.held_still("headgate"):
        assert waited == [2]


@pytest.mark.parametrize("text", ["yesterday", "", "2999-01-01T00:00:00Z"])
def test_a_time_that_is_not_one_or_not_past_is_refused(text: str) -> None:
    with pytest.raises(Stop):
        restore.parsed(text)


def test_a_table_that_is_not_the_stacks_is_refused(tables: list[TablePair]) -> None:
    with pytest.raises(Stop, match="no table FleetTable"):
        restore.pairs("headgate", AT, ["FleetTable"])


def test_the_makefile_has_the_command() -> None:
    command = ["make", "--dry-run", "restore", f"AT={TIME}", "TABLES=FleetsTable EventsTable", "ONLY_MISSING=1"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert f'--at "{TIME}" --table FleetsTable --table EventsTable --only-missing' in told
    assert Path(ROOT, "docs", "backup.md").read_text().count("make restore") >= 1
