"""Fetches a question that was too large for an invocation from S3, by a signed URL."""

import http.client

from headgate.checker import links
from headgate_engine.checker import messages
from headgate_engine.checker.messages import Message


def fetch(url: str) -> Message:
    """The question at a signed URL: one GET, without redirects. Raises links.ForeignAddress, OSError, Malformed."""
    connection, target = links.connection(url)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise OSError(f"S3 answered {response.status}")
        text = response.read(messages.MAX_BYTES + 1)
    except http.client.HTTPException as error:
        raise OSError("S3 broke off its answer") from error
    finally:
        connection.close()
    if len(text) > messages.MAX_BYTES or response.length not in (None, 0):
        raise OSError("S3 answered more or less than the question")
    return messages.parsed(text)
