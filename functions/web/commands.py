"""Forms that carry out an operation of the API: with its permission, its input, its call and its audit record.

The routes of the API are the one table of what can be changed. A form adds how its fields become the operation's body,
which page shows a refusal, and which page comes after the change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from string import Formatter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from fastapi import APIRouter, Request, Response

from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http import auditing
from headgate.http.credentials import SessionAdmin, Writer
from headgate.http.routing import route_of
from headgate.identity.model import WriteAccessRequired
from headgate_engine.wire.inputs import Input
from web.forms import model_of
from web.layout import redirect
from web.pages import FormAsSent, Here, MemberPage
from web.visitor import ForeignForm

Operation: TypeAlias = Callable[..., object]
"""The endpoint of a route of the API."""


Body: TypeAlias = Callable[[MemberPage], Mapping[str, object] | None]
"""Returns the operation's body, or None if the form changes nothing. Raises Invalid, naming the fields."""
Page: TypeAlias = Callable[..., Response]
"""The route that shows the page with the form."""
Act = TypeVar("Act", bound=Callable[..., Response])
_REFUSALS: Final = (errors.Invalid, errors.Conflict)
_POSTED, *_TAKEN = (
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    for name, kind in (("posted", MemberPage), ("here", Here), ("sent", FormAsSent))
)


def command(
    router: APIRouter,
    path: str,
    operation: Operation,
    then: str,
    *,
    body: Body | None = None,
    arguments: Mapping[str, str] = MappingProxyType({}),
    refused: Page | None = None,
    refusals: tuple[type[errors.HeadgateError], ...] = _REFUSALS,
) -> None:
    """Route the form that is posted to `path` to the operation.

    `then` is the address of the next page, behind that of the organization unless it names one itself, with the ids of
    the path in braces, and `result` for the operation's answer. `arguments` are the operation's parameters that are
    fields of the form, with the fields' names. `refused` is the page that shows what `refusals` lists; anything else is
    shown as a page of its own.
    """
    parameters = inspect.signature(operation, eval_str=True).parameters
    places = {name for _, name, _, _ in Formatter().parse(path) if name}

    def act(posted: MemberPage, **ids: Any) -> Response:
        values = ids | {name: posted.form.get(field, "") for name, field in arguments.items()}
        result = carry_out(posted.request, operation, posted.caller, values, lambda: body(posted) if body else {})
        after = then.format(**ids, result=result)
        return redirect(after if after.startswith("/organizations/") else f"{posted.home}{after}")

    ids = [parameter for name, parameter in parameters.items() if name in places]
    vars(act)["__signature__"] = inspect.Signature([_POSTED, *_by_name(ids)])
    form(router, path, refused=refused, refusals=refusals)(act)


def form(
    router: APIRouter,
    path: str,
    *,
    refused: Page | None = None,
    refusals: tuple[type[errors.HeadgateError], ...] = _REFUSALS,
) -> Callable[[Act], Act]:
    """Route the form that is posted to `path` to the function, which takes the page as `posted` and ids of the path.

    `refused` is the page that shows what `refusals` lists, as of `command`.
    """

    def route(act: Act) -> Act:
        def post(here: Here, sent: FormAsSent, **ids: Any) -> Response:
            posted = replace(here, form=sent.form, ids=ids)
            try:
                if sent.refused:
                    raise sent.refused
                return act(posted, **ids)
            except errors.HeadgateError as error:
                of_a_field = isinstance(error, errors.NotFound) and error.field
                if refused is None or not (of_a_field or isinstance(error, (*refusals, ForeignForm))):
                    raise
                return posted.again(refused, error)

        _, *ids = inspect.signature(act, eval_str=True).parameters.values()
        vars(post)["__signature__"] = inspect.Signature([*_TAKEN, *_by_name(ids)])
        router.post(path, name=f"form {path}")(post)
        return act

    return route


def _by_name(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]


def carry_out(
    request: Request,
    operation: Operation,
    caller: Caller,
    arguments: Mapping[str, Any],
    body: Callable[[], Mapping[str, object] | None],
) -> object:
    """Call the operation as its route does: its permission, its input, and its audit record; None if `body` is.

    `arguments` are the ids of its path and its other parameters.
    """
    parameters = inspect.signature(operation, eval_str=True).parameters
    permission, response = parameters["caller"].annotation, Response()
    if permission == SessionAdmin:
        caller.require_admin()
    if permission == Writer and not caller.can_write:
        raise WriteAccessRequired
    values: dict[str, Any] = {**arguments, "caller": caller, "request": request, "response": response}
    if "body" in parameters:
        entered = body()
        if entered is None:
            return None
        model: type[Input] = parameters["body"].annotation
        values["body"] = model_of(model, entered)
    result = operation(**{name: values.get(name, parameter.default) for name, parameter in parameters.items()})
    if permission == Writer:
        route = route_of(operation)
        path = response.headers.get("location") or route.path_format.format(**arguments)
        auditing.record_change(request, route, caller, path)
    return result
