"""The route class and the dependencies of pages: visitor, checked forms, membership, errors as pages."""

import hashlib
import inspect
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from headgate.foundation import errors, faults
from headgate.foundation.caller import Caller
from headgate.foundation.log import logger
from headgate.http import credentials, problems, statuses
from headgate.http.parameters import matches
from headgate.http.routing import Threaded
from headgate.http.threads import in_thread
from headgate.identity import sessions
from headgate.identity.model import NotAnActiveMember, OrganizationHeaderRequired, Session
from web import once
from web.forms import by_field
from web.html import NOTHING, Html, html
from web.layout import OWN_FIELDS, Frame, csrf_field, page, redirect
from web.parts import Fields, hidden, home
from web.table import View
from web.visitor import ForeignForm, Visitor, posted, remember, visitor

_TITLES: Final = {
    403: "Not allowed",
    404: "Not found",
    429: "Too many requests",
    502: "Not available",
    503: "Not available",
}
_PROBLEM: Final = '<h1>{title}</h1><p><a class="button" href="/">To the start page</a></p>'
# The script `live` asks for the page again until it is there.
_NOT_READY: Final = """\
<div class="card"><h1>Not ready yet</h1><p id="waiting" role="status">{detail}</p>
<p class="soft small last">This page shows itself once it can. Without scripts, load it again.</p></div>"""
_NOT_AVAILABLE: Final = """\
<h1>{title}</h1><div class="notice bad" role="alert" id="waiting">{detail}</div>
<p class="soft">This page asks again by itself, and shows itself once it can. Without scripts, load it again.</p>"""
_CARRIED_OUT: Final = """\
<h1>Done before</h1><p>This form was sent before, and is not carried out a second time.{unsure} A secret that it showed
was shown once, and cannot be shown again.</p><p><a class="button" href="{path}">See what it did</a></p>"""
_UNSURE: Final = Html(" Its answer is not known: a part may be missing, which the form's page, opened anew, can send.")
_SEND_AGAIN: Final = """\
<h1>Send the form again</h1><pre tabindex="0" aria-label="What it says">{shown}</pre>
<form method="post" action="{path}">{csrf}{fields}<button>Send it again</button></form>"""
_ORGANIZATION: Final = re.compile(r"/organizations/(org_[0-9a-z]+)(?:/|$)")
_ADDRESSES: Final[dict[Callable[..., object], str]] = {}
_SITE: Final = re.compile(r"\Ahttps?://[^/?#]*")
_OURS: Final = re.compile(r"/(?![/\\])[A-Za-z0-9_/?=&%.~:-]*")


class SignInNeeded(errors.Unauthenticated):
    """The page needs a signed-in person; `after` is the address to go to after the sign-in, `lost` what was posted."""

    def __init__(self, after: str, *, lost: bool = False) -> None:
        super().__init__("Sign in first")
        self.after = after
        self.lost = lost


def own_path_or_root(path: str) -> str:
    """The path if it is one of this site, else `/`: a link must not lead to another site after a sign-in."""
    return path if _OURS.fullmatch(path) else "/"


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form that a page of this site posted; `refused` if the page was of an earlier session of the browser."""

    form: dict[str, str]
    refused: ForeignForm | None = None


class PageRoute(Threaded):
    """A route that shows errors as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[None, None, Response]]:
        handle = super().get_route_handler()
        _ADDRESSES.setdefault(inspect.unwrap(self.endpoint), self.path_format)

        async def enter(request: Request) -> Response:
            who: Visitor | None = None
            try:
                who = await in_thread(visitor, request)
                request.state.visitor = who
                return remember(await once.carry_out(request, who, handle), who)
            except once.CarriedOut as before:
                return await in_thread(_carried_out, request, before)
            except SignInNeeded as error:
                return redirect(f"/sign-in?next={quote(error.after, safe='/')}{'&notice=ended' if error.lost else ''}")
            except (NotAnActiveMember, OrganizationHeaderRequired, RequestValidationError):
                # Whether the organization exists is not told to strangers.
                shown = _problem_frame(request, who)
                return _problem(shown, 404, "This page does not exist, or you have no access to it")
            except errors.HeadgateError as error:
                request.state.blame = faults.blame(error)
                return with_retry_after(_refusal(request, _problem_frame(request, who), error), error)
            except (BotoCoreError, ClientError) as error:
                logger.error("aws_fault", kind=type(error).__name__)
                request.state.blame = faults.blame(error)
                unsure = "" if request.method == "GET" else "your change may not have been saved; "
                detail = f"A part of the service did not answer; {unsure}try again shortly"
                return with_retry_after(
                    _problem(_problem_frame(request, who), 503, detail, heals=request.method == "GET"), error
                )

        return enter


def with_retry_after(response: Response, error: Exception) -> Response:
    """The error's page with the header Retry-After, if the error has one."""
    response.headers.update(problems.retry_after(error))
    return response


def page_router() -> APIRouter:
    return APIRouter(route_class=PageRoute, include_in_schema=False)


async def _visitor(request: Request) -> Visitor:
    who = request.state.visitor
    assert isinstance(who, Visitor)
    return who


Visit = Annotated[Visitor, Depends(_visitor)]


async def _sent(request: Request, who: Visit) -> SentForm:
    try:
        return SentForm(await posted(request, who))
    except ForeignForm as refused:
        if refused.form is None:
            raise
        return SentForm(refused.form, refused)


FormAsSent = Annotated[SentForm, Depends(_sent)]


async def _form(sent: FormAsSent) -> dict[str, str]:
    if sent.refused:
        raise sent.refused
    return sent.form


Form = Annotated[dict[str, str], Depends(_form)]


async def _person(request: Request, who: Visit) -> Session:
    if who.session is None:
        reads = request.method == "GET"
        # The address that a form is posted to has no page: the person goes back to the page with the form.
        address = str(request.url) if reads else request.headers.get("referer", "")
        raise SignInNeeded(own_path_or_root(_SITE.sub("", address)), lost=not reads)
    return who.session


Person = Annotated[Session, Depends(_person)]


async def _member(request: Request, organization_id: str, session: Person) -> Caller:
    request.state.caller = caller = await in_thread(sessions.caller, session, organization_id)
    return caller


Member = Annotated[Caller, Depends(_member)]


@dataclass(frozen=True, slots=True)
class MemberPage:
    """A page of the organization, for a member; after a refused form, with what was typed and the reason.

    `ids` are those in the address of the form.
    """

    request: Request
    who: Visitor
    caller: Caller
    ids: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    refused: errors.HeadgateError | None = None

    @property
    def home(self) -> str:
        """The path of the organization."""
        return home(self.caller)

    @property
    def csrf(self) -> Html:
        return csrf_field(frame(self.who))

    def fields(self, **conflicts: type[errors.HeadgateError]) -> Fields:
        """The fields of the form; `conflicts` are the errors about one field as a whole: `label=LabelTaken`."""
        of_field = next((name for name, kind in conflicts.items() if isinstance(self.refused, kind)), None)
        reason = self.refused.detail if self.refused else ""
        return Fields(self.form, {of_field: reason} if of_field else by_field(self.refused))

    def page(
        self,
        tab: str,
        title: str,
        content: Html,
        *,
        problem: str | None = None,
        script: str = "",
        wide: bool = False,
        status: int = 200,
        outcome: str = "",
    ) -> Response:
        """The page; after a refusal, with its status, and its reason at the top unless there is another `problem`.

        If it shows the outcome of a change itself, `outcome` is the path that shows what remains of it.
        """
        if self.refused is not None:
            status, problem = statuses.status_of(self.refused), self.refused.detail if problem is None else problem
        around = frame(self.who, self.caller, tab)
        answer = page(around, title, content, problem=problem or "", status=status, script=script, wide=wide)
        if outcome:
            answer.headers[once.SHOWN_AT] = outcome
        return answer

    def again(self, page: Callable[..., Response], refused: errors.HeadgateError) -> Response:
        """The page that has the form, with the refusal; a list on it begins anew."""
        names = inspect.signature(page).parameters
        values = {name: value for name, value in self.ids.items() if name in names}
        if "view" in names:
            address = _ADDRESSES[page].format(organization_id=self.caller.organization_id, **values)
            values["view"] = View(address)
        return with_retry_after(page(replace(self, refused=refused), **values), refused)


async def _here(request: Request, who: Visit, caller: Member) -> MemberPage:
    return MemberPage(request, who, caller)


Here = Annotated[MemberPage, Depends(_here)]


async def _counted(request: Request, who: Visit) -> None:
    if who.session is None:
        await in_thread(credentials.admit_anonymous, request)


Counted = Depends(_counted)
"""For a page that strangers see: without a session, the address has the limit of a credential. Raises RateLimited."""


def revalidated(answer: Response, if_none_match: str | None) -> Response:
    """The page with its tag, or 304 if the browser has it. It is one visitor's: its forms are tied to the browser."""
    etag = f'"{hashlib.sha256(bytes(answer.body)).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    answer.headers.update(headers)
    return answer


def install(app: FastAPI) -> None:
    """Make `app` answer unknown paths and methods with a page for people, with a problem for programs."""
    app.add_exception_handler(HTTPException, _not_found)


async def _not_found(request: Request, error: Exception) -> Response:
    return await in_thread(_unknown_address, request, error)


def _unknown_address(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    from_program = request.url.path.startswith(("/api/", "/v1/"))
    if error.status_code == 404 and not from_program:
        return _problem(_lost_frame(request), 404, "There is no page at this address")
    if error.status_code == 405 and request.method in ("GET", "HEAD") and not from_program:
        # A refused form leaves the browser at the address that it was posted to; a reload comes here.
        answer = _problem(
            _lost_frame(request), 405, "This address only accepts a form: go back to the form and send it again"
        )
        answer.headers["Allow"] = problems.methods_at(request)
        return answer
    return problems.framework_error(request, error)


def frame(who: Visitor, caller: Caller | None = None, tab: str = "") -> Frame:
    return Frame(who.csrf, who.session.user.id if who.session else "", who.email, caller, tab, who.look)


def _carried_out(request: Request, before: once.CarriedOut) -> Response:
    path = before.path or own_path_or_root(_SITE.sub("", request.headers.get("referer", "/")))
    content = html(_CARRIED_OUT, path=path, unsure=NOTHING if before.path else _UNSURE)
    return page(_lost_frame(request), "Done before", content)


def _problem_frame(request: Request, who: Visitor | None) -> Frame:
    """The frame of an error's page: with the organization, if the request came as far as that."""
    if who is None:
        return Frame("")
    caller = getattr(request.state, "caller", None)
    return frame(who, caller if isinstance(caller, Caller) else None)


def _lost_frame(request: Request) -> Frame:
    """The frame of a page for an address that has none, for somebody who is signed in and has a browser."""
    try:
        who = visitor(request)
        match = _ORGANIZATION.match(request.url.path)
        caller = sessions.caller(who.session, match[1]) if who.session and match else None
    except (errors.HeadgateError, BotoCoreError, ClientError):
        return Frame("")
    return frame(who, caller)


def _refusal(request: Request, shown: Frame, error: errors.HeadgateError) -> Response:
    status = statuses.status_of(error)
    if isinstance(error, ForeignForm) and error.form:
        return _send_again(request, shown, error, error.form)
    waiting = errors.not_ready(error)
    if not shown.csrf or waiting is None or not waiting.may_pass:
        return _problem(shown, status, error.detail, heals=status in (502, 503) and request.method == "GET")
    return page(shown, "Not ready yet", html(_NOT_READY, detail=error.detail), status=status, script="live")


def _send_again(request: Request, shown: Frame, refused: ForeignForm, form: Mapping[str, str]) -> Response:
    """The fields of a form of an earlier session, to be sent in this one."""
    typed = {name: value for name, value in form.items() if name not in OWN_FIELDS}
    content = html(
        _SEND_AGAIN,
        shown="\n".join(f"{name}: {value}" for name, value in typed.items()),
        path=request.url.path,
        csrf=csrf_field(shown),
        fields=[hidden(name, value) for name, value in typed.items()],
    )
    return page(shown, "Send the form again", content, problem=refused.detail, status=403)


def _problem(shown: Frame, status: int, detail: str, *, heals: bool = False) -> Response:
    title = _TITLES.get(status, "Request refused")
    if heals:
        # A part did not answer: the page asks again, and shows itself once it can.
        waiting = html(_NOT_AVAILABLE, title=title, detail=detail)
        return page(shown, title, waiting, status=status, script="live")
    return page(shown, title, html(_PROBLEM, title=title), problem=detail, status=status)
