"""The form of a rule: its fields with their errors, and the rule that it describes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self, get_args

from pydantic import ValidationError

from headgate.foundation import errors
from headgate_engine.collector import Signal
from headgate_engine.rules.model import DEFAULT_CONTEXTS, Context, Rule
from headgate_engine.wire.tests import RuleIn
from web.html import Html, html
from web.parts import Fields

_FIELDS: Final = ("name", "condition", "context", "expect", "min", "max")
_EXPECTATIONS: Final = (
    ("any", "At least one matches"),
    ("all", "Every one matches"),
    ("none", "None matches"),
    ("count", "This many match:"),
)
_OWN_CONTEXTS: Final[dict[Signal, tuple[Context, ...]]] = {
    "logs": ("log", "scope", "resource"),
    "traces": ("span", "spanevent", "scope", "resource"),
    "metrics": ("datapoint", "metric", "scope", "resource"),
    "profiles": ("profile", "profilesample", "scope", "resource"),
}
_TWO: Final = '<div class="two">{first}{second}</div>'


@dataclass(frozen=True, slots=True)
class RuleForm:
    """The typed texts, by field."""

    typed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Self:
        return cls({name: form.get(name, "") for name in _FIELDS})

    @classmethod
    def of_rule(cls, rule: Rule) -> Self:
        values = {name: getattr(rule, name) for name in _FIELDS}
        return cls({name: "" if value is None else str(value) for name, value in values.items()})

    def rule(self, signal_type: Signal) -> Rule:
        """Raises Invalid, naming the fields."""
        entered: dict[str, str | int | None] = {name: value or None for name, value in self.typed.items()}
        entered["name"], entered["condition"] = self.typed["name"], self.typed["condition"].strip()
        for name in ("min", "max"):
            value = self.typed[name].strip()
            # Anything but a number stays text, which the API's model refuses.
            entered[name] = int(value) if value.isascii() and value.isdigit() and len(value) < 16 else value or None
        try:
            return RuleIn.model_validate(entered).rule(signal_type)
        except ValidationError as error:
            fields = [
                errors.FieldError(("body", *(entry["loc"] or ("min",))), entry["msg"].removeprefix("Value error, "))
                for entry in error.errors(include_url=False)
            ]
            raise errors.Invalid(fields[0].message, fields) from None

    def fields(self, signal_type: Signal, error: errors.HeadgateError | None) -> tuple[Html, str]:
        """The fields, each with its error, and the message to show above the form."""
        problems = self._problems(error)
        fields, own = Fields(self.typed, problems), _OWN_CONTEXTS[signal_type]
        # A connector may turn the pipeline's signal into another one.
        unlikely = ("component_error", *_OWN_CONTEXTS["profiles"])
        others = [context for context in get_args(Context) if context not in (*own, *unlikely)]
        contexts: list[tuple[str, str]] = [(context, context) for context in own]
        contexts += [("component_error", "error of a component (its message is the body)")]
        contexts += [(context, f"{context} (from a connector)") for context in others]
        example, only = (
            'An OTTL condition, for example attributes["http.status_code"] == 200',
            "Only for 'This many match'",
        )
        context = Fields({"context": self.typed.get("context") or DEFAULT_CONTEXTS[signal_type]}, problems)
        shown = html(
            "{name}{condition}{how}{count}",
            name=fields.text("name", "Name", most=200),
            condition=fields.area("condition", "Condition", most=4_096, rows=3, hint=example),
            how=html(
                _TWO,
                first=context.choice("context", "Evaluated on every", contexts),
                second=fields.choice("expect", "Expected", _EXPECTATIONS, "any"),
            ),
            count=html(
                _TWO,
                first=fields.text("min", "At least", most=15, required=False, hint=only),
                second=fields.text("max", "At most", most=15, required=False),
            ),
        )
        if error is None:
            return shown, ""
        elsewhere = [reason for name, reason in problems.items() if name not in _FIELDS]
        return shown, next(iter(elsewhere), "The rule was not saved; see below")

    def _problems(self, error: errors.HeadgateError | None) -> dict[str, str]:
        """The error messages by field; one about the whole rule has the key ''."""
        if not isinstance(error, errors.Invalid):
            return {"": error.detail} if error else {}
        prefix = f"rule '{self.typed.get('name', '').strip()}': "
        problems = {str(field.loc[-1]): field.message.removeprefix(prefix) for field in error.errors}
        if error.code == "rule_names_repeat":
            problems["name"] = problems.pop("rules")
        return problems or {"": error.detail}
