"""Alarms, the dashboard and the handbook's words about them, after SAM's own transformation of template.yaml."""

import json
import re
from typing import Any, get_args

import pytest

from headgate.foundation import metrics
from headgate_local import template
from tests.support.aws import read_template
from tests.support.transformed_template import document, of_type, referred, resources

__all__ = ["document", "resources"]
pytestmark = pytest.mark.contract

ROOT = template.PATH.parent
FUNCTIONS = [function.logical_id for function in read_template().functions()]
AT_ONCE = {"MailFunction", "FirstOrganizationFunction", "CheckerAnswersFunction"}
# Has an alarm and a name of its own; see test_checker_template.py.
CHECKER = "CheckerFunction"
# They have alarms of their own, which undo no deployment.
OF_WEBHOOKS = {"NotifyFunction", "DeliverFunction", "WebhooksFunction"}


# What each counts is in tests/api/test_alarms.py.
UNDOING = {"ServerErrorsAlarm", "FunctionErrorsAlarm", "RunStepsErrorsAlarm", "RolloutStepsErrorsAlarm"}


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - AT_ONCE))
def test_each_deployment_is_step_by_step_and_undone_on_an_alarm(
    resources: dict[str, Any], document: dict[str, Any], function: str
) -> None:
    group = resources[f"{function}DeploymentGroup"]["Properties"]

    assert set(referred(group["AlarmConfiguration"])) == UNDOING
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    assert json.dumps(group["DeploymentConfigName"]).count(document["Parameters"]["DeploymentType"]["Default"]) == 1


def test_every_alarm_tells_somebody_and_is_quiet_without_data(resources: dict[str, Any]) -> None:
    for name, alarm in of_type(resources, "AWS::CloudWatch::Alarm").items():
        assert alarm["Properties"]["AlarmActions"] == [{"Ref": "AlarmTopic"}], name
        if not name.endswith("MissingAlarm"):
            assert alarm["Properties"]["TreatMissingData"] == "notBreaching", name


@pytest.mark.parametrize("alarm", ["FunctionErrorsAlarm", "ThrottlesAlarm"])
def test_every_function_is_watched(resources: dict[str, Any], alarm: str) -> None:
    # CloudWatch takes ten metrics in an expression: an eleventh function needs another alarm.
    elsewhere = {CHECKER, "ExportsFunction", "RolloutStepsFunction", "SeriesFunction", *OF_WEBHOOKS}
    elsewhere |= {"RunStepsFunction"} if alarm == "FunctionErrorsAlarm" else {"ComponentsFunction"}
    assert set(referred(resources[alarm]["Properties"]["Metrics"])) == set(FUNCTIONS) - AT_ONCE - elsewhere
    assert len([one for one in resources[alarm]["Properties"]["Metrics"] if "MetricStat" in one]) <= 10


@pytest.mark.parametrize(
    ("alarm", "metric"), [("WebhooksErrorsAlarm", "Errors"), ("WebhooksThrottlesAlarm", "Throttles")]
)
def test_the_functions_of_webhooks_are_watched(resources: dict[str, Any], alarm: str, metric: str) -> None:
    metrics = [one["MetricStat"]["Metric"] for one in resources[alarm]["Properties"]["Metrics"] if "MetricStat" in one]

    assert {one["MetricName"] for one in metrics} == {metric}
    assert set(referred(metrics)) == OF_WEBHOOKS


def test_what_adds_to_the_series_is_watched(resources: dict[str, Any]) -> None:
    late = resources["SeriesLateAlarm"]["Properties"]

    assert (late["MetricName"], set(referred(late["Dimensions"]))) == ("IteratorAge", {"SeriesFunction"})


def test_what_exports_is_watched(resources: dict[str, Any]) -> None:
    """Lambda calls it three times before it gives up until the next day."""
    errors = resources["ExportsErrorsAlarm"]["Properties"]

    assert (errors["MetricName"], set(referred(errors["Dimensions"]))) == ("Errors", {"ExportsFunction"})
    assert errors["Threshold"] == 3


def test_a_day_without_an_export_is_noticed(resources: dict[str, Any]) -> None:
    """Whether its schedule is switched off, or each call of it fails."""
    missing = resources["ExportsMissingAlarm"]["Properties"]
    succeeded, *counted = missing["Metrics"]

    metrics = [entry["MetricStat"] for entry in counted]
    assert {(metric["Metric"]["MetricName"], *referred(metric["Metric"])) for metric in metrics} == {
        ("Invocations", "ExportsFunction"),
        ("Errors", "ExportsFunction"),
    }
    assert succeeded["Expression"] == "FILL(calls, 0) - FILL(errors, 0)"
    assert missing["TreatMissingData"] == {"Fn::If": ["Exports", "breaching", "notBreaching"]}
    hours = {metric["Period"] for metric in metrics} | {missing["EvaluationPeriods"], missing["DatapointsToAlarm"]}
    # Longer than a day, and within CloudWatch's seven days.
    assert hours == {3_600, 30}


def test_a_sweep_that_is_not_started_is_noticed(resources: dict[str, Any]) -> None:
    """Each function that a schedule starts every minute counts by itself."""
    missing = resources["SweepsMissingAlarm"]["Properties"]
    fewer, *counted = missing["Metrics"]
    each_minute = {
        target
        for rule in of_type(resources, "AWS::Events::Rule").values()
        if rule["Properties"].get("ScheduleExpression") == "rate(1 minute)"
        for target in referred(rule["Properties"]["Targets"])
    }

    watched = {name for entry in counted for name in referred(entry["MetricStat"]["Metric"])}
    assert {f"{name}Aliaslive" for name in watched} == each_minute
    assert {entry["MetricStat"]["Metric"]["MetricName"] for entry in counted} == {"Invocations"}
    assert fewer["Expression"] == "MIN([" + ", ".join(f"FILL({entry['Id']}, 0)" for entry in counted) + "])"
    assert missing["TreatMissingData"] == "breaching"


def test_what_carries_out_rollouts_is_watched(resources: dict[str, Any]) -> None:
    errors = resources["RolloutStepsErrorsAlarm"]["Properties"]
    assert (errors["MetricName"], set(referred(errors["Dimensions"]))) == ("Errors", {"RolloutStepsFunction"})

    metrics = [one for one in resources["RolloutExecutionsAlarm"]["Properties"]["Metrics"] if "MetricStat" in one]
    watched = {(one["MetricStat"]["Metric"]["MetricName"], *referred(one["MetricStat"]["Metric"])) for one in metrics}
    ended = ("ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted", "ExecutionThrottled")
    assert watched == {
        *((name, "RolloutStateMachine") for name in ended),
        ("Throttles", "RolloutStepsFunction"),
    }


def test_a_step_that_is_tried_again_undoes_no_deployment(resources: dict[str, Any]) -> None:
    """Lambda counts it as an error, so what the code counts as expected in the same minute is taken off."""
    ours, errors, expected = resources["RunStepsErrorsAlarm"]["Properties"]["Metrics"]

    assert ours["Expression"] == f"FILL({errors['Id']}, 0) - FILL({expected['Id']}, 0)"
    assert errors["MetricStat"]["Metric"] == {
        "Namespace": "AWS/Lambda",
        "MetricName": "Errors",
        "Dimensions": [{"Name": "FunctionName", "Value": {"Ref": "RunStepsFunction"}}],
    }
    assert expected["MetricStat"]["Metric"] == {
        "Namespace": {"Ref": "AWS::StackName"},
        "MetricName": "ExpectedStepErrors",
    }
    assert {(one["MetricStat"]["Stat"], one["MetricStat"]["Period"]) for one in (errors, expected)} == {("Sum", 60)}


def test_every_table_is_watched(resources: dict[str, Any]) -> None:
    tables = set(of_type(resources, "AWS::DynamoDB::Table"))

    alarms = [resources[name]["Properties"]["Metrics"] for name in ("TableThrottlesAlarm", "EventsTableThrottlesAlarm")]

    assert {name for metrics in alarms for name in referred(metrics)} == tables
    # CloudWatch takes no more in an alarm.
    assert max(sum("MetricStat" in one for one in metrics) for metrics in alarms) <= 10


def test_metrics_that_alarms_wait_for_are_those_that_the_code_counts(resources: dict[str, Any]) -> None:
    ours = {"Ref": "AWS::StackName"}
    alarms = [one["Properties"] for one in of_type(resources, "AWS::CloudWatch::Alarm").values()]
    within = [
        one["MetricStat"]["Metric"] for alarm in alarms for one in alarm.get("Metrics", []) if "MetricStat" in one
    ]
    watched = {one["MetricName"] for one in [*alarms, *within] if one.get("Namespace") == ours}
    counted = {*get_args(metrics.OfFunction), *get_args(metrics.OfDeployment)}

    assert watched == counted - {"Requests", "RunsSuccess", "RunsFail"}


def test_the_dashboard_is_json_and_shows_every_alarm(resources: dict[str, Any]) -> None:
    body = resources["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    names = re.findall(r"\$\{([A-Za-z0-9:.]+)\}", body)
    shown = json.loads(re.sub(r"\$\{([A-Za-z0-9:.]+)\}", r"\1", body))

    assert {name.partition(".")[0] for name in names if "::" not in name} <= set(resources)
    (alarms,) = (widget["properties"]["alarms"] for widget in shown["widgets"] if widget["type"] == "alarm")
    assert {one.removesuffix(".Arn") for one in alarms} == set(of_type(resources, "AWS::CloudWatch::Alarm"))


def test_the_handbook_says_what_to_do_at_each_alarm(resources: dict[str, Any]) -> None:
    sections = re.findall(r"^### (\w+Alarm)$\n+(\S.+)$", (ROOT / "docs" / "incidents.md").read_text(), re.MULTILINE)

    assert sorted(name for name, _ in sections) == sorted(of_type(resources, "AWS::CloudWatch::Alarm"))
