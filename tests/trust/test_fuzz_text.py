"""Hostile text through validation, linting and the start of runs: an answer each time, and soon the next one too.

`HEADGATE_TRUST_TEXTS` is how many texts are tried.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, example, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from headgate.foundation.settings import settings
from headgate_local import template
from tests.support import sizes
from tests.support.second_version import second_version
from tests.support.world import PUBLIC, YAML, World, founded, service

pytestmark = pytest.mark.sized

SCALARS: Final = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            *(
                "null",
                "~",
                "true",
                "0x1f",
                "1e999",
                "-.inf",
                "2026-11-21",
                "!!binary aGk=",
                "!!int x",
                "<<",
                "''",
                '"\\x00"',
            ),
            *(
                "${env:A}",
                "${env:A:-b}",
                "$${env:A}",
                "${file:/etc/passwd}",
                "${env:${env:A}}",
                "${",
                "$x",
                "1s",
                "-1s",
            ),
            *(
                'body == "x"',
                "IsMatch(body, '(')",
                "set(body, 1)",
                "logs",
                "otlp",
                "forward",
                "filter",
                "batch",
                "debug",
            ),
        ]
    ),
)
KEYS: Final = st.one_of(
    st.sampled_from(
        [
            *("receivers", "processors", "exporters", "connectors", "extensions", "service", "pipelines", "telemetry"),
            *(
                "logs",
                "traces/a",
                "metrics",
                "profiles",
                "otlp",
                "otlp/x",
                "filter",
                "transform",
                "batch",
                "debug",
                "<<",
            ),
            *("log_record", "log_statements", "statements", "conditions", "context", "protocols", "grpc", "endpoint"),
        ]
    ),
    st.text(max_size=5),
)


def flow(value: Any) -> str:
    """A nested value in YAML's flow style, its scalars as they stand."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(one) for one in value) + "]"
    return str(value)


NESTED: Final = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=25,
).map(flow)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A good configuration with pieces cut out, doubled, or replaced."""
    text = YAML
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 30)))
        text = text[:start] + draw(st.one_of(st.just(""), st.just(text[start:end] * 2), SCALARS, NESTED)) + text[end:]
    return text


HOSTILE: Final = st.one_of(mangled(), NESTED, st.text(max_size=200)).filter(bool)
COSTLY: Final = {
    "nested mappings": "a: " + "{a: " * 2_000 + "1" + "}" * 2_000,
    "nested to the parser's limit": "a: " + "{a: " * 9_000 + "1" + "}" * 9_000,
    "keys": "receivers:\n  otlp:\n" + "".join(f"    k{n}: 1\n" for n in range(70_000)),
    "nesting by aliases": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{x: *a{n - 1}}}\n" for n in range(1, 1_000)),
}


@pytest.fixture(scope="module")
def world(aws_here: template.Template) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        # The runs of all texts wait at once: nothing here ends one.
        patch.setenv("HEADGATE_RUNS_WAITING", str(sizes.TEXTS + 100))
        with service(aws_here) as http:
            yield founded(http, "Acme")


def requests(text: str) -> list[tuple[str, dict[str, object]]]:
    """Every way in for a text."""
    run = {"yaml": text, "sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
    upgrade = {"yaml": text, "to": second_version() or settings().collector_version}
    return [
        ("/validate", {"yaml": text}),
        ("/validate/upgrade-check", upgrade),
        ("/ottl/lint", {"yaml": text}),
        ("/testing/runs", run),
    ]


@limits(
    max_examples=sizes.TEXTS,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@example(text="receivers: {otlp: &a {x: *a}}")
@example(text="service: {pipelines: {logs: {receivers: [a], processors: [{b: c}], exporters: [[d]]}}}")
@given(text=HOSTILE)
def test_any_text_gets_an_answer(text: str, world: World) -> None:
    for path, body in requests(text):
        response = world.http.post(f"{PUBLIC}{path}", headers=dict(world.admin), json=body)

        assert response.status_code in (200, 202, 422), (path, text, response.text)
        if response.status_code == 422:
            assert response.json()["errors"], (path, text)


@pytest.mark.parametrize("what", COSTLY)
def test_what_takes_the_collector_minutes_is_refused_at_once(what: str, world: World) -> None:
    for path, body in requests(COSTLY[what]):
        response = world.http.post(f"{PUBLIC}{path}", headers=dict(world.admin), json=body)

        assert response.status_code == 422, (path, response.text[:500])
        assert response.json()["errors"][0]["loc"] == ["body", "yaml"]
        assert response.json()["code"] == "yaml_too_costly"
        assert re.search(r"limit|too long", response.json()["detail"])


def test_a_version_that_takes_minutes_is_not_saved_when_it_has_to_be_valid(world: World) -> None:
    path = f"{PUBLIC}/configurations/{world.ids['draft_id']}/versions/1"
    before = world.call(world.admin, "GET", path, 200)
    refused = world.call(world.admin, "PATCH", f"{path}?validate=true", 422, {"yaml": COSTLY["keys"]})

    assert refused["code"] == "yaml_too_costly"
    assert world.call(world.admin, "GET", path, 200) == before


def test_a_version_that_takes_minutes_can_be_assigned_and_says_that_it_was_not_checked(world: World) -> None:
    created = world.call(
        world.admin, "POST", f"{PUBLIC}/configurations", 201, {"name": "Wide", "yaml": COSTLY["nested mappings"]}
    )
    world.call(world.admin, "POST", f"{PUBLIC}/configurations/{created['id']}/versions/1/publish", 200)
    group = {"name": "wide", "configuration_id": created["id"], "version_number": 1}
    path = f"{PUBLIC}/fleets/{world.ids['fleet_id']}/deployments"

    (warning,) = world.call(world.admin, "POST", path, 201, group)["warnings"]
    assert warning["code"] == "not_checked"
    assert "nests deeper than the limit" in warning["message"]
