"""What observed collectors report to run: stored without secrets, compared over time and between hosts, and adopted."""

import csv
import io
import json
import logging
import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fleets.app import app
from headgate.fleets import keys
from headgate.foundation.settings import settings
from headgate.instances.reported import effective as stored_texts
from headgate.opamp import effective, secret_forms
from headgate.storage import aws
from headgate.storage.table import fleets as table
from headgate_opamp import opamp_pb2 as wire
from tests.api.test_observed_fleets import EXTENSION, observed, without_group
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.page_visitor import member_at

__all__ = ["ann", "fleet", "now", "observed"]

_CORPUS: Final = Path(__file__).parents[2] / "layers/collector/secrets/testdata"
_LETTERS: Final = {
    "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "d": "0123456789",
    "h": "0123456789abcdef",
    "m": "abcdefghijklmnopqrstuvwxyz",
    "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "v": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
}
_RUNNING: Final = """\
receivers:
  otlp: {protocols: {grpc: {endpoint: 0.0.0.0:4317}}}
processors:
  transform:
    log_statements: [{context: log, statements: ['delete_key(attributes, "password")']}]
exporters:
  otlphttp: {endpoint: "https://otlp.example.com", headers: {X-Scope-OrgID: team-a}, timeout: 5s}
extensions:
  opamp: {server: {http: {endpoint: "https://headgate.example.com/v1/opamp", headers: {Authorization: Bearer ft_x}}}}
  health_check: {}
service:
  extensions: [opamp, health_check]
  pipelines: {logs: {receivers: [otlp], processors: [transform], exporters: [otlphttp]}}
"""
# Where a person has secrets in a configuration of a collector; § is the secret.
_PLACES: Final = (
    "exporters: {otlphttp: {headers: {x-api-key: §}}}",
    "exporters: {otlphttp: {headers: {authorization: Bearer §}}}",
    "exporters: {otlphttp: {headers: [{name: x, value: §}]}}",
    "exporters: {otlp: {endpoint: 'https://ada:§@otlp.example.com'}}",
    "exporters: {otlphttp: {endpoint: 'https://otlp.example.com/?api_key=§'}}",
    "exporters: {datadog: {api: {key: §}}}",
    "exporters: {splunk_hec: {token: §}}",
    "exporters: {kafka: {auth: {sasl: {username: ada, password: §}}}}",
    "exporters: {kafka: {auth: {plain_text: {password: §}}}}",
    "exporters: {azuremonitor: {connection_string: InstrumentationKey=§;IngestionEndpoint=https://x}}",
    "exporters: {azuremonitor: {instrumentation_key: §}}",
    "exporters: {elasticsearch: {api_key: §}}",
    "exporters: {elasticsearch: {user: elastic, password: §}}",
    "exporters: {clickhouse: {endpoint: 'tcp://host:9000?username=ada&password=§'}}",
    "exporters: {clickhouse: {password: §}}",
    "exporters: {awskinesis: {aws: {secret_access_key: §}}}",
    "exporters: {sapm: {access_token: §}}",
    "exporters: {signalfx: {access_token: §}}",
    "exporters: {logzio: {account_token: §}}",
    "exporters: {coralogix: {private_key: §}}",
    "exporters: {mezmo: {ingest_key: §}}",
    "exporters: {influxdb: {token: §}}",
    "exporters: {honeycombmarker: {api_key: §}}",
    "exporters: {alertmanager: {headers: {x: §}}}",
    "exporters: {pulsar: {auth: {token: {token: §}}}}",
    "exporters: {rabbitmq: {connection: {auth: {plain: {username: ada, password: §}}}}}",
    "exporters: {tencentcloud_logservice: {secret_id: x, secret_key: §}}",
    "extensions: {basicauth: {client_auth: {username: ada, password: §}}}",
    "extensions: {basicauth: {htpasswd: {inline: 'ada:§'}}}",
    "extensions: {bearertokenauth: {token: §}}",
    "extensions: {bearertokenauth: {tokens: [x, §]}}",
    "extensions: {oauth2client: {client_secret: §}}",
    "extensions: {oauth2client: {endpoint_params: {audience: §}}}",
    "extensions: {headers_setter: {headers: [{key: x-token, value: §}]}}",
    "extensions: {opamp: {server: {http: {headers: {Authorization: Bearer §}}}}}",
    "receivers: {mysql: {username: root, password: §}}",
    "receivers: {postgresql: {password: §}}",
    "receivers: {redis: {password: §}}",
    "receivers: {mongodb: {password: §}}",
    "receivers: {snowflake: {password: §}}",
    "receivers: {sqlquery: {datasource: 'host=db user=ada password=§ sslmode=disable'}}",
    "receivers: {sqlquery: {datasource: 'postgres://ada:§@db/shop'}}",
    "receivers: {snmp: {community: public, auth_password: §, privacy_password: §}}",
    "receivers: {googlecloudpubsub: {credentials: §}}",
    "receivers: {webhookevent: {required_header: {key: x-secret, value: §}}}",
    "receivers: {azureeventhub: {connection: 'Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=§'}}",
    "receivers: {prometheus: {config: {scrape_configs: [{basic_auth: {username: a, password: §}}]}}}",
    "receivers: {prometheus: {config: {scrape_configs: [{authorization: {credentials: §}}]}}}",
    "receivers: {prometheus: {config: {scrape_configs: [{params: {token: [§]}}]}}}",
    "receivers: {github: {auth: {token: §}}}",
    'processors: {transform: {log_statements: [\'set(attributes["token"], "§")\']}}',
    "processors: {attributes: {actions: [{key: api_key, value: §, action: insert}]}}",
    "processors: {resource: {attributes: [{key: secret, action: upsert, value: §}]}}",
    "service: {telemetry: {metrics: {readers: [{periodic: {exporter: {otlp: {headers: {x: §}}}}}]}}}",
    "service: {telemetry: {logs: {initial_fields: {password: §}}}}",
    "connectors: {x: {secret: {value: §}}}",
    "x: &a {password: §}\ny: *a\nz: {<<: *a}",
    "x:\n  password: |-\n    §",
    "x: &a §\nreceivers: {mysql: {password: *a}}",
    "receivers: {mysql: {password: '${env:PASSWORD:-§}'}}",
    "x: &a §\nexporters: {datadog: {api: {key: *a}}}",
    "x: &a {key: §}\nexporters: {datadog: {api: *a}}",
    "x: !<§> {password: §}",
    "x: &a [§]\nexporters: {splunk_hec: {token: *a}}",
    "receivers: {mysql: {password: '${env:USER}§${env:HOST}'}}",
)


def _reports(agent: Agent, text: str | bytes, **files: str) -> wire.ServerToAgent:
    message = agent.full()
    message.effective_config.config_map.config_map[""].body = text if isinstance(text, bytes) else text.encode()
    for name, body in files.items():
        message.effective_config.config_map.config_map[name].body = body.encode()
    return agent.send(message)


def _path(fleet: Fleet, host: int = 0) -> str:
    return f"{API}/fleets/{fleet.id}/instances/{fleet.instances()[host]['id']}"


def _shown(fleet: Fleet, expected: int = 200, host: int = 0, **params: str) -> dict[str, Any]:
    response = fleet.member.http.get(f"{_path(fleet, host)}/configuration", params=params)
    assert response.status_code == expected, response.text
    shown: dict[str, Any] = response.json()
    return shown


def _stored(fleet: Fleet) -> str:
    """All items of the fleet in the fleets table, packed texts unpacked."""
    found = []
    for page in aws.dynamodb().get_paginator("scan").paginate(TableName=settings().fleets_table):
        for item in page["Items"]:
            if fleet.id not in item["pk"]["S"]:
                continue
            found.append(repr({name: value for name, value in item.items() if name != "at"}))
            if "text" in item and "B" in item["text"]:
                found.append(zlib.decompress(item["text"]["B"]).decode())
    return "\n".join(found)


def _planted() -> Iterator[tuple[str, list[str]]]:
    """The lines of the corpus of secrets with what is secret in each, without card numbers, which nobody configures."""
    chance = random.Random(37)
    cards = False
    for line in (_CORPUS / "planted.txt").read_text().splitlines():
        if line.startswith("# "):
            cards = "Cards" in line
            continue
        filled = re.sub(r"\{([abdhmquv])(\d+)\}", lambda m: _some(chance, int(m[2]), m[1]), line)
        filled = re.sub(r"\{p\d*\}", lambda _: _some(chance, 5, "m") + _some(chance, 2, "d") + "Xk3", filled)
        filled = filled.replace("{basic}", "YWRhOmh1bnRlcjJ4")
        text = re.sub(r"\\\\|\\n|\\r", lambda m: {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}[m[0]], filled)
        secrets = [secret for secret in re.findall("«([^»]*)»", text) if not re.fullmatch(r"[\d\s,%+/\-A-D]+", secret)]
        if secrets and not cards:
            yield re.sub("[«»]", "", text), secrets


def _some(chance: random.Random, count: int, which: str) -> str:
    return "".join(chance.choice(_LETTERS[which]) for _ in range(count))


def test_each_secret_of_the_corpus_is_redacted_by_the_fleet_service_too() -> None:
    lines = list(_planted())
    missed = [text for text, secrets in lines if any(one in secret_forms.without_secrets(text) for one in secrets)]

    assert len(lines) > 250
    assert missed == []


def test_texts_that_look_like_secrets_stay() -> None:
    lines = (_CORPUS / "stays.txt").read_text().splitlines()
    texts = [line for line in lines if not line.startswith("# ")]
    changed = [text for text in texts if secret_forms.without_secrets(text) != text]

    assert len(changed) <= 4, changed


@pytest.mark.parametrize("secret", ["hunter2", "s3cr3t/with+signs=", "0123456789abcdef0123456789abcdef"])
def test_no_place_of_a_configuration_keeps_a_secret(secret: str) -> None:
    shown = {place: effective.redacted({"": place.replace("§", secret).encode()}) for place in _PLACES}

    assert len(_PLACES) > 50
    assert [place for place, redacted in shown.items() if secret in (redacted.text or "")] == []
    assert [place for place, redacted in shown.items() if secret_forms.REDACTED not in (redacted.text or "")] == []


def test_no_file_of_several_keeps_a_secret() -> None:
    text = "exporters: {otlphttp: {headers: {x-team: hunter2}}}"
    files = {f"default/{n}": f"{text}\nn: {n}".encode() for n in range(20)}

    assert "hunter2" not in (effective.redacted(files).text or "hunter2")


def test_planted_secrets_are_in_no_table_no_log_and_no_answer(
    observed: Fleet, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "pl4nted-s3cret"
    # Two of them: more than 60 messages at once are refused from each.
    agents = [without_group(observed, capabilities=EXTENSION, host_name=f"edge-{n}") for n in range(2)]
    agent = agents[0]
    for each in agents:
        each.start()
    for n, place in enumerate(_PLACES):
        _reports(agents[n % 2], place.replace("§", secret))
    _reports(agent, f"password: [{secret}", other=f"token: {secret}")
    _reports(agent, f"{secret}: \x00")
    _reports(agent, _PLACES[0].replace("§", secret))
    path = _path(observed)
    fleet_path = f"{API}/fleets/{observed.id}"
    asked = [f"{path}{name}" for name in ("", "/configuration", "/history", "/adoption")]
    asked += [f"{fleet_path}/{name}" for name in ("inventory", "inventory.csv", "configurations", "instances")]
    answers = [observed.member.http.get(each).text for each in asked]

    assert _shown(observed)["sha256"]
    assert secret not in _stored(observed)
    assert secret not in "".join(answers)
    assert secret not in "".join([*map(str, caplog.records), *caplog.messages, *capfd.readouterr()])


def test_a_configuration_is_shown_with_what_changed_in_it(observed: Fleet, now: Clock) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, _RUNNING)
    first = _shown(observed)
    assert yaml.safe_load(first["yaml"])["exporters"]["otlphttp"]["timeout"] == "5s"
    now.moves(minutes=5)
    _reports(agent, _RUNNING)
    assert _shown(observed)["at"] == first["at"]
    _reports(agent, _RUNNING.replace("5s", "9s"))

    second = _shown(observed)
    assert second["former"] == first["sha256"]
    assert [line for line in second["difference"].splitlines() if line[0] in "+-" and line[1] == " "] != []
    assert "9s" in second["difference"]
    earlier = _shown(observed, sha256=first["sha256"])
    assert (earlier["yaml"], earlier["former"]) == (first["yaml"], second["sha256"])
    history = observed.member.http.get(f"{_path(observed)}/history").json()["items"]
    changes = [event["configuration"] for event in history if event["event"] == "configuration_changed"]
    assert changes[:2] == [second["sha256"], first["sha256"]]
    assert _shown(observed, 404, sha256="0" * 64)["code"] == "no_configuration_reported"


def test_the_same_configuration_on_several_hosts_is_one_text_and_one_group(observed: Fleet) -> None:
    agents = [without_group(observed, capabilities=EXTENSION, host_name=f"edge-{n}") for n in range(3)]
    for agent in agents:
        agent.start()
        _reports(agent, _RUNNING)
    _reports(agents[2], _RUNNING.replace("5s", "6s"))

    groups = observed.member.http.get(f"{API}/fleets/{observed.id}/configurations").json()
    assert [(group["count"], sorted(group["hosts"])) for group in groups["items"]] == [
        (2, ["edge-0", "edge-1"]),
        (1, ["edge-2"]),
    ]
    assert "receiver/otlp" in groups["items"][0]["components"]
    assert groups["left_out"] == 0
    copy = without_group(observed, capabilities=EXTENSION, host_name="edge-0")
    copy.start()
    _reports(copy, _RUNNING)
    ends = {seen["id"][-6:] for seen in observed.instances() if seen["host_name"] == "edge-0"}
    named = {*(f"edge-0 (…{end})" for end in ends), "edge-1"}
    groups = observed.member.http.get(f"{API}/fleets/{observed.id}/configurations").json()
    assert {*groups["items"][0]["hosts"]} == named


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"a: [", "not YAML"),
        (b"\xff\xfe", "not YAML"),
        (b"[" * 5_000, "not YAML"),
        (b"a: b\n" * 200_000, "larger than 512 KB"),
        (b"&a [" + b"*a," * 60_000 + b"]", ""),
    ],
    ids=["broken", "not text", "deep", "large", "aliases"],
)
def test_a_configuration_that_cannot_be_read_is_said_to_be_so(observed: Fleet, body: bytes, reason: str) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, body)

    if reason:
        assert reason in _shown(observed, 404)["detail"]
    assert observed.state() == "running"


def test_several_files_of_a_bridge_are_one_text_with_their_names(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, "a: 1", **{"default/edge": "b: 2"})

    assert _shown(observed)["yaml"].count("---") == 1
    assert "# default/edge" in _shown(observed)["yaml"]


def test_configurations_of_managed_collectors_are_not_stored(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.start()
    _reports(agent, _RUNNING)

    assert "only those of observed fleets" in _shown(fleet, 404)["detail"]
    assert "otlp.example.com" not in _stored(fleet)


def test_reading_is_switched_off_for_a_group(observed: Fleet, fleet: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, _RUNNING)
    observed.change(reads_configurations=False)
    _reports(agent, _RUNNING.replace("5s", "7s"))

    assert "reads_configurations is false" in _shown(observed, 404)["detail"]
    assert "timeout: 7s" not in _stored(observed)
    observed.change(reads_configurations=True)
    _reports(agent, _RUNNING)
    assert _shown(observed)["yaml"]
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    refused = fleet.member.http.patch(path, json={"reads_configurations": False})
    assert (refused.status_code, "reads_configurations" in refused.text) == (422, True)


def test_an_inventory_lists_what_runs_where_and_holds_no_formula(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION, host_name='=HYPERLINK("https://example.com")')
    agent.start()
    _reports(agent, _RUNNING)
    agent.says_health(healthy=False, error="+1")

    path = f"{API}/fleets/{observed.id}/inventory"
    (listed,) = observed.member.http.get(path).json()["items"]
    assert (listed["distribution"], listed["collector_version"]) == ("otelcol-contrib", "0.139.0")
    assert listed["components"] == [
        *("exporter/otlphttp", "extension/health_check", "extension/opamp", "processor/transform", "receiver/otlp")
    ]
    response = observed.member.http.get(f"{path}.csv")
    assert response.headers["content-type"].startswith("text/csv")
    (row,) = csv.DictReader(io.StringIO(response.text))
    assert row["host_name"] == """'=HYPERLINK("https://example.com")"""
    assert row["state_message"] == "'+1"
    assert (row["id"], row["configuration"]) == (listed["id"], listed["configuration"])


def test_an_adopted_configuration_has_variables_for_what_was_redacted(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, _RUNNING)
    response = observed.member.http.get(f"{_path(observed)}/adoption")
    assert response.status_code == 200, response.text
    adopted = response.json()

    assert adopted["variables"] == [
        {
            "name": "OTLPHTTP_HEADERS_X_SCOPE_ORGID",
            "component_path": "exporters::otlphttp::headers::X-Scope-OrgID",
        }
    ]
    written = yaml.safe_load(adopted["yaml"])
    assert written["exporters"]["otlphttp"]["headers"] == {"X-Scope-OrgID": "${env:OTLPHTTP_HEADERS_X_SCOPE_ORGID}"}
    assert (written["extensions"], written["service"]["extensions"]) == ({"health_check": {}}, ["health_check"])
    assert adopted["accepts_remote_config"] is False
    assert "-    opamp" not in adopted["difference"]
    assert "opamp" in adopted["difference"]
    created = observed.member.http.post(
        f"{API}/configurations", json={"name": adopted["name"], "yaml": adopted["yaml"]}
    )
    assert created.status_code == 201, created.text
    assert json.dumps(adopted)


def test_a_component_without_settings_stays_one(observed: Fleet) -> None:
    """Without a value in a mapping of one line, a component has none: it has no empty text."""
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    text = "receivers: {nop: }\nexporters: {debug: , nop: &n {x: }}\nextensions: {y: *n}\n"
    _reports(agent, text)

    adopted = observed.member.http.get(f"{_path(observed)}/adoption").json()
    assert yaml.safe_load(adopted["yaml"]) == yaml.safe_load(text)
    # The collector takes this for an empty text, and Python does not.
    assert "! ''" not in adopted["yaml"]


def test_an_agent_that_accepts_configurations_is_told_to_be_moved(observed: Fleet) -> None:
    agent = without_group(observed)
    agent.start()
    _reports(agent, _RUNNING)

    adopted = observed.member.http.get(f"{_path(observed)}/adoption").json()
    assert any("accept" in note for note in adopted["notes"])


def test_the_page_of_an_observed_collector_shows_what_it_reports_to_run(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    _reports(agent, _RUNNING + "# \n" + "x: '<script>alert(1)</script>'\n")
    _reports(agent, _RUNNING)
    visitor = member_at(app, observed.member.organization_id)
    path = f"/organizations/{observed.member.organization_id}/fleets/{observed.id}/collectors"
    shown = visitor.get(f"{path}/{observed.instances()[0]['id']}").text

    assert "What it reports to run" in shown
    assert "processor/transform" in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert(1)" not in shown
    assert '/adopt">Make it a draft' in shown
    _reports(agent, "a: [")
    assert "is not YAML" in visitor.get(f"{path}/{observed.instances()[0]['id']}").text


def test_the_page_that_adopts_shows_the_draft_its_variables_and_the_difference(observed: Fleet) -> None:
    agent = without_group(observed, capabilities=EXTENSION)
    agent.start()
    visitor = member_at(app, observed.member.organization_id)
    pages = f"/organizations/{observed.member.organization_id}/fleets/{observed.id}"
    path = f"{pages}/collectors/{observed.instances()[0]['id']}/adopt"
    _reports(agent, "a: [")
    refused = visitor.get(path)
    assert (refused.status_code, "is not YAML" in refused.text) == (404, True)

    _reports(agent, _RUNNING)
    adopt = visitor.get(path).text
    assert f'action="/organizations/{observed.member.organization_id}/configurations/new"' in adopt
    assert "Difference to what it runs" in adopt
    assert "<code>OTLPHTTP_HEADERS_X_SCOPE_ORGID</code> at <code>exporters::otlphttp::headers::X-Scope-OrgID" in adopt
    assert "What is wrong with what they run" in visitor.get(pages).text


def test_the_texts_go_with_their_fleet(observed: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_texts, "_AT_ONCE", 2)
    monkeypatch.setattr(stored_texts, "MOST_DELETED", 5)
    for n in range(6):
        agent = without_group(observed, capabilities=EXTENSION, host_name=f"web-{n}")
        agent.start()
        _reports(agent, f"receivers: {{nop/{n}: }}")
        agent.leaves()
    prefix = (keys.of_fleet(observed.id), keys.EFFECTIVE)
    # All began with the same text.
    assert len(list(table.each(*prefix))) == 7

    assert observed.member.http.delete(f"{API}/fleets/{observed.id}").status_code == 204

    assert len(list(table.each(*prefix))) == 2
