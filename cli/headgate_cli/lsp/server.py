"""The language server: the protocol's requests and notifications, answered by the other modules."""

from __future__ import annotations

import asyncio
import sys
from functools import cached_property
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from headgate_cli import VERSION
from headgate_cli.errors import Failed
from headgate_cli.lsp import convert, diagnostics
from headgate_cli.lsp.diagnostics import Diagnostic
from headgate_cli.lsp.document import LARGE, OpenDocument
from headgate_cli.lsp.reference_store import ReferenceStore
from headgate_cli.lsp.schedule import CheckOutcome, Checks
from headgate_cli.lsp.sources import Backend
from headgate_cli.lsp.text import Encoding
from headgate_cli.untrusted import one_line, printable

# The service's limit of a request, with room for what is around the text.
_MOST_BYTES: Final = 1_048_576 - 4_096


class _Protocol(LanguageServerProtocol):
    """Keeps texts as this package reads them: pygls splits lines at more characters than the protocol does."""

    _server: EditorServer

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)


class EditorServer(LanguageServer):
    """One editor's server, on one backend."""

    def __init__(self, backend: Backend) -> None:
        super().__init__("headgate", VERSION, protocol_cls=_Protocol, max_workers=2)
        self.backend = backend
        self._documents: dict[str, OpenDocument] = {}
        self._findings: dict[str, list[Diagnostic]] = {}
        self._outage = ""
        self._parsing: dict[str, asyncio.Future[None]] = {}

    @cached_property
    def checks(self) -> Checks:
        return Checks(self.backend.check, is_limited=self.backend.is_limited, publish=self._publish)

    @cached_property
    def references(self) -> ReferenceStore:
        return ReferenceStore(self.backend, self._lacks)

    def opened(self, item: types.TextDocumentItem) -> None:
        chosen = self.workspace.position_encoding
        encoding = Encoding(chosen.value if isinstance(chosen, types.PositionEncodingKind) else str(chosen))
        document = OpenDocument(item.uri, item.language_id, item.text, item.version, encoding)
        self._documents[item.uri] = document
        self._recheck(document, pause=0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self._documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                document.edit((start.line, start.character), (end.line, end.character), change.text)
            else:
                document.replace(change.text)
        document.version = params.text_document.version
        self._recheck(document, pause=self.checks.pause)

    def closed(self, uri: str) -> None:
        if self._documents.pop(uri, None) is not None:
            self.checks.forget(uri)
            self._show(uri, None, [])

    def document(self, uri: str) -> OpenDocument | None:
        """An open text, if it is a collector configuration."""
        document = self._documents.get(uri)
        return document if document is not None and document.is_collector else None

    async def prepared(self, uri: str) -> OpenDocument | None:
        """The document with its tree. Raises JsonRpcContentModified if the text changed while it was made."""
        self.references.load()
        document = self.document(uri)
        if document is None or document.is_parsed:
            return document
        number = document.number
        # A small text is parsed by whoever needs its tree.
        if len(document.text.content) >= LARGE:
            parsing = self._parsing.get(uri)
            if parsing is None or parsing.done():
                parsing = asyncio.ensure_future(asyncio.to_thread(document.parse))
                self._parsing[uri] = parsing
            # The thread goes on if the request is cancelled: the next one needs the tree as well.
            await asyncio.shield(parsing)
            if document.number != number:
                raise JsonRpcContentModified
        return document

    def findings(self, uri: str) -> list[Diagnostic]:
        """The findings about the text as it is; none if it has changed since it was checked."""
        return self._findings.get(uri, [])

    def end(self) -> None:
        """Give up what is under way, and end the backend."""
        if "checks" in self.__dict__:
            self.checks.close()
        if "references" in self.__dict__:
            self.references.close()
        self.backend.close()

    def _recheck(self, document: OpenDocument, *, pause: float) -> None:
        uri, text = document.uri, document.text
        if not document.is_collector:
            self.checks.forget(uri)
            if self._findings.get(uri):
                self._show(uri, document, [])
            return
        self.references.load()
        if not text.content.strip():
            self.checks.forget(uri)
            self._show(uri, document, [])
        elif len(text.content.encode(errors="replace")) > _MOST_BYTES:
            self.checks.forget(uri)
            self._show(uri, document, diagnostics.not_checked("the text is larger than 1 MB", text))
        else:
            self.checks.request(uri, document.number, text.content, pause=pause)

    async def _publish(self, uri: str, number: int, outcome: CheckOutcome) -> None:
        document = self._documents.get(uri)
        if document is None or document.number != number:
            return
        text = document.text
        if outcome.outage:
            self._tell_outage(outcome)
            self._show(uri, document, diagnostics.not_checked(outcome.outage, text))
            return
        if self._outage:
            self._outage = ""
            self._log("checks go on")
        if outcome.refusal is not None:
            code = str(getattr(outcome.refusal, "code", "")) or diagnostics.NOT_CHECKED
            self._show(uri, document, diagnostics.not_checked(outcome.refusal.message, text, code))
        elif outcome.answer is not None:
            self.references.answered(reduced=outcome.answer.get("reduced") is True)
            findings = await asyncio.to_thread(diagnostics.of_answer, outcome.answer, text)
            if self._documents.get(uri) is document and document.number == number:
                self._show(uri, document, findings)

    def _show(self, uri: str, document: OpenDocument | None, findings: list[Diagnostic]) -> None:
        self._findings[uri] = findings
        if document is None:
            del self._findings[uri]
        shown = [convert.diagnostic(document.text, finding) for finding in findings] if document else []
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, shown, version=document.version if document else None)
        )

    def _tell_outage(self, outcome: CheckOutcome) -> None:
        """One message for an outage, however many checks meet it."""
        if self._outage:
            return
        self._outage = outcome.outage
        then = f"Checks go on in {outcome.resumes:.0f} s." if outcome.resumes else "It is tried again by itself."
        message = f"Headgate cannot check: {printable(outcome.outage).rstrip('.')}. {then}"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def _lacks(self, what: str, reason: Failed) -> None:
        self._log(f"no reference ({what}): {one_line(reason.message)}")

    def _log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, f"headgate: {message}"))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Never with the error's words, which may quote the text."""
        log_failure(getattr(source, "__name__", "message"), error)


def log_failure(what: str, error: BaseException) -> None:
    """A line on standard error, without anything of the text."""
    print(f"headgate lsp: {what} failed: {type(error).__name__}", file=sys.stderr, flush=True)
