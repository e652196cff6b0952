"""The types of the API's answers: generated files are current, and a field is checked when it is read."""

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest

from headgate_cli.errors import Failed
from headgate_cli.shaped import shaped
from headgate_cli.shapes import FleetOut, RolloutOut, ValidationResult, VersionDetail
from scripts import shapes
from scripts.openapi import DOCUMENT
from scripts.openapi_fields import Json

FLEET = {"id": "flt_1", "label": "edge", "instances": {"total": 2, "applied": 2}, "token_expires_at": None}


def described() -> Mapping[str, Json]:
    document: Mapping[str, Json] = json.loads(DOCUMENT.read_text())
    return document


def test_the_types_are_those_of_the_description() -> None:
    assert shapes.PYTHON.read_text() == shapes.python(described()), "run `make openapi`"
    assert shapes.TYPESCRIPT.read_text() == shapes.typescript(described()), "run `make openapi`"


def test_an_answer_is_read_by_its_fields_and_written_as_it_was_sent() -> None:
    fleet = shaped(FleetOut, {**FLEET, "of_a_newer_server": [1]})

    assert (fleet["id"], fleet["token_expires_at"], fleet["instances"]["applied"]) == ("flt_1", None, 2)
    assert json.loads(json.dumps(fleet)) == {**FLEET, "of_a_newer_server": [1]}


@pytest.mark.parametrize("value", [None, 7, True, ["edge"], {"a": 1}])
def test_a_text_that_is_something_else_is_refused_with_its_name(value: object) -> None:
    fleet = shaped(FleetOut, FLEET | {"label": value})

    with pytest.raises(Failed, match="field label of the server's answer is of another type: server and command line"):
        str(fleet["label"])


@pytest.mark.parametrize("value", [True, "7", 1.5, None])
def test_a_bool_or_a_text_is_not_a_number(value: object) -> None:
    fleet = shaped(FleetOut, FLEET | {"instances": {"total": value}})

    with pytest.raises(Failed, match="field total"):
        print(fleet["instances"]["total"])


def test_a_field_that_an_older_server_lacks_is_refused_unless_it_may_be_empty() -> None:
    fleet, version = shaped(FleetOut, {}), shaped(ValidationResult, {})

    with pytest.raises(Failed, match="lacks the field label"):
        str(fleet["label"])
    assert fleet["token_expires_at"] is None
    assert version["errors"] == []


def test_a_word_that_is_not_known_yet_is_read_and_a_number_in_its_place_is_refused() -> None:
    assert shaped(FleetOut, {"type": "a_newer_kind"})["type"] == "a_newer_kind"
    with pytest.raises(Failed, match="field type"):
        print(shaped(FleetOut, {"type": 3})["type"])


def test_a_list_of_texts_where_objects_belong_is_refused() -> None:
    with pytest.raises(Failed, match="field errors"):
        list(shaped(ValidationResult, {"errors": ["a"]})["errors"])


def test_a_field_of_the_name_of_a_keyword_and_what_it_holds_are_checked() -> None:
    rollout = shaped(RolloutOut, {"from": {"version_number": "3"}})

    with pytest.raises(Failed, match="field version_number"):
        print(rollout["from"]["version_number"])


def test_a_field_that_may_be_absent_is_got_with_its_type() -> None:
    assert shaped(VersionDetail, {}).get("feature_gates") is None
    assert shaped(VersionDetail, {"feature_gates": ["a"]}).get("feature_gates") == ["a"]
    with pytest.raises(Failed, match="field feature_gates"):
        shaped(VersionDetail, {"feature_gates": "a"}).get("feature_gates")


def test_the_command_line_starts_without_the_types() -> None:
    lines = "import sys, headgate_cli.main; print('headgate_cli.shapes' in sys.modules, 'typing' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", lines], text=True).split()[0] == "False"
