"""The local service, stopped and killed and started again on the same data and port."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.support.ports import free_port
from tests.support.service import Service, running_service


class LocalService:
    """A service that keeps its address, data and tokens from one start to the next."""

    def __init__(self, data: Path, *, as_people_do: bool = False, **environment: str) -> None:
        self.data = data
        self._as_people_do = as_people_do
        self.environment = {"HEADGATE_PORT": str(free_port()), **environment}
        self._running: ExitStack | None = None
        self._service: Service | None = None

    @property
    def base_url(self) -> str:
        return self._now.base_url

    @property
    def read_write_token(self) -> str:
        return self._now.read_write_token

    @property
    def read_only_token(self) -> str:
        return self._now.read_only_token

    @property
    def sign_in_link(self) -> str:
        return self._now.sign_in_link

    @property
    def pid(self) -> int:
        return self._now.pid

    def client(self) -> httpx.Client:
        return self._now.client()

    def start(self) -> None:
        """Returns when the service answers. Raises RuntimeError if it does not come to that."""
        with ExitStack() as stack:
            self._service = stack.enter_context(
                running_service(self.data, as_people_do=self._as_people_do, **self.environment)
            )
            self._running = stack.pop_all()

    def stop(self) -> None:
        """In order, with SIGTERM."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def kill9(self) -> None:
        """As a crash would end it, at whatever it is doing."""
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def _now(self) -> Service:
        assert self._service is not None, "the service was not started"
        return self._service
