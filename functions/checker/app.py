"""The only function that has the collectors. It reads untrusted texts, so it has nothing to steal.

Its role may write its log and nothing else, its environment names no table, bucket or key, and AWS gives each
organization an execution environment of its own. It answers `{"result": …}` or `{"error": {"kind", "code", "message",
"installed"}}`; see headgate.checker.function, which asks it.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import cache
from typing import Final, TypeAlias

from checker.large_questions import fetch
from headgate import checker
from headgate.checker import Asker
from headgate.checker.fetched import Source
from headgate.foundation import metrics
from headgate.foundation.errors import Unavailable
from headgate_engine.checker import messages
from headgate_engine.checker.errors import KINDS, CheckerFailed, NotInstalled, Refused
from headgate_engine.checker.limits import in_lambda
from headgate_engine.checker.messages import Message

_LONGEST_SECONDS: Final = 20.0

Answer: TypeAlias = dict[str, object]


def handler(event: Message, context: object) -> Answer:
    """Answer one question. Raises ValueError if it is malformed, and OSError if its text could not be fetched.

    Beside the question, the event may have `collector`: where a version is that the layer does not have.
    """
    collector = event.get("collector")
    if "url" in event:
        # No process that has read an untrusted text may see how the next one is fetched.
        checker.close()
        event = fetch(str(event["url"]))
    question = messages.unpacked(event)
    asker = Asker(str(question["organization_id"]), str(question["credential_id"]))
    tenant = getattr(context, "tenant_id", None)
    if tenant not in (None, "", asker.organization_id):
        raise ValueError("the question is of another organization than the execution environment")
    answer = messages.packed(_answer(question, collector, asker))
    if in_lambda():
        _count_walls(checker.of_this_process().held_by())
    if messages.size(answer) > messages.LARGEST_INVOCATION:
        return _error("failed", "", "The collector's answer is too large")
    return answer


@cache
def _count_walls(held_by: str) -> None:
    """Record the walls around the collector, once in each execution environment, as soon as a process serves."""
    if held_by:
        metrics.walls(held_by.split(", "))


def _answer(question: Message, collector: object, asker: Asker) -> Answer:
    try:
        with _having(collector, question):
            return {"result": _result(question, asker)}
    except Refused as refused:
        return _error("refused", refused.code, refused.message)
    except Unavailable as error:
        kind = next((name for name, kind in KINDS.items() if isinstance(error, kind)), "failed")
        if isinstance(error, CheckerFailed) and error.crash:
            return _error(kind, error.code, error.detail, crash=error.crash)
        if isinstance(error, NotInstalled):
            return _error(kind, error.version, error.detail, *error.installed)
        return _error(kind, error.code, error.detail)


def _having(collector: object, question: Message) -> AbstractContextManager[None]:
    """The collector that comes with a question. Raises ValueError if it is malformed or of another version."""
    if collector is None:
        return nullcontext()
    source = Source.of(collector)
    if source.version != question.get("version"):
        raise ValueError("the collector is of another version than the question")
    return checker.using(source)


def _result(question: Message, asker: Asker) -> Mapping[str, object]:
    collectors = checker.of_this_process()
    request = question["request"]
    if not isinstance(request, dict):
        raise ValueError("a question has a request")
    version = None if question.get("version") is None else str(question["version"])
    seconds = question.get("timeout")
    timeout = min(float(seconds), _LONGEST_SECONDS) if isinstance(seconds, int | float) else None
    match question["op"]:
        case "installed":
            return {"versions": list(collectors.installed(asker=asker))}
        case "described":
            return {"collectors": [asdict(each) for each in collectors.described(asker=asker)]}
        case "describe":
            return collectors.describe(str(version), asker=asker)
        case "validate_plainly":
            yaml, env = str(request["yaml"]), request["env"]
            verdict = collectors.validate_plainly(yaml, env, asker=asker, version=version, timeout=timeout)
            return {"valid": verdict.valid, "message": verdict.message}
        case op:
            return collectors.call(str(op), request, asker=asker, version=version, timeout=timeout)


def _error(kind: str, code: str, message: str, *installed: str, crash: str = "") -> Answer:
    error = {"kind": kind, "code": code, "message": message, "installed": list(installed)}
    return {"error": error | ({"crash": crash} if crash else {})}


if in_lambda():
    # During the function's initialization, so that its first question finds a warm collector.
    checker.warm()
