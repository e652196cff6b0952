"""The form of one rule: what was typed, the rule that it makes, and what is wrong with it beside each field."""

from dataclasses import dataclass, field
from typing import Final, Self, get_args

from pydantic import ValidationError

from headgate.foundation import errors
from headgate.foundation.collector import Signal
from headgate.rules.model import DEFAULT_CONTEXTS, Context, Rule
from testing.wire import RuleIn
from web.html import Html, html
from web.parts import area, choice, text

_FIELDS: Final = ("name", "condition", "context", "expect", "min", "max")
_EXPECTATIONS: Final = (
    ("any", "At least one meets it"),
    ("all", "Every one meets it"),
    ("none", "None meets it"),
    ("count", "So many meet it:"),
)
_OWN_CONTEXTS: Final[dict[Signal, tuple[Context, ...]]] = {
    "logs": ("log", "scope", "resource"),
    "traces": ("span", "spanevent", "scope", "resource"),
    "metrics": ("datapoint", "metric", "scope", "resource"),
}
_TWO: Final = '<div class="two">{first}{second}</div>'


@dataclass(frozen=True, slots=True)
class RuleForm:
    """What was typed, by field."""

    typed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, form: dict[str, str]) -> Self:
        return cls({name: form.get(name, "") for name in _FIELDS})

    @classmethod
    def of_rule(cls, rule: Rule) -> Self:
        values = {name: getattr(rule, name) for name in _FIELDS}
        return cls({name: "" if value is None else str(value) for name, value in values.items()})

    def rule(self, signal_type: Signal) -> Rule:
        """Raises Invalid, naming the fields."""
        given: dict[str, str | int | None] = {name: value or None for name, value in self.typed.items()}
        given["name"], given["condition"] = self.typed["name"], self.typed["condition"].strip()
        for name in ("min", "max"):
            value = self.typed[name].strip()
            # What is no number is refused as text by the same model as in the API.
            given[name] = int(value) if value.isascii() and value.isdigit() and len(value) < 16 else value or None
        try:
            return RuleIn.model_validate(given).rule(signal_type)
        except ValidationError as error:
            found = [
                errors.FieldError(("body", *(entry["loc"] or ("min",))), entry["msg"].removeprefix("Value error, "))
                for entry in error.errors(include_url=False)
            ]
            raise errors.Invalid(found[0].message, found) from None

    def fields(self, signal_type: Signal, error: errors.HeadgateError | None) -> tuple[Html, str]:
        """The fields, each with what is wrong with it, and what is to be said above them all."""
        problems = self._problems(error)
        typed = self.typed
        own = _OWN_CONTEXTS[signal_type]
        others = [one for one in get_args(Context) if one not in own]
        contexts = [(one, one) for one in own] + [(one, f"{one}, made by a connector") for one in others]
        fields = html(
            "{name}{condition}{how}{count}",
            name=text("name", "Name", typed.get("name", ""), most=200, error=problems.pop("name", "")),
            condition=area(
                "condition",
                "Condition",
                typed.get("condition", ""),
                most=4_096,
                rows=3,
                hint='An OTTL condition, as in attributes["http.status_code"] == 200',
                error=problems.pop("condition", ""),
            ),
            how=html(
                _TWO,
                first=choice(
                    "context",
                    "Judged for each",
                    contexts,
                    typed.get("context") or DEFAULT_CONTEXTS[signal_type],
                    error=problems.pop("context", ""),
                ),
                second=choice(
                    "expect", "Expected", _EXPECTATIONS, typed.get("expect", "any"), error=problems.pop("expect", "")
                ),
            ),
            count=html(
                _TWO,
                first=text(
                    "min",
                    "At least",
                    typed.get("min", ""),
                    most=15,
                    required=False,
                    hint="Only where so many have to meet it",
                    error=problems.pop("min", ""),
                ),
                second=text(
                    "max", "At most", typed.get("max", ""), most=15, required=False, error=problems.pop("max", "")
                ),
            ),
        )
        if error is None:
            return fields, ""
        return fields, next(iter(problems.values()), "The rule was not saved; see below")

    def _problems(self, error: errors.HeadgateError | None) -> dict[str, str]:
        """What is wrong, by field; under no field's name what is wrong as a whole."""
        if not isinstance(error, errors.Invalid):
            return {"": error.detail} if error else {}
        prefix = f"rule '{self.typed.get('name', '').strip()}': "
        problems = {str(one.loc[-1]): one.message.removeprefix(prefix) for one in error.errors}
        if error.code == "rule_names_repeat":
            problems["name"] = problems.pop("rules")
        return problems or {"": error.detail}
