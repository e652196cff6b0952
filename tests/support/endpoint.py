"""What a line of the table of endpoints (endpoints.py) says of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.support.faults.rows import Row, always
from tests.support.world import World

Takes = Literal["nothing", "read", "write", "person", "browser", "member", "admin"]
Body = Mapping[str, object]
READS = "changes nothing: reads only"
"""`recorded` of an endpoint that only reads."""


@dataclass(frozen=True)
class Endpoint:
    """`label` is its method and path, `takes` the credential that it takes, `requests` are right ones.

    `unfilled` is the status for who is let in, where the ids of the path name nothing and the body is `{}`.
    """

    label: str
    takes: Takes
    unfilled: int
    requests: tuple[Row, ...]
    # The record of a change: its action and target. `{id}` and `{n}` are those of the answer.
    action: str = ""
    target: str = ""
    # Why there is no such record, or which test looks at it, where its action is not that of the first request alone.
    recorded: str = ""
    # Ids in the body, and a body that is right beside them.
    ids_in_body: tuple[str, ...] = ()
    beside_ids: Body = field(default_factory=dict)
    # Where its isolation is tested, if not with all the others.
    isolated: str = ""

    @property
    def method(self) -> str:
        return self.label.partition(" ")[0]

    @property
    def has_ids(self) -> bool:
        """Whether an organization's ids are in its path."""
        return "{" in self.label and not self.isolated

    def right_body(self, world: World) -> object:
        """The body of a right request with the world's ids."""
        body = self.requests[0].body
        return body(world) if body else None


def endpoint(label: str, takes: Takes, unfilled: int, *requests: Row, **more: Any) -> Endpoint:
    named = tuple(replace(request, endpoint=label) for request in requests)
    return Endpoint(label, takes, unfilled, named, **more)


def right(status: int, body: Callable[[World], object] | Body | None = None, **more: Any) -> Row:
    """A right request of the endpoint that it stands in, and the status of its answer."""
    made = body if body is None or callable(body) else always(body)
    return Row("", status, made, **more)
