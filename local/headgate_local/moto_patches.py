"""Patches that make moto a database: calls one at a time, failures that change nothing, and saved writes.

moto's DynamoDB is a dictionary that request threads change concurrently. A transaction copies whole tables and restores
the copies if it fails, which undoes other requests' writes; a refused update can leave half of its changes. So every
call runs under one lock here. Before a write, the items at its keys are recorded; if the write is refused or cannot be
saved, they are restored; if it succeeds, it is passed to `Save` before the answer.

tests/contract/test_moto_patches.py fails if an upgrade of moto changes what this module patches.
"""

from __future__ import annotations

import base64
import copy
import json
import threading
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from inspect import signature
from operator import itemgetter
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from moto.core import responses
from moto.core.common_models import BaseModel
from moto.core.request import Request
from moto.core.responses import ActionResult
from moto.core.utils import method_names_from_class
from moto.dynamodb import responses as dynamodb_responses
from moto.dynamodb.comparisons import ConditionExpressionParser, get_comparison_func
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.responses import DynamoHandler, DynamoResult
from moto.s3.models import FakeDeleteMarker, FakeKey, S3Backend
from moto.s3.responses import S3Response

from headgate_local import moto_reads, streams
from headgate_local.database import DatabaseChange
from headgate_local.moto_data import Attributes, MotoData
from headgate_local.patching import Patch, patched

Save = Callable[[Sequence[DatabaseChange]], None]
"""Saves changes. Raises OSError if they could not be saved."""

Response = tuple[int, dict[str, str], str | bytes]

LOCK: Final = threading.RLock()

# moto hides its types from checkers.
_NODES: Final[Any] = import_module("moto.dynamodb.parsing.ast_nodes")

_READS: Final = ("BatchGet", "Describe", "Get", "List", "Query", "Scan", "TransactGet")
# They change a table's definition, not its items; tables are created from the template at every start.
_DEFINITIONS: Final = frozenset({"CreateTable", "UpdateTable", "UpdateTimeToLive", "UpdateContinuousBackups"})
_ANSWERS_OF_ITEMS: Final = frozenset(
    {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems", "PutItem", "UpdateItem", "DeleteItem"}
)
# boto3 tries three times within half a minute.
_REMEMBERED_TRANSACTIONS: Final = 1000
# As moto has it, which measures a little less than DynamoDB does.
_MOST_BYTES_OF_ITEM: Final = 405_000
_ERROR_TYPE: Final = "com.amazonaws.dynamodb.v20120810#"


class UnknownWrite(Exception):
    """A write whose items are not known here. It is refused, because it could not be saved."""


@contextmanager
def installed(data: MotoData, save: Save) -> Iterator[None]:
    """moto as a database that saves the changes of `data` with `save`, until the end of the `with` block."""
    patches: list[Patch] = [
        *_dynamodb(data, save),
        *_s3(data, save),
        (BaseModel, "__new__", staticmethod(_untracked)),
        # moto inspects the class of each request anew: a twentieth of the time of a call.
        (responses, "method_names_from_class", cache(method_names_from_class)),
        # It chooses the 52 letters of each answer's id one by one, which takes a fifteenth of a write.
        (responses, "gen_amzn_requestid_long", _request_id),
        # It parses the expression of an update twice, a seventh of its time. Its validators work on copies.
        (UpdateExpressionParser, "make", staticmethod(lru_cache(maxsize=256)(UpdateExpressionParser.make))),
        (_NODES.DepthFirstTraverser, "traverse", _traversed),
        (_NODES.Node, "__deepcopy__", _copied),
        (ConditionExpressionParser, "_lex_condition_expression", _lexed_once()),
        (Item, "__init__", _measured_once),
        (Item, "size", moto_reads.size),
        (dynamodb_responses, "dynamo_to_dict", moto_reads.plain),
    ]
    with patched(patches):
        yield


def _untracked(model: type[object], *_args: object, **_named: object) -> object:
    """moto lists every object that it creates, for its dashboard: 4 KB for every write, which are never freed."""
    return object.__new__(model)


def _request_id(headers: dict[str, str]) -> str:
    headers["x-amzn-requestid"] = chosen = uuid.uuid4().hex
    return chosen


def _traversed(traverser: Any, root: Any) -> Any:
    """moto asks for each node of an update, ten times, which kinds of node there are to process."""
    processing = traverser._processing_map()
    kinds: tuple[type, ...] = tuple(processing)

    def visit(node: Any, place: int) -> Any:
        parent = node.parent
        for index, child in enumerate(node.children or ()):
            traverser.pre_processing_of_child(node, index)
            if _is_node(child.__class__):
                visit(child, index)
        kind = _processed_as(node.__class__, kinds)
        if kind is not None:
            node = processing[kind](node)
            node.parent = parent
            if parent:
                parent.children[place] = node
        return node

    return visit(root, -1)


@cache
def _is_node(kind: type) -> bool:
    return issubclass(kind, _NODES.Node)


@cache
def _processed_as(kind: type, kinds: tuple[type, ...]) -> type | None:
    return next((entry for entry in kinds if issubclass(kind, entry)), None)


def _copied(node: Any, memo: dict[int, object]) -> Any:
    """The tree below a node. What is not a node in it is a text or a value, which nothing changes."""
    copied = object.__new__(node.__class__)
    copied.__dict__ |= node.__dict__
    memo[id(node)] = copied
    if node.children is not None:
        copied.children = [_copied(child, memo) if _is_node(child.__class__) else child for child in node.children]
        for child in copied.children:
            if _is_node(child.__class__):
                child.parent = copied
    return copied


def _lexed_once() -> Callable[[ConditionExpressionParser], deque[ConditionExpressionParser.Node]]:
    """moto compiles patterns for each word of a condition. What it does with the words leaves them as they are."""
    lex = ConditionExpressionParser._lex_condition_expression
    words = lru_cache(maxsize=256)(lambda expression: tuple(lex(ConditionExpressionParser(expression, None, None))))
    return lambda parser: deque(words(parser.condition_expression))


def _measured_once(item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: Mapping[str, Any]) -> None:
    """moto measures what is there already for each attribute that it adds to a new item."""
    item.hash_key, item.range_key, item.attrs = hash_key, range_key, LimitedSizeDict()
    for name, value in attrs.items():
        dict.__setitem__(item.attrs, name, DynamoType(value))
    if item.size() > _MOST_BYTES_OF_ITEM:
        raise ItemSizeTooLarge


def _dynamodb(data: MotoData, save: Save) -> list[Patch]:
    original: Callable[[DynamoHandler], Response] = DynamoHandler.call_action
    # A client that got no answer sends its transaction again, with the same token: it must not be done twice.
    done: OrderedDict[str, Response] = OrderedDict()

    def call_action(handler: DynamoHandler) -> Response:
        action, params = str(handler._get_action()), getattr(handler, "params", {})
        with LOCK:
            if action.startswith(_READS) or action in _DEFINITIONS:
                return original(handler)
            token = str(params.get("ClientRequestToken", ""))
            if token in done:
                return done[token]
            response = written(handler, action, params)
            if token and response[0] < 300:
                done[token] = response
                if len(done) > _REMEMBERED_TRANSACTIONS:
                    done.popitem(last=False)
            return response

    def written(handler: DynamoHandler, action: str, params: Mapping[str, object]) -> Response:
        try:
            keys = dict.fromkeys(written_keys(data, action, params))
        except UnknownWrite as error:
            return _error(400, "ValidationException", str(error))
        before = [data.item(*key) for key in keys]
        data.forget(keys)
        response = _undone_on_error(data, before, lambda: original(handler))
        # Also what was computed while they were changed.
        data.forget(keys)
        if response[0] >= 300:
            return response
        after = [data.item(*key) for key in keys]
        if _saved(data, save, before, after):
            return response
        return _error(500, "InternalServerError", "The local service could not save the write")

    # Only transactions copy tables, to undo what is undone above; a copy takes time in proportion to the table's size.
    def not_copied(table: Table, _memo: dict[int, object]) -> Table:
        return table

    return [
        (DynamoHandler, "call_action", call_action),
        (DynamoHandler, "serialized", _answered_fast()),
        (Table, "__deepcopy__", not_copied),
        (Table, "all_items", _sorted_items),
        (Table, "query", _queried_by_partition()),
    ]


def _sorted_items(table: Table) -> list[Item]:
    """moto sorts by attributes, which it converts again for each comparison of two items."""
    items: list[Item] = []
    for partition in table.items.values():
        # Without a range key, moto has the item itself there.
        items.extend(partition.values() if table.range_key_attr else [cast("Item", partition)])
    return sorted(items, key=_key)


def _key(item: Item) -> tuple[object, ...]:
    keys = (item.hash_key, item.range_key)
    return tuple(key.cast_value for key in keys if key is not None)


def _queried_by_partition() -> Callable[..., object]:
    """moto goes through the whole table for one partition: a query took longer with each item of anybody.

    In the partition it sorts and measures all items before it looks at their sort keys: the two events of a group stand
    among those of all collectors of its fleet.
    """
    original: Callable[..., object] = Table.query

    parameters = signature(original)

    def query(table: Table, *args: object, **named: object) -> object:
        provided = parameters.bind(table, *args, **named).arguments
        if provided.get("index_name") is None and table.range_key_attr:
            hash_key = provided["hash_key"]
            table = copy.copy(table)
            table.items = defaultdict(dict, {hash_key: _wanted(table.items.get(hash_key, {}), provided)})
        return original(table, *args, **named)

    return query


def _wanted(partition: dict[DynamoType, Item], provided: Mapping[str, Any]) -> dict[DynamoType, Item]:
    """The items of a partition whose sort keys fit a query's condition; all of them if it has none."""
    if not provided.get("range_comparison"):
        return partition
    fits = get_comparison_func(provided["range_comparison"])
    values = [range_obj.cast_value for range_obj in provided["range_objs"]]
    return {key: item for key, item in partition.items() if fits(key.cast_value, *values)}


def _answered_fast() -> Callable[[DynamoHandler, ActionResult], Response]:
    """moto walks the service's model for every attribute of every item: 50 items took 100 ms, with the lock held.

    An item in moto already has the form of DynamoDB's JSON, except for bytes.
    """
    original: Callable[[DynamoHandler, ActionResult], Response] = DynamoHandler.serialized

    def serialized(handler: DynamoHandler, result: ActionResult) -> Response:
        if isinstance(result, DynamoResult) and handler._get_action() in _ANSWERS_OF_ITEMS:
            headers = {"Content-Type": "application/x-amz-json-1.0", **handler.response_headers}
            if handler in _left:
                _left[handler].append(result.result)
                return 200, headers, ""
            return 200, headers, json.dumps(result.result, default=_base64)
        return original(handler, result)

    return serialized


def leave_result(handler: DynamoHandler) -> list[dict[str, Any]]:
    """Have the handler leave an answer of items in this list, instead of serializing it."""
    return _left.setdefault(handler, [])


_left: Final[WeakKeyDictionary[DynamoHandler, list[Any]]] = WeakKeyDictionary()


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} in an item")


def written_keys(data: MotoData, action: str, params: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The table and key of every item that a call may change. Raises UnknownWrite for a call not known here."""
    for table, attributes in _written(action, params):
        # A table may be named by its ARN, which ends in its name.
        name = table.rpartition("/")[2]
        key = data.item_key(name, attributes)
        if key is not None:
            yield name, key


def _written(action: str, params: Mapping[str, object]) -> Iterable[tuple[str, Attributes]]:
    match action, params:
        case "PutItem", {"TableName": str(table), "Item": dict(attributes)}:
            return [(table, attributes)]
        case (("UpdateItem" | "DeleteItem"), {"TableName": str(table), "Key": dict(attributes)}):
            return [(table, attributes)]
        case "TransactWriteItems", {"TransactItems": list(items)}:
            operations = [operation for item in items for operation in item.values()]
            return [(operation["TableName"], operation.get("Item") or operation["Key"]) for operation in operations]
        case "BatchWriteItem", {"RequestItems": dict(requests)}:
            operations = [
                (table, put) for table, entries in requests.items() for entry in entries for put in entry.values()
            ]
            return [(table, operation.get("Item") or operation["Key"]) for table, operation in operations]
    raise UnknownWrite(f"The local service cannot save what {action} writes, so it refuses the call")


def _s3(data: MotoData, save: Save) -> list[Patch]:
    before: dict[tuple[str, str], DatabaseChange] = {}

    def noted(original: Callable[..., object]) -> Callable[..., object]:
        def write(backend: S3Backend, bucket_name: str, key_name: str, *args: object, **named: object) -> object:
            if bucket_name in data.s3.buckets and (bucket_name, key_name) not in before:
                before[bucket_name, key_name] = data.object(bucket_name, key_name)
            return original(backend, bucket_name, key_name, *args, **named)

        return write

    def saving(original: Callable[..., Response]) -> Callable[..., Response]:
        def respond(handler: S3Response, request: Request, *args: object) -> Response:
            # Before the lock is taken: a slow sender must not block other requests.
            request.get_data(cache=True)
            with LOCK:
                before.clear()
                response = _undone_on_error(data, before.values(), lambda: original(handler, request, *args))
                if response[0] >= 300 or not before:
                    return response
                after = [data.object(*key) for key in before]
                return response if _saved(data, save, list(before.values()), after) else _s3_error()

        return respond

    return [
        (S3Backend, "list_object_versions", _listed_versions),
        # Every write of an object calls one of these two.
        (S3Backend, "put_object", noted(S3Backend.put_object)),
        (S3Backend, "delete_object", noted(S3Backend.delete_object)),
        (S3Response, "key_response", saving(S3Response.key_response)),
        (S3Response, "bucket_response", saving(S3Response.bucket_response)),
    ]


def _listed_versions(
    backend: S3Backend, bucket_name: str, *_: object, prefix: str = "", **__: object
) -> tuple[list[FakeKey], list[str], list[FakeDeleteMarker], None, None]:
    """The versions of the objects whose keys begin so, newest first, in one page.

    moto copies the content of every object of the bucket to list some of them.
    """
    results: list[FakeKey] = []
    markers: list[FakeDeleteMarker] = []
    for key, versions in sorted(backend.get_bucket(bucket_name).keys.iterlists(), key=itemgetter(0)):
        for version in reversed(versions) if key.startswith(prefix) else ():
            version.is_latest = version is versions[-1]
            (markers if isinstance(version, FakeDeleteMarker) else results).append(version)
    return results, [], markers, None, None


def _undone_on_error(data: MotoData, before: Iterable[DatabaseChange], call: Callable[[], Response]) -> Response:
    try:
        response = call()
    except BaseException:
        _undo(data, before)
        raise
    if response[0] >= 300:
        _undo(data, before)
    return response


def _saved(data: MotoData, save: Save, before: Sequence[DatabaseChange], after: Sequence[DatabaseChange]) -> bool:
    changes = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    if not changes:
        return True
    try:
        save([new for _, new in changes])
    except OSError:
        _undo(data, before)
        return False
    for old, new in changes:
        streams.note(old, new)
    return True


def _undo(data: MotoData, before: Iterable[DatabaseChange]) -> None:
    for change in before:
        data.apply(change)


def _error(status: int, kind: str, message: str) -> Response:
    return status, {"status": str(status)}, json.dumps({"__type": _ERROR_TYPE + kind, "message": message})


def _s3_error() -> Response:
    body = "<Error><Code>InternalError</Code><Message>The local service could not save the write</Message></Error>"
    return 500, {"status": "500", "content-type": "application/xml"}, body
