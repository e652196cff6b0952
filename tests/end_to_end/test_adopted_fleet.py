"""Collectors that somebody else runs, from observed to managed: the official supervisor is taken over where it runs."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support.fleet_host import FLOWING, LOG, until
from tests.support.installing import installs
from tests.support.local_service import LocalService
from tests.support.official_supervisor import official_supervisor
from tests.support.ports import free_port
from tests.support.programs import cached_programs

__all__ = ["installs"]

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]


def _ask(api: httpx.Client, method: str, path: str, body: object = None) -> Any:
    answer = api.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


@contextmanager
def _collector(config: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """The plain program, until the block ends."""
    with subprocess.Popen([cached_programs()["otelcol-contrib"], "--config", config], env=environment) as process:
        try:
            yield
        finally:
            process.terminate()


def test_collectors_of_others_are_observed_adopted_and_managed_where_they_run(
    installs: LocalService, tmp_path: Path
) -> None:
    api, began = installs.client(), time.monotonic()
    fleet = _ask(api, "POST", "/fleets", {"label": "found", "type": "server-supervisor", "mode": "observed"})["id"]
    composed = _ask(api, "POST", f"/fleets/{fleet}/observe", {"client": "supervisor"})
    file = yaml.safe_load(composed["text"])
    (port, output), local = (free_port(), tmp_path / "output.jsonl"), tmp_path / "local.yaml"
    local.write_text(FLOWING.format(port=port, output=output, step="own"))

    def instances() -> dict[str, Any]:
        items = _ask(api, "GET", f"/fleets/{fleet}/instances")["items"]
        return {"takes" if seen["id"] in taking else "stays": seen for seen in items}

    def flows_as(step: str) -> bool:
        try:
            httpx.post(f"http://127.0.0.1:{port}/v1/logs", json=LOG, timeout=10)
        except httpx.TransportError:
            return False
        return output.exists() and f'"{step}"' in output.read_text()

    taking: set[str] = set()
    extension = tmp_path / "extension.yaml"
    text = yaml.safe_load(_ask(api, "POST", f"/fleets/{fleet}/observe", {"client": "extension"})["text"])
    text |= {"receivers": {"nop": {}}, "exporters": {"nop": {}}}
    text["service"] |= {
        "telemetry": {"metrics": {"level": "none"}},
        "pipelines": {"logs": {"receivers": ["nop"], "exporters": ["nop"]}},
    }
    extension.write_text(yaml.safe_dump(text))
    token = {"HEADGATE_FLEET_TOKEN": composed["token"]}
    capabilities = file["capabilities"] | {"accepts_remote_config": True, "reports_remote_config": True}
    with (
        official_supervisor(tmp_path, file["server"], **capabilities) as host,
        _collector(extension, token),
    ):
        host.file["agent"]["config_files"] = [str(local)]
        host.start(**token)
        until(lambda: flows_as("own"), host.log)

        def reported() -> bool:
            items = _ask(api, "GET", f"/fleets/{fleet}/instances")["items"]
            return [seen["state"] for seen in items] == ["running", "running"]

        until(reported, host.log)
        print("observed after", round(time.monotonic() - began, 1))
        check = _ask(api, "POST", f"/fleets/{fleet}/mode-check", {"mode": "managed"})
        assert (check["taking"], check["staying"]) == (1, 1)
        taking |= {seen["id"] for seen in check["hosts"] if seen["accepts_remote_config"]}
        health = _ask(api, "GET", f"/fleets/{fleet}/instances/{min(taking)}")["health"]
        assert ["pipeline:logs", "receiver:otlp"] in [part["path"] for part in health["parts"]]

        adopted = _ask(api, "GET", f"/fleets/{fleet}/instances/{min(taking)}/adoption")
        assert adopted["accepts_remote_config"]
        # What a path of this test looks like may be redacted: a person writes it again.
        draft = yaml.safe_load(adopted["yaml"])
        draft["exporters"]["file"]["path"] = str(output)
        body = {"name": "adopted", "yaml": yaml.safe_dump(draft)}
        configuration = _ask(api, "POST", "/configurations", body)["id"]
        _ask(api, "POST", f"/configurations/{configuration}/versions/1/publish")
        assert _ask(api, "PUT", f"/fleets/{fleet}/mode", {"mode": "managed"})["mode"] == "managed"
        group = instances()["takes"]["deployment_id"]
        path = f"/fleets/{fleet}/deployments/{group}"
        assert instances()["takes"]["state"] == "running"

        body = {"configuration_id": configuration, "version_number": 1}
        warnings = _ask(api, "POST", f"{path}/assignment-check", body)["warnings"]
        assert [each["message"] for each in warnings if each["code"] == "differs_from_running"] == []

        def rolls_out(number: int) -> None:
            strategy = {"steps": [{"percent": 100, "soak_seconds": 5}]}
            body = {"configuration_id": configuration, "version_number": number, "strategy": strategy}
            rollout = _ask(api, "POST", f"{path}/rollouts", body)["id"]

            def ended() -> bool:
                shown = _ask(api, "GET", f"{path}/rollouts/{rollout}")
                assert shown["status"] in ("in_progress", "completed"), f"{shown}\n{host.log()}"
                return bool(shown["status"] == "completed")

            until(ended, lambda: f"{_ask(api, 'GET', f'{path}/rollouts/{rollout}')}\n{host.log()}")
            assert instances()["takes"]["running"]["version_number"] == number

        delivered = output.read_text().count('"own"')
        rolls_out(1)
        until(lambda: flows_as("own") and output.read_text().count('"own"') > delivered, host.log)
        print("managed after", round(time.monotonic() - began, 1))
        draft["processors"]["attributes"]["actions"][0]["value"] = "second"
        _ask(api, "POST", f"/configurations/{configuration}/versions", {"yaml": yaml.safe_dump(draft)})
        _ask(api, "POST", f"/configurations/{configuration}/versions/2/publish")
        rolls_out(2)
        until(lambda: flows_as("second"), host.log)
        assert instances()["takes"]["state"] == "applied"
        # The extension reports every 30 seconds over HTTP, which is rare for the intervals of this service.
        assert instances()["stays"]["state"] in ("running", "silent")
