"""An editor, as far as the language server sees one: pygls' own client, driven step by step."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.support.service import ROOT

R = TypeVar("R")
# A machine that does other work.
PATIENCE = 90.0


class Editor:
    """A running `headgate lsp` and the messages that it sent. Use it as a context manager."""

    def __init__(self, *arguments: str, encodings: tuple[str, ...] = ("utf-16",), **environment: str) -> None:
        self._arguments = arguments
        self._encodings = encodings
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
            "LANG": "C.UTF-8",
            **{name: os.environ[name] for name in ("HEADGATE_COLLECTORS_DIR", "HEADGATE_CACHE") if name in os.environ},
            **environment,
        }
        self._loop = asyncio.new_event_loop()
        self._client = LanguageClient("test", "1")
        self._versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.capabilities = types.ServerCapabilities()
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda shown: self.published.append(shown))
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(lambda shown: self.messages.append(shown.message))
        self._client.feature(types.WINDOW_LOG_MESSAGE)(lambda logged: self.logged.append(logged.message))

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "headgate_cli.main", "lsp", *self._arguments]
        self.wait(self._client.start_io(*command, env=self._environment))
        general = types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(one) for one in self._encodings]
        )
        capabilities = types.ClientCapabilities(general=general)
        answer = self.wait(
            self._client.initialize_async(types.InitializeParams(capabilities=capabilities, process_id=os.getpid()))
        )
        self.capabilities = answer.capabilities
        self._client.initialized(types.InitializedParams())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.wait(self._client.shutdown_async(None))
            self._client.exit(None)
            self.wait(self._client.stop())
        finally:
            self._loop.close()

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    @property
    def client(self) -> LanguageClient:
        return self._client

    def open(self, text: str, name: str = "collector.yaml", language: str = "yaml") -> str:
        """Open a text; returns its address."""
        uri = Path("/work", name).as_uri()
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> int:
        """Send changes; returns the text's new version."""
        self._versions[uri] += 1
        named = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(named, list(changes)))
        return self._versions[uri]

    def replace(self, uri: str, text: str) -> int:
        return self.change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, uri: str) -> None:
        self._client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def cancelled(self, method: str, asked: object) -> object:
        """Send a request, cancel it, and return or raise what comes of it."""
        answer = self._client.protocol.send_request(method, asked, msg_id="cancelled")
        self._client.cancel_request(types.CancelParams("cancelled"))
        return await asyncio.wrap_future(answer)

    def until(self, holds: Callable[[], bool]) -> None:
        """Receive what comes until something holds. Raises AssertionError if it does not come to that."""
        ends = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < ends, (self.published[-3:], self.messages)
            self.run_for(0.005)

    def run_for(self, seconds: float) -> None:
        """Receive what comes."""
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def findings(self, uri: str, version: int = 1) -> list[types.Diagnostic]:
        """The diagnostics of that version of a text, as soon as they are there."""

        def shown() -> list[types.PublishDiagnosticsParams]:
            return [one for one in self.published if one.uri == uri and one.version == version]

        self.until(lambda: bool(shown()))
        return list(shown()[-1].diagnostics)

    def complete(self, uri: str, at: types.Position) -> dict[str, types.CompletionItem]:
        """The suggestions by their labels, asked for again while the list is incomplete, as an editor does."""
        asked = types.CompletionParams(types.TextDocumentIdentifier(uri), at)
        ends = time.monotonic() + PATIENCE
        while True:
            found = self.wait(self._client.text_document_completion_async(asked))
            assert isinstance(found, types.CompletionList)
            if not found.is_incomplete:
                return {item.label: item for item in found.items}
            assert time.monotonic() < ends, self.messages
            self.run_for(0.1)

    def hover(self, uri: str, at: types.Position) -> str:
        """The text in Markdown; empty if there is none."""
        document = types.TextDocumentIdentifier(uri)
        found = self.wait(self._client.text_document_hover_async(types.HoverParams(document, at)))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found else ""

    def definition(self, uri: str, at: types.Position) -> types.Range | None:
        document = types.TextDocumentIdentifier(uri)
        found = self.wait(self._client.text_document_definition_async(types.DefinitionParams(document, at)))
        assert found is None or isinstance(found, types.Location)
        return found.range if found else None

    def references(self, uri: str, at: types.Position) -> list[types.Range]:
        asked = types.ReferenceParams(types.ReferenceContext(True), types.TextDocumentIdentifier(uri), at)
        return [one.range for one in self.wait(self._client.text_document_references_async(asked)) or ()]

    def rename(self, uri: str, at: types.Position, name: str) -> list[types.TextEdit]:
        asked = types.RenameParams(types.TextDocumentIdentifier(uri), at, name)
        return _edits(self.wait(self._client.text_document_rename_async(asked)), uri)

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        asked = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = self.wait(self._client.text_document_document_symbol_async(asked)) or ()
        return [one for one in found if isinstance(one, types.DocumentSymbol)]

    def fixes(self, uri: str, within: types.Range) -> dict[str, list[types.TextEdit]]:
        """The edits of the code actions, by their titles."""
        asked = types.CodeActionParams(types.TextDocumentIdentifier(uri), within, types.CodeActionContext([]))
        found = self.wait(self._client.text_document_code_action_async(asked)) or ()
        return {one.title: _edits(one.edit, uri) for one in found if isinstance(one, types.CodeAction)}


def _edits(edit: types.WorkspaceEdit | None, uri: str) -> list[types.TextEdit]:
    changes = edit.changes if edit is not None and edit.changes is not None else {}
    return list(changes.get(uri, ()))


def position(text: str, mark: str, within: int = 0, occurrence: int = 0) -> types.Position:
    """The position of a character of the n-th occurrence of a word, in UTF-16 units."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(mark, at + 1)
    before = text[: at + within]
    line = before.count("\n")
    return types.Position(line, len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """The text with the edits made, which are in UTF-16 units."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(at: types.Position) -> int:
        line = lines[at.line] if at.line < len(lines) else ""
        units = line.encode("utf-16-le")[: at.character * 2].decode("utf-16-le")
        return starts[min(at.line, len(lines))] + len(units)

    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
