"""The requests of an editor, each answered by its module."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from headgate_cli.lsp import actions, completion, convert, hover, navigation
from headgate_cli.lsp.document import OpenDocument
from headgate_cli.lsp.server import EditorServer, log_failure
from headgate_cli.lsp.sources import Backend

# How long an answer waits for a reference that is being fetched.
_PATIENCE: Final = 10.0
_REQUEST_FAILED: Final = -32803
_TRIGGERS: Final = (":", " ", "$", "{", "/", ".", "[", "(", ",", '"', "-")


class _OfText(Protocol):
    """Parameters of a request about a text."""

    text_document: types.TextDocumentIdentifier


Params = TypeVar("Params", bound=_OfText)
Result = TypeVar("Result")
Handler = Callable[[EditorServer, OpenDocument, Params], Awaitable[Result | None]]
Feature = Callable[[EditorServer, Params], Awaitable[Result | None]]


def server(backend: Backend) -> EditorServer:
    """A server with all features, to be started with `start_io`."""
    language_server = EditorServer(backend)
    language_server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list(_TRIGGERS))
    )(_complete)
    language_server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    language_server.feature(types.TEXT_DOCUMENT_DEFINITION)(_definition)
    language_server.feature(types.TEXT_DOCUMENT_REFERENCES)(_references)
    language_server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename)
    language_server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(_rename)
    language_server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(_symbols)
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
    options = types.CodeActionOptions(code_action_kinds=kinds)
    language_server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_actions)
    return language_server


def _of_document(handler: Handler[Params, Result]) -> Feature[Params, Result]:
    """Answer with the open document that a request is about; empty for any other text.

    A fault in one answer is an empty answer and a line on standard error: the editor goes on.
    """

    async def answered(server: EditorServer, params: Params) -> Result | None:
        document = await server.prepared(params.text_document.uri)
        return None if document is None else await handler(server, document, params)

    @functools.wraps(handler)
    async def guarded(server: EditorServer, params: Params) -> Result | None:
        [answer] = await asyncio.gather(answered(server, params), return_exceptions=True)
        if isinstance(answer, JsonRpcException | asyncio.CancelledError):
            raise answer
        if isinstance(answer, BaseException):
            log_failure(handler.__name__.strip("_"), answer)
            return None
        return answer

    return guarded


def _offset(document: OpenDocument, position: types.Position) -> int:
    return document.text.offset(position.line, position.character)


@_of_document
async def _complete(
    server: EditorServer, document: OpenDocument, params: types.CompletionParams
) -> types.CompletionList | None:
    store, number = server.references, document.number
    offset = _offset(document, params.position)
    items = completion.complete(document, offset, store.reference, store.lookup)
    if await store.settled(_PATIENCE) and document.number == number:
        items = completion.complete(document, offset, store.reference, store.lookup)
    converted = [convert.completion(document.text, offset, item) for item in items]
    return types.CompletionList(is_incomplete=not store.is_complete, items=converted)


@_of_document
async def _hover(server: EditorServer, document: OpenDocument, params: types.HoverParams) -> types.Hover | None:
    store = server.references
    offset = _offset(document, params.position)
    text = hover.hover(document, offset, store.reference, store.lookup)
    if await store.settled(_PATIENCE):
        text = hover.hover(document, offset, store.reference, store.lookup)
    return convert.hover(document.text, text) if text is not None else None


@_of_document
async def _definition(
    server: EditorServer, document: OpenDocument, params: types.DefinitionParams
) -> types.Location | None:
    span = navigation.definition(document, _offset(document, params.position), server.references.reference)
    return convert.location(document, span) if span is not None else None


@_of_document
async def _references(
    server: EditorServer, document: OpenDocument, params: types.ReferenceParams
) -> list[types.Location] | None:
    spans = navigation.references(
        document,
        _offset(document, params.position),
        server.references.reference,
        declaration=params.context.include_declaration,
    )
    return [convert.location(document, span) for span in spans]


@_of_document
async def _prepare_rename(
    server: EditorServer, document: OpenDocument, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    renameable = navigation.renameable(document, _offset(document, params.position), server.references.reference)
    if renameable is None:
        return None
    span, name = renameable
    return types.PrepareRenamePlaceholder(convert.range_of(document.text, *span), name)


@_of_document
async def _rename(
    server: EditorServer, document: OpenDocument, params: types.RenameParams
) -> types.WorkspaceEdit | None:
    if not document.is_exact:
        raise JsonRpcException("the text is not YAML at the moment: mend it first", _REQUEST_FAILED)
    # What refers to a component is known by the schema.
    await server.references.settled(_PATIENCE)
    try:
        edits = navigation.rename(
            document, _offset(document, params.position), params.new_name, server.references.reference
        )
    except navigation.RenameRefused as reason:
        raise JsonRpcException(str(reason), _REQUEST_FAILED) from reason
    return convert.edit(document, edits)


@_of_document
async def _symbols(
    server: EditorServer, document: OpenDocument, _params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    listed = navigation.symbols(document, server.references.reference)
    return [convert.symbol(document.text, entry) for entry in listed]


@_of_document
async def _actions(
    server: EditorServer, document: OpenDocument, params: types.CodeActionParams
) -> list[types.CodeAction] | None:
    # Which names are deprecated is known by the schema.
    await server.references.settled(_PATIENCE)
    start, end = _offset(document, params.range.start), _offset(document, params.range.end)
    findings = server.findings(document.uri)
    if params.context.only == [types.CodeActionKind.SourceFixAll]:
        # An editor that mends on save asks for nothing else, and for the whole text.
        whole = actions.fix_all(document, findings, server.references.reference, least=1)
        return [convert.action(document, whole)] if whole else []
    offered = actions.actions(document, start, end, findings, server.references.reference)
    return [convert.action(document, action) for action in offered]
