"""Asks the collector's function before anybody else does: a custom resource of the stack, made anew for each version.

If the function does not start, or answers wrongly, CloudFormation rolls the deployment back with that reason.
"""

from collections.abc import Mapping
from typing import Final

from headgate.checker import Asker
from headgate.foundation import custom_resource, metrics
from headgate.foundation.errors import Unavailable
from headgate_engine.collectors import service as collectors
from headgate_engine.validation import service as validation

_GOOD: Final = """\
receivers: {otlp: {protocols: {http: {}}}}
processors: {transform: {log_statements: ['set(log.severity_text, "INFO")']}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [otlp], processors: [transform], exporters: [debug]}}}
"""
_BAD: Final = _GOOD.replace("set(", "sett(").replace("debug: {}", "debug: {verbosity: loud}")


class WrongAnswer(Unavailable):
    """The collector's function answers what cannot be right."""

    code = "wrong_answer"


def handler(event: Mapping[str, object], _context: object) -> None:
    """Ask about a good and a bad text, and which walls are around the collector."""

    def ask(_properties: Mapping[str, object]) -> Mapping[str, str]:
        if event["RequestType"] == "Delete":
            return {}
        return {"Walls": _walls()}

    custom_resource.answer(event, "checker-answers", ask)


def _walls() -> str:
    """Raises Unavailable, WrongAnswer."""
    asker = Asker("deployment", "deployment")
    for text, good in ((_GOOD, True), (_BAD, False)):
        answers = validation.validate(text, asker=asker).valid, validation.lint_yaml(text, asker=asker).valid
        if answers != (good, good):
            said = dict(zip(("verdict", "lint"), answers, strict=True))
            raise WrongAnswer(f"The collector's function takes a {'good' if good else 'bad'} text for another: {said}")
    (default,) = (version for version in collectors.installed(asker=asker) if version.default)
    metrics.walls(default.confined_by)
    return ", ".join(default.confined_by)
