"""The fields that label hosts and move them to another group, and the body that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate.foundation import errors
from web.html import Html
from web.parts import Fields

_BACK: Final = "back"
_LABEL: Final = "Give a label as key=value, or key= to remove it"
LONGEST: Final = 319


def label_field(fields: Fields) -> Html:
    """The field of a label to set."""
    hint = "key=value; key= removes it"
    placed = "labels" if "labels" in fields.problems else "set_label"
    return fields.text("set_label", "Label", most=LONGEST, required=False, hint=hint, placed=placed)


def group_field(fields: Fields, groups: Mapping[str, str]) -> Html:
    """The field of the group to move to, by the names of the fleet's groups."""
    places = [("", "Choose a group"), *groups.items(), (_BACK, "Back to where it belongs by install and labels")]
    return fields.choice("group", "Group", places, placed="deployment_id")


def change_of(form: Mapping[str, str]) -> Mapping[str, object]:
    """Return the body of the change that the fields ask for. Raises Invalid, naming the field."""
    label, group = form.get("set_label", "").strip(), form.get("group", "")
    body: dict[str, object] = {}
    if label:
        key, sign, value = label.partition("=")
        if not sign:
            raise errors.Invalid(_LABEL, at=("form", "set_label"))
        body["labels"] = {key.strip(): value.strip() or None}
    if group:
        body["deployment_id"] = None if group == _BACK else group
    return body
