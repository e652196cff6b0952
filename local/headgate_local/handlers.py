"""Calls the template's functions as Lambda does."""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias

from headgate_local import callers
from headgate_local.template import Function, Node, Template

Handler: TypeAlias = Callable[[Node, object], Node]
"""A Lambda function's: it takes an event and a context."""


class FunctionError(Exception):
    """A function raised an exception. `type` and `message` are what Lambda answers its caller."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.type: Final = type(error).__name__
        self.message: Final = str(error)


def invoke(handler: Handler, event: Node) -> Node:
    """The function's answer, which must be JSON, as on AWS. Raises FunctionError for whatever the function raises."""
    try:
        answer: Node = json.loads(json.dumps(handler(event, None)))
    except Exception as error:
        # Lambda answers any exception as a function error, so a caller that goes on after one need not know which.
        raise FunctionError(error) from error
    return answer


def imported(function: Function) -> Handler:
    """The function's handler, imported when first called; its calls to AWS are recorded as the function's."""
    module, _, name = function.handler.rpartition(".")

    def handler(event: Node, context: object) -> Node:
        handle: Handler = getattr(import_module(module), name)
        with callers.acting(function.logical_id):
            return handle(event, context)

    return handler


def by_arn(template: Template, handler: Callable[[Function], Handler] = imported) -> dict[str, Handler]:
    """The functions of the template by the ARN that a state machine calls them by."""
    return {
        str(template.resolve({"Fn::GetAtt": [function.logical_id, "Arn"]})): handler(function)
        for function in template.functions()
    }
