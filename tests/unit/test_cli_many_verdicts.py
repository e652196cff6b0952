"""Many texts are validated by few requests, and each has the verdict that it has alone."""

from collections.abc import Mapping

import pytest

from headgate_cli.api import Entity, ServerError
from headgate_cli.checks import many
from headgate_cli.errors import Failed, NotAuthenticated

_NOT_CHECKED: Entity = {"problem": {"code": "not_checked"}}


class Server:
    """Says of each text that it is valid if it is `right`.

    `refuses` are texts that are checked alone only. In one request there is time for `most` texts.
    """

    def __init__(self, *, batches: bool = True, refuses: str = "", most: int = 50, error: Failed | None = None) -> None:
        self.batches = True
        self._most = most
        self.asked: list[tuple[str, int]] = []
        self._takes, self._refuses, self._error = batches, refuses, error

    def post(self, _shape: type[object], path: str, body: Mapping[str, object] | None = None) -> Entity:
        items = (body or {}).get("items")
        self.asked.append((path, len(items) if isinstance(items, list) else 1))
        if self._error:
            raise self._error
        if not isinstance(items, list):
            return {"valid": (body or {}).get("yaml") == "right"}
        if not self._takes:
            raise ServerError(404, "not_found", "There is nothing at this path", [])
        in_time, late = items[: self._most], items[self._most :]
        return {"items": [*(self._verdict(item["yaml"]) for item in in_time), *([_NOT_CHECKED] * len(late))]}

    def _verdict(self, yaml: str) -> Entity:
        return _NOT_CHECKED if yaml == self._refuses else {"valid": yaml == "right"}


def validated(server: Server, texts: list[str], query: str = "") -> list[object]:
    return [
        answer if isinstance(answer, Failed) else answer["valid"]
        for answer in many.verdicts(server, [{"yaml": yaml} for yaml in texts], query)
    ]


def test_fifty_texts_are_one_request_and_each_has_its_own_verdict() -> None:
    server = Server()

    assert validated(server, ["right", "wrong"] * 60, "?policies=true") == [True, False] * 60
    path = "/validate/batch?policies=true"
    assert server.asked == [(path, 50), (path, 50), (path, 20)]


def test_one_text_is_asked_alone() -> None:
    server = Server()

    assert validated(server, ["right"]) == [True]
    assert server.asked == [("/validate", 1)]


def test_texts_of_more_than_a_request_may_have_are_asked_in_several() -> None:
    server = Server()

    assert validated(server, ["x" * 600_000, "right", "x" * 600_000]) == [False, True, False]
    assert server.asked == [("/validate/batch", 2), ("/validate", 1)]


def test_a_server_without_batches_is_asked_for_each_text() -> None:
    server = Server(batches=False)

    assert validated(server, ["right", "wrong", "right"]) == [True, False, True]
    assert server.asked == [("/validate/batch", 3), *[("/validate", 1)] * 3]


def test_a_text_that_was_not_checked_beside_others_is_asked_alone() -> None:
    server = Server(refuses="right")

    assert validated(server, ["wrong", "right", "wrong"]) == [False, True, False]
    assert server.asked == [("/validate/batch", 3), ("/validate", 1)]


def test_texts_for_which_a_request_had_no_time_are_sent_together_again() -> None:
    server = Server(most=4)

    assert validated(server, ["right", "wrong"] * 5) == [True, False] * 5
    assert server.asked == [("/validate/batch", 10), ("/validate/batch", 6), ("/validate/batch", 2)]


def test_each_text_has_the_error_of_its_own_request() -> None:
    error = ServerError(503, "not_checked", "no process was free", [])

    assert validated(Server(error=error), ["right", "wrong"]) == [error, error]


def test_a_credential_that_is_not_taken_ends_all() -> None:
    server = Server(error=NotAuthenticated("not taken"))

    with pytest.raises(NotAuthenticated):
        validated(server, ["right", "wrong"])
    assert len(server.asked) == 1
