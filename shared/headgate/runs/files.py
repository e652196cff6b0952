"""The files of runs and jobs in the bucket. One function, one access pattern.

The input of an execution that is `secret` has values of variables: it lies apart, and is gone for good before the
execution has ended. If nothing deletes it, since a function was killed at the wrong moment, the bucket does so after a
day.
"""

from typing import Final

from headgate.runs import keys
from headgate.runs.execution import Changeable
from headgate.storage import objects

_LINK_SECONDS: Final = 300


def put(execution_id: str, name: str, text: str) -> None:
    objects.write(keys.file(execution_id, name), text.encode(), objects.TEXT)


def read(execution_id: str, name: str, limit: int | None = None) -> bytes | None:
    """A file that its execution depends on, None if there is none. Raises ClientError if access is denied, TooLong."""
    return objects.read_unless_missing(keys.file(execution_id, name), limit)


def text(execution_id: str, name: str) -> str | None:
    """The same as text: a collector may write anything, so what is not UTF-8 is replaced."""
    content = read(execution_id, name)
    return None if content is None else content.decode(errors="replace")


def text_if_there(execution_id: str, name: str, limit: int | None = None) -> str | None:
    """The text of a file that nothing depends on, None if there is none or access is denied. Raises objects.TooLong."""
    content = objects.read_if_there(keys.file(execution_id, name), limit)
    return None if content is None else content.decode(errors="replace")


def size(execution_id: str, name: str) -> int:
    """In bytes; 0 if there is none, or access is denied."""
    return objects.size_if_there(keys.file(execution_id, name)) or 0


def link(execution_id: str, name: str, seconds: int = _LINK_SECONDS) -> str:
    """A URL that serves one file to whoever has it, for some minutes."""
    return objects.link(keys.file(execution_id, name), seconds)


def upload(execution_id: str, name: str, limit: int, seconds: int) -> dict[str, object]:
    """The URL and fields of a form that stores one file of up to `limit` bytes, for whoever has them."""
    return objects.upload_form(keys.file(execution_id, name), limit, seconds)


def delete(execution_id: str, *names: str) -> None:
    """Delete files; one that is not there is not missed."""
    for name in names:
        objects.delete(keys.file(execution_id, name))


def put_input(execution: Changeable, name: str, content: str) -> None:
    """Store a text that is made of the request, which may be secret."""
    objects.write(_input(execution, name), content.encode(), objects.TEXT)


def read_input(execution: Changeable, name: str, limit: int | None = None) -> bytes | None:
    """Such a text, None if there is none. Raises ClientError if access is denied, and TooLong."""
    return objects.read_unless_missing(_input(execution, name), limit)


def input_link(execution: Changeable, name: str, seconds: int) -> str:
    """A URL that serves such a text to whoever has it, for some minutes."""
    return objects.link(_input(execution, name), seconds)


def delete_secrets(execution: Changeable) -> None:
    """Delete a secret input, and all that was made of it, for good. Raises BotoCoreError, ClientError."""
    if execution.secret:
        objects.delete_for_good(keys.secret(execution.id))


def _input(execution: Changeable, name: str) -> str:
    folder = keys.secret(execution.id)
    return folder + name if execution.secret else keys.file(execution.id, name)
