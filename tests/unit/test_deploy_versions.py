"""Which parameters a function depends on, however a template says it. SAM's part is in the contract tests."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import versions

CONDITIONS = {
    "InTest": {"Fn::Equals": [{"Ref": "Stage"}, "test"]},
    "Verbose": {"Fn::Or": [{"Condition": "InTest"}, {"Fn::Equals": [{"Ref": "Loud"}, "yes"]}]},
}
PARAMETERS = {name: {"Type": "String", "Default": ""} for name in ("Stage", "Loud", "Limit", "Other")}


def stamps(folder: Path, properties: dict[str, Any], shared: dict[str, Any], **values: str) -> str:
    """The function's digest."""
    path = folder / "template.yaml"
    document = {
        "Parameters": PARAMETERS,
        "Conditions": CONDITIONS,
        "Globals": {"Function": shared},
        "Resources": {
            "Function": {"Type": "AWS::Serverless::Function", "Properties": properties},
            "Topic": {"Type": "AWS::SNS::Topic"},
        },
    }
    path.write_text(yaml.safe_dump(document))
    versions.stamp(path, values)
    stamped = yaml.safe_load(path.read_text())
    found: str = stamped["Resources"]["Function"]["Properties"]["Environment"]["Variables"].pop(versions.VARIABLE)
    # Nothing else is touched.
    properties.setdefault("Environment", {}).setdefault("Variables", {})
    assert stamped == document
    return found


@pytest.mark.parametrize(
    ("node", "parameters"),
    [
        pytest.param({"Ref": "Limit"}, {"Limit"}, id="a reference"),
        pytest.param({"Ref": "Topic"}, set(), id="a reference to a resource"),
        pytest.param({"Fn::Sub": "at most ${Limit} of ${AWS::Region}"}, {"Limit"}, id="a substitution"),
        pytest.param({"Fn::Sub": ["${n}", {"n": {"Ref": "Limit"}}]}, {"Limit"}, id="a substitution's own value"),
        pytest.param({"Fn::If": ["InTest", "1", "2"]}, {"Stage"}, id="a condition"),
        pytest.param({"Fn::If": ["Verbose", "1", "2"]}, {"Stage", "Loud"}, id="a condition of conditions"),
        pytest.param({"Fn::If": ["InTest", {"Ref": "Limit"}, "2"]}, {"Stage", "Limit"}, id="a branch"),
        pytest.param({"Fn::Join": ["", ["x", {"Ref": "Limit"}]]}, {"Limit"}, id="a function in a list"),
        pytest.param("plain", set(), id="nothing"),
    ],
)
@pytest.mark.parametrize("place", ["own", "shared", "beside"])
def test_a_digest_changes_with_what_the_function_depends_on(
    node: object, parameters: set[str], place: str, tmp_path: Path
) -> None:
    own = {"own": {"Description": node}, "shared": {}, "beside": {"DeploymentPreference": {"Type": node}}}[place]
    shared = {"MemorySize": node} if place == "shared" else {}

    before = stamps(tmp_path, own, shared)
    changed = {name for name in PARAMETERS if stamps(tmp_path, own, shared, **{name: "test"}) != before}

    # How requests move to a version is not in the version.
    assert changed == (set() if place == "beside" else parameters)
    assert stamps(tmp_path, own, shared, **dict.fromkeys(PARAMETERS, "")) == before
