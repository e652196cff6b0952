"""The variables of a run, whose values may be secrets: objects of their own, gone for good before the run has ended.

What is made of the values is there too: the collector's configuration, in which a value may have become the name of a
component. If nothing deletes them, since a function was killed at the wrong moment, the bucket does so after a day.
"""

import json
from collections.abc import Mapping
from typing import cast

from headgate.runs import keys
from headgate.storage import objects


def put(run_id: str, env: Mapping[str, str]) -> None:
    """Store them; one PUT."""
    put_text(run_id, "values", json.dumps(dict(env), ensure_ascii=False))


def get(run_id: str) -> dict[str, str] | None:
    """The variables of a run that has not ended, None if there are none any more; one GET."""
    content = objects.read_unless_missing(_key(run_id, "values"))
    # Without a model, whose errors would quote a value.
    return None if content is None else cast("dict[str, str]", json.loads(content))


def put_text(run_id: str, name: str, text: str) -> None:
    """Store a text in which values may be; one PUT."""
    objects.write(_key(run_id, name), text.encode(), objects.TEXT)


def link(run_id: str, seconds: int, name: str = "values") -> str:
    """A URL that serves the values, or such a text, to whoever has it. No request."""
    return objects.link(_key(run_id, name), seconds)


def delete(run_id: str) -> None:
    """Delete everything of them for good; what is not there is not missed. Raises BotoCoreError, ClientError."""
    objects.delete_for_good(keys.variables(run_id))


def _key(run_id: str, name: str) -> str:
    return keys.variables(run_id) + name
