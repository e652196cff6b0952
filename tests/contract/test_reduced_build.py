"""What a real reduced build says of what it lacks, by its check process and by its plain command."""

import os
from collections.abc import Iterator
from typing import Any, Final

import pytest

from headgate import checker
from headgate.checker import CheckerFailed
from headgate.foundation.settings import settings
from headgate_engine.collectors import service as collectors
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import ComponentNotInBuild
from headgate_local.options import read_options
from tests.support.askers import ASKER
from tests.support.second_version import needs_second_version, second_version

pytestmark = [pytest.mark.contract, pytest.mark.collector, needs_second_version]

SECOND: Final = second_version() or ""
SECTIONS: Final = ("receiver", "processor", "exporter", "connector", "extension")
TEXT: Final = """\
receivers: {{otlp: {{protocols: {{grpc: {{}}}}}}}}
exporters: {{debug: {{}}}}
{section}:
  {id}: {{}}
service: {{pipelines: {{logs: {{receivers: [otlp], exporters: [debug]}}}}}}
"""


def a_text_with(kind: str, type_: str) -> str:
    section = f"{kind}s"
    text = TEXT.format(section=section, id=f"{type_}/one")
    # A mapping has each key once.
    lines = [line for line in text.splitlines() if not line.startswith(f"{section}: ")]
    return "\n".join(lines) + "\n" if section in ("receivers", "exporters") else text


@pytest.fixture(scope="module", autouse=True)
def second() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(read_options(os.environ).collectors))
        settings.cache_clear()
        checker.close()
        yield
        checker.close()


@pytest.fixture(scope="module")
def one_of_each_kind(second: None) -> dict[str, str]:
    """A type that the build lacks of each kind that texts name."""
    lacking = sorted((one.kind, one.type) for one in collectors.lacks(SECOND, asker=ASKER))
    if not lacking:
        pytest.skip(f"this build of {SECOND} lacks no component")
    return {kind: next(type_ for one, type_ in lacking if one == kind) for kind in SECTIONS}


@pytest.mark.parametrize("kind", SECTIONS)
@pytest.mark.parametrize("dies", [False, True], ids=["check", "plain"])
def test_what_the_build_lacks_is_not_checked_whoever_answers(
    kind: str, dies: bool, one_of_each_kind: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = checker.COLLECTORS.call

    def dying(op: str, *args: Any, **more: Any) -> dict[str, object]:
        if op == "validate":
            raise CheckerFailed("It died on this text")
        return call(op, *args, **more)

    if dies:
        monkeypatch.setattr(checker.COLLECTORS, "call", dying)
    type_ = one_of_each_kind[kind]
    with pytest.raises(ComponentNotInBuild) as raised:
        validation.validate(a_text_with(kind, type_), SECOND, asker=ASKER)

    assert raised.value.detail.startswith(f"{kind}s::{type_}/one: ")
    assert f"lacks the {kind} {type_}" in raised.value.detail


def test_what_no_build_has_is_unknown_whoever_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = a_text_with("processor", "nobodyhasit")
    by_check = validation.validate(text, SECOND, asker=ASKER)

    def dying(*_: object, **__: object) -> dict[str, object]:
        raise CheckerFailed("It died on this text")

    with monkeypatch.context() as patch:
        call = checker.COLLECTORS.call
        patch.setattr(
            checker.COLLECTORS, "call", lambda op, *a, **m: dying() if op == "validate" else call(op, *a, **m)
        )
        by_command = validation.validate(text, SECOND, asker=ASKER)

    assert [(error.component_path, error.code) for error in by_check.errors] == [
        ("processors::nobodyhasit/one", "unknown_component")
    ]
    assert [(error.component_path, error.code) for error in by_command.errors] == [
        ("processors::nobodyhasit/one", "other")
    ]
