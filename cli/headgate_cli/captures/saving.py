"""Saving what was captured as a named test of a version."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from headgate_cli.api import Api, Entity
from headgate_cli.configurations import lookup
from headgate_cli.errors import Failed
from headgate_cli.output import say
from headgate_cli.runs import follow
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import CaptureOut, RunOut, VersionDetail
from headgate_cli.untrusted import one_line, quoted

_SECONDS: Final = 5


def target(api: Api, capture: CaptureOut, configuration: str, n: int | None, *, new_version: bool) -> tuple[str, int]:
    """The configuration and the version that the test is to belong to; with `new_version`, a draft that is made now."""
    asked, n = lookup.one_version(configuration, n)
    configuration_id = lookup.find(api, asked) if asked else capture["configuration_id"]
    latest = lookup.latest(api, configuration_id)
    version = n or latest.version
    if not new_version:
        return configuration_id, version
    content = lookup.text_of(api, latest, version).text
    path = f"/configurations/{configuration_id}/versions"
    read = latest.etag if version == latest.version else ""
    return configuration_id, api.create(VersionDetail, path, {"yaml": content}, if_match=read)["n"]


def save(api: Api, capture: CaptureOut, sample: str, name: str, configuration_id: str, n: int) -> Entity:
    """Run the sample through the version, and save a test that expects what came out. Raises Failed."""
    version = f"/configurations/{configuration_id}/versions/{n}"
    if lookup.version(api, configuration_id, n)["status"] != "draft":
        raise Failed(f"version {n} is published, and its tests stay as they are: add --new-version for a draft")
    test = {"sample": sample, "target_pipeline": capture["pipeline"], "signal_type": capture["signal_type"]}
    test |= {"sample_format": "otlp"}
    asked = {**test, "configuration_id": configuration_id, "version_number": n, "duration_seconds": _SECONDS}
    run = follow.follow(api, api.create(RunOut, "/testing/runs", asked)["id"])
    if run["status"] != "Success":
        why = quoted(run["stderr"][-500:])
        raise Failed(f"the run of the sample ended with {one_line(run['status'])}: {why}")
    say(f"What {one_line(capture['pipeline'])} makes of the sample now is what the test expects")
    expected = api.text(f"/testing/runs/{run['id']}/output")
    return api.put(PlainAnswer, f"{version}/tests/{quote(name, safe='')}", {**test, "expected": expected})
