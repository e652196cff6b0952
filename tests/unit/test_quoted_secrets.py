"""Words of a host without the secrets that it was sent."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from headgate.deployments import variables
from headgate.instances.orders.captured import CaptureNews
from headgate.instances.reported.model import AgentReport
from headgate.opamp import quoted_secrets

SECRET = "a1B2-hook_of.no-known-form"


def test_the_error_of_a_capture_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables, "opened_revision", lambda *_: variables.OpenedRevision(None, (SECRET,)))
    instance = cast("Any", SimpleNamespace(offered_variables=[object()]))
    capture = CaptureNews("cap_1", error=f'Post "https://hooks.example.com/{SECRET}": refused')
    report = AgentReport(b"", 1, accepts_config=True, takes_interval=True, capture=capture)

    assert report.quotes
    shown = quoted_secrets.without(report, cast("Any", None), instance).capture

    assert shown is not None
    assert shown.error == 'Post "https://hooks.example.com/[REDACTED]": refused'
