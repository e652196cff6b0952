"""A client that goes away during its upload, over a real connection: no defect, and nothing is saved."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
import uvicorn
from starlette.types import ASGIApp

from configurations.app import app as configurations
from configurations.app import router
from headgate_local import service
from tests.support.members import API, JoinWith
from tests.support.page_visitor import SESSION, csrf, member_at
from webhooks.app import app as webhooks

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}
BODY = b'{"name": "Edge", "yaml": "receivers: {}"}'

Address = tuple[str, int]


@contextmanager
def served(app: ASGIApp) -> Iterator[Address]:
    """The application behind the local service's server, at this address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(service.server_config(app))
        thread = threading.Thread(target=server.run, args=([listener],))
        address = listener.getsockname()
        thread.start()
        yield address
        server.should_exit = True
        thread.join()


def left_during_upload(
    app: ASGIApp, path: str, headers: dict[str, str], body: bytes, caplog: pytest.LogCaptureFixture
) -> list[logging.LogRecord]:
    """What is logged of a request whose connection closes before the last byte of its body."""
    caplog.set_level(logging.INFO)
    caplog.clear()
    fields = {"Host": "testserver", "Content-Length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with served(app) as address:
        with socket.create_connection(address) as connection:
            connection.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body[:-1])
        while "request" not in caplog.messages:
            time.sleep(0.01)
    return caplog.records


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "once"}])
def test_an_upload_that_ends_early_is_not_a_defect_and_saves_nothing(
    key: dict[str, str], join: JoinWith, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    ann = join([router])
    path, headers = f"{API}/configurations", {"Authorization": f"Bearer {ann.token}", **JSON, **key}

    logged = left_during_upload(configurations, path, headers, BODY, caplog)

    assert [one.getMessage() for one in logged] == ["client_disconnected", "request"]
    assert {one.levelno for one in logged} == {logging.INFO}
    assert "Traceback" not in capfd.readouterr().err
    assert ann.http.get(path).json()["items"] == []
    # The key is free: what ended early stands for nothing.
    assert ann.http.post(path, content=BODY, headers=headers).status_code == 201


def test_a_form_that_ends_early_is_not_a_defect_and_saves_nothing(
    organization_id: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    ann, page = member_at(webhooks, organization_id, "admin"), f"/organizations/{organization_id}/webhooks"
    fields = {"csrf": csrf(ann, page), "name": "n", "url": "https://hooks.example.com/x", "format": "slack"}
    headers = {"Cookie": f"{SESSION}={ann.cookies[SESSION]}", **FORM}

    logged = left_during_upload(webhooks, page, headers, urlencode(fields).encode(), caplog)

    assert [one.getMessage() for one in logged] == ["client_disconnected", "request"]
    assert "Traceback" not in capfd.readouterr().err
    assert "None yet: add one below" in ann.get(page).text
