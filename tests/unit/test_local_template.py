"""The reader of template.yaml, over the forms that CloudFormation has for the same thing."""

from pathlib import Path

import pytest

from headgate_local import template
from headgate_local.template import Expiry, Function, RouteTemplate, Schedule, Template, TemplateBucket, TemplateError

DOCUMENT = """
Parameters:
  Limit: {Type: Number, Default: 60}
  Endpoint: {Type: String, Default: ""}
  Needed: {Type: String}
Globals:
  Function:
    Environment:
      Variables:
        LIMIT: !Ref Limit
        TABLE: !Ref Items
Resources:
  Items:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
  Named:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}-named"
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: expires, Enabled: false}
  Files:
    Type: AWS::S3::Bucket
    Properties:
      LifecycleConfiguration:
        Rules:
          - {Status: Enabled, Prefix: runs/, ExpirationInDays: 30}
          - {Status: Disabled, Prefix: kept/, ExpirationInDays: 1}
          - {Status: Enabled, NoncurrentVersionExpiration: {NoncurrentDays: 1}}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties: {DefinitionUri: machine.asl.yaml}
  Api: {Type: AWS::Serverless::HttpApi}
  One:
    Type: AWS::Serverless::Function
    Properties:
      Handler: one.app.handler
      Environment:
        Variables:
          MACHINE: !Ref Machine
          MACHINE_ARN: !GetAtt Machine.Arn
          STEP: !Ref Step.Alias
          OBJECTS: !Sub "${Files.Arn}/*"
          LONG_FORM: {"Fn::GetAtt": [Items, Arn]}
          WITH_VALUES: !Sub ["${a}-${!literal}", {a: !Ref Files}]
          ENDPOINT: !Ref Endpoint
          OF_THE_STACK: !Sub "https://${Api}.example"
          ONLY_DEPLOYED: !GetAtt Api.ApiEndpoint
          DECIDED: !If [HasDomain, a, b]
          NEEDED: !Ref Needed
      Events:
        All: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: any, Path: "/one/{proxy+}"}}
        Post: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: POST, Path: /one}}
        Nightly: {Type: Schedule, Properties: {Schedule: rate(1 day)}}
        Often: {Type: Schedule, Properties: {Schedule: rate(5 minutes), Input: '{"step": "sweep"}'}}
  Step:
    Type: AWS::Serverless::Function
    Properties: {Handler: steps.app.handler}
"""


@pytest.fixture
def described(tmp_path: Path) -> Template:
    return written(tmp_path, DOCUMENT)


def written(folder: Path, document: str, **parameters: str) -> Template:
    path = folder / "template.yaml"
    path.write_text(document)
    return template.read(path, parameters=parameters, prefix="test")


def test_tables_are_ready_for_create_table(described: Template) -> None:
    items, named = described.tables()

    assert items.definition == {
        "TableName": "test-Items",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    assert (items.expiry_attribute, named.name, named.expiry_attribute) == ("expires", "test-named", None)


def test_buckets_have_names_that_s3_allows_and_the_lifecycle_in_force(described: Template) -> None:
    assert described.buckets() == [TemplateBucket("Files", "test-files", (Expiry("runs/", 30),))]


def test_routes_name_the_function_that_answers_them(described: Template) -> None:
    one = Function("One", "one.app.handler")

    assert described.functions() == [one, Function("Step", "steps.app.handler")]
    assert described.routes() == [RouteTemplate("*", "/one/{proxy+}", one), RouteTemplate("POST", "/one", one)]


def test_schedules_name_the_function_its_event_and_how_often_it_is_called(described: Template) -> None:
    one = Function("One", "one.app.handler")

    assert described.schedules() == [Schedule(one, 86_400, {}), Schedule(one, 300, {"step": "sweep"})]


def test_a_schedule_of_another_form_is_not_passed_over(tmp_path: Path) -> None:
    described = written(tmp_path, DOCUMENT.replace("rate(1 day)", "cron(0 3 * * ? *)"))

    with pytest.raises(TemplateError, match=r"the schedule cron\(0 3 \* \* \? \*\) is not read here"):
        described.schedules()


def test_the_environment_has_every_value_that_can_be_known_here(described: Template) -> None:
    assert described.environment() == {
        "LIMIT": "60",
        "TABLE": "test-Items",
        "MACHINE": "arn:aws:states:us-east-1:123456789012:stateMachine:test-Machine",
        "MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:test-Machine",
        "STEP": "arn:aws:lambda:us-east-1:123456789012:function:test-Step",
        "OBJECTS": "arn:aws:s3:::test-files/*",
        "LONG_FORM": "arn:aws:dynamodb:us-east-1:123456789012:table/test-Items",
        "WITH_VALUES": "test-files-${literal}",
        "ENDPOINT": "",
    }


def test_a_parameter_overrides_its_default(tmp_path: Path) -> None:
    environment = written(tmp_path, DOCUMENT, Limit="5", Needed="given").environment()

    assert (environment["LIMIT"], environment["NEEDED"]) == ("5", "given")


def test_two_functions_that_differ_in_a_variable_are_told(tmp_path: Path) -> None:
    function = "{Type: AWS::Serverless::Function, Properties: {Handler: a.b, Environment: {Variables: {V: %s}}}}"

    with pytest.raises(TemplateError, match="B sets V to another value"):
        written(tmp_path, f"Resources:\n  A: {function % 'x'}\n  B: {function % 'y'}").environment()


@pytest.mark.parametrize("document", ["a: [", "- a", "Resources: text", "Resources: {A: text}"])
def test_what_is_not_a_template_is_told(tmp_path: Path, document: str) -> None:
    with pytest.raises(TemplateError):
        written(tmp_path, document).tables()


def test_the_projects_own_template_has_all_that_the_service_needs() -> None:
    ours = template.read()

    assert {table.logical_id for table in ours.tables()} >= {"ConfigurationsTable", "VersionsTable", "IdentityTable"}
    assert len(ours.buckets()) == 1
    environment = ours.environment()
    assert environment["HEADGATE_IDENTITY_TABLE"] == ours.name_of("IdentityTable")
    assert environment["HEADGATE_RATE_LIMIT_PER_MINUTE"] == "60"
