"""boto3's default session, from which all AWS clients of a process are made, and handlers of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import boto3


def get() -> boto3.Session:
    """The session. boto3 makes it when the first client is asked for."""
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()
    assert boto3.DEFAULT_SESSION is not None
    return boto3.DEFAULT_SESSION


@contextmanager
def handling(event: str, handler: Callable[..., object], *, last: bool = False) -> Iterator[None]:
    """Until the end, clients that are made from the session call the handler at this event of botocore.

    It is called before the event's other handlers, or with `last` after them.
    """
    events = get().events
    register = events.register_last if last else events.register_first
    # Handlers of some events return a value, which botocore's type does not allow.
    registered = cast("Callable[..., None]", handler)
    register(event, registered)
    try:
        yield
    finally:
        events.unregister(event, registered)
