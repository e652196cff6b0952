"""AWS that fails in the connection itself: moto behind a real server, and a proxy before it that breaks what passes.

Nothing of boto3 is in the way here, down to its sockets and its pool of kept connections. Faults are named at the same
place as those of `aws_faults`, by the call of a request that they meet.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.client import BaseClient
from botocore.config import Config

from headgate.foundation.settings import settings
from headgate.identity import signing
from headgate.storage import aws
from headgate_local import aws_server, deliveries, moto_patches, secrets_key, template, user_pool
from headgate_local.moto_data import MotoData
from tests.support.faults import faulty_proxy
from tests.support.faults.aws_faults import Aws, SocketKind, counted
from tests.support.faults.bench import Bench, made_ready
from tests.support.faults.faulty_proxy import BREAKS, UNTIL_TIME_OUT, FaultyProxy

KINDS: Final[tuple[SocketKind, ...]] = ("refused", *(kind for kind in BREAKS if kind not in UNTIL_TIME_OUT))
TIMED_KINDS: Final[tuple[SocketKind, ...]] = UNTIL_TIME_OUT


@contextmanager
def moto_behind_a_proxy(folder: Path) -> Iterator[tuple[template.Template, FaultyProxy]]:
    """moto's server with the template's tables, bucket and user pool; the environment points at the proxy."""
    described = template.read()
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        moto = stack.enter_context(aws_server.running())
        proxy = stack.enter_context(faulty_proxy.running(moto))
        aws_server.point_at(proxy.url, int(urlsplit(moto).port or 0))
        for name, value in described.environment().items():
            environment.setenv(name, value)
        environment.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "100000")
        settings.cache_clear()
        aws.forget_clients()
        signing.signing_key.cache_clear()
        data = MotoData(described.tables(), described.buckets())
        stack.enter_context(moto_patches.installed(data, save=lambda _: None))
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        for bucket in described.buckets():
            aws.s3().create_bucket(Bucket=bucket.name)
        stack.enter_context(user_pool.running(described, folder))
        secrets_key.create(described, folder)
        deliveries.create(described)
        yield described, proxy
    aws.forget_clients()
    settings.cache_clear()


class Connections(Aws):
    """The calls that go to the proxy, told there what they meet."""

    def __init__(self, proxy: FaultyProxy) -> None:
        super().__init__()
        # What was handed on is done, even if whoever asked has hung up.
        self.settle = proxy.settle
        self._proxy = proxy

    def watch(self, client: BaseClient) -> None:
        super().watch(client)
        client.meta.events.register("before-send", self._meet)

    def _meet(self, request: AWSPreparedRequest, **_: object) -> None:
        kind, _call = self.fate()
        if kind == "refused":
            request.url = str(request.url).replace(self._proxy.url, self._proxy.refusing_url)
        elif kind is not None:
            request.headers[faulty_proxy.HEADER] = kind


@contextmanager
def socket_bench(folder: Path) -> Iterator[Bench]:
    """A world behind the proxy."""
    with (
        moto_behind_a_proxy(folder) as (described, proxy),
        made_ready(described, folder / "state", partial(watched, proxy)) as bench,
    ):
        yield bench


@contextmanager
def watched(proxy: FaultyProxy) -> Iterator[Aws]:
    found = Connections(proxy)
    with counted(found):
        yield found


@contextmanager
def waiting(bench: Bench, read_timeout: float) -> Iterator[None]:
    """Clients that wait so many seconds for an answer, until the end of the block."""
    config = aws._config().merge(Config(read_timeout=read_timeout))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aws, "_config", lambda: config)
        bench.aws.watch_clients()
        yield
    bench.aws.watch_clients()
