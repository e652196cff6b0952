"""Collectors beside the default one as on AWS: published in a bucket, asked for by a signed link, fetched and verified.

moto stands in for S3, over HTTP; the checker's function and the test runner are the real ones. Where the collector is
the real one, nothing is installed, so that it comes from the bucket.
"""

import http.client
import json
import logging
import os
import subprocess
from datetime import datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import zstandard

from headgate import checker
from headgate.checker import CheckerNotStarted, CheckerUnreachable, CollectorNotFetched, NotInstalled, published
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.runs import runner
from headgate.runs.model import CASE, Run
from headgate.storage import objects
from headgate_engine.collectors import service as collectors
from headgate_engine.rules.engine import Prepared, Sample
from headgate_engine.testing.cases import Ready
from headgate_engine.testing.model import Case
from headgate_engine.testing.outcome import CollectorOutcome
from headgate_local import aws_server
from tests.support import faulty
from tests.support.askers import ASKER
from tests.support.lambda_invocations import MAX_BYTES
from tests.support.published_here import BUCKET, DESCRIPTION, SAYS, Aws, here, keys, second
from tests.support.runs import run_of
from tests.support.second_version import needs_second_version, older_and_newer

__all__ = ["here", "second"]

pytestmark = [pytest.mark.contract, pytest.mark.collector]

BOTH_HAVE = (
    "receivers: {filelog: {include: [/a]}}\nexporters: {debug: }\n"
    "service: {pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}\n"
)
# The sandbox has no sockets.
TO_RUN = BOTH_HAVE.replace("service: {", "service: {telemetry: {metrics: {level: none}}, ")
REAL = settings().collector_version
OLDER, NEWER = older_and_newer()
REAL_BINARY = Path(settings().collectors_dir, REAL, "otelcol-contrib")


def get(url: str) -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", f"{parts.path}?{parts.query}")
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_same_binary_is_not_uploaded_again_and_its_descriptor_comes_last(here: Aws, tmp_path: Path) -> None:
    binary = faulty.install(tmp_path / "second")
    puts: list[str] = []
    here.s3.meta.events.register("before-call.s3.PutObject", lambda params, **_: puts.append(params["url_path"]))

    assert [here.publish(binary, DESCRIPTION) for _ in range(2)] == [True, False]

    folder = f"/collectors/{SAYS}/{published.architecture()}"
    assert [one.removeprefix(f"/{BUCKET}") for one in puts] == [
        f"{folder}/otelcol-contrib.zst",
        f"{folder}/collector.json",
    ]


def test_another_build_of_a_version_replaces_the_one_before_at_its_next_question(second: Aws, tmp_path: Path) -> None:
    second.ask(SAYS)
    newer = faulty.install(tmp_path / "newer", "reduced")

    assert second.publish(newer, DESCRIPTION)
    published.forget()

    assert second.ask(SAYS)["echo"] == "answered"
    hashes = {one["collector"]["binary_sha256"] for one in second.payloads}
    assert len(hashes) == 2


def test_a_build_that_was_replaced_since_its_descriptor_was_read_is_asked_for_anew(second: Aws, tmp_path: Path) -> None:
    published.source(SAYS, 60)
    assert second.publish(faulty.install(tmp_path / "newer", "reduced"), DESCRIPTION)

    assert second.ask(SAYS)["echo"] == "answered"
    assert len({one["collector"]["sha256"] for one in second.payloads}) == 2


def test_a_second_version_answers_and_is_fetched_once(second: Aws, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="headgate")

    assert [second.ask(SAYS)["echo"] for _ in range(3)] == ["answered"] * 3

    assert caplog.text.count("collector_fetched") == 1
    links = [one["collector"]["url"] for one in second.payloads]
    secrets = {dict(part.split("=", 1) for part in urlsplit(one).query.split("&"))["X-Amz-Signature"] for one in links}
    assert [one for one in secrets if one in caplog.text] == []


def test_the_default_version_and_the_ones_that_are_installed_come_with_no_link(second: Aws) -> None:
    for version in (None, faulty.VERSION):
        second.function.call("any", {"echo": "answered"}, asker=ASKER, version=version)

    assert ["collector" in one for one in second.payloads] == [False, False]


def test_a_link_is_of_one_object_for_a_minute(second: Aws) -> None:
    source = published.source(SAYS, 60)
    assert source is not None
    url = str(source["url"])
    other = url.replace("otelcol-contrib.zst", "collector.json")

    assert (get(url), get(other)) == (200, 403)
    assert "X-Amz-Expires=60&" in url + "&"
    with pytest.MonkeyPatch.context() as later:
        later.setattr(aws_server, "datetime", Later)
        assert get(url) == 403


class Later:
    """Two minutes from now."""

    @staticmethod
    def now(zone: tzinfo) -> datetime:
        return datetime.now(zone) + timedelta(minutes=2)


def test_a_link_that_has_expired_is_an_outage_and_nothing_runs(second: Aws) -> None:
    # Its descriptor is remembered for a minute.
    assert published.source(SAYS, 60)
    with pytest.MonkeyPatch.context() as later:
        later.setattr(aws_server, "datetime", Later)
        with pytest.raises(CollectorNotFetched, match="S3 answered 403"):
            second.ask(SAYS)
    with pytest.raises(NotInstalled):
        checker.of_this_process().pids(SAYS)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sha256": "0" * 64}, "its SHA-256 is not the announced one"),
        ({"binary_sha256": "0" * 64}, "its SHA-256 is not the announced one"),
        ({"size": 1000}, "it is larger than announced"),
        ({"binary_size": 1000}, "it is larger than announced when it is unpacked"),
    ],
)
def test_an_object_that_is_not_the_published_one_is_an_outage(
    second: Aws, change: dict[str, object], reason: str
) -> None:
    alter_descriptor(second, **change)

    with pytest.raises(CollectorNotFetched, match=reason):
        second.ask(SAYS)
    with pytest.raises(NotInstalled):
        checker.of_this_process().pids(SAYS)


def alter_descriptor(here: Aws, **change: object) -> None:
    (key,) = [one for one in keys(here.s3) if one.endswith("collector.json")]
    descriptor = json.loads(objects.read(key))
    objects.write(key, json.dumps({**descriptor, **change}).encode())
    published.forget()


@pytest.mark.parametrize("change", [{"version": "9.9.8"}, {"size": -1}, {"sha256": "x"}, {"describe": None}])
def test_a_descriptor_that_is_malformed_is_an_outage(second: Aws, change: dict[str, object]) -> None:
    alter_descriptor(second, **change)

    with pytest.raises(CheckerUnreachable, match="is malformed; publish it again"):
        second.ask(SAYS)
    assert second.payloads == []
    # The list has it as one that cannot be used, beside those that can.
    listed = {one.version: one.unusable for one in second.function.described(asker=ASKER)}
    assert listed[faulty.VERSION] == ""
    assert listed[SAYS].endswith("is malformed; publish it again")


def test_a_collector_that_is_published_under_another_number_is_not_asked(here: Aws, tmp_path: Path) -> None:
    here.publish(faulty.install(tmp_path / "second"), {**DESCRIPTION, "version": "9.9.9"})

    with pytest.raises(CheckerNotStarted, match=r"says that it is version 0\.0\.0"):
        here.ask("9.9.9")


@pytest.mark.parametrize("left", [[], ["otelcol-contrib.zst"]], ids=["nothing", "the binary alone"])
def test_a_version_is_not_there_before_it_is_whole(second: Aws, left: list[str]) -> None:
    for key in keys(second.s3):
        if key.rpartition("/")[2] not in left:
            second.s3.delete_object(Bucket=BUCKET, Key=key)

    with pytest.raises(NotInstalled, match=r"Collector version 0\.0\.0 is not installed; installed: 1\.2\.3"):
        second.ask(SAYS)


def test_a_version_that_the_deployment_does_not_name_is_not_there(second: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", "")
    settings.cache_clear()

    with pytest.raises(NotInstalled):
        second.ask(SAYS)
    assert second.function.installed(asker=ASKER) == (faulty.VERSION,)


def test_what_is_published_is_listed_without_being_fetched(second: Aws, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    listed = collectors.installed(asker=ASKER)

    assert [(one.version, one.default, one.reduced, one.source) for one in listed] == [
        (faulty.VERSION, True, False, "built"),
        (SAYS, False, True, "built"),
    ]
    assert second.function.installed(asker=ASKER) == (SAYS, faulty.VERSION)
    assert "collector_fetched" not in caplog.text


def test_a_question_that_is_stored_has_no_link_in_it(second: Aws) -> None:
    stored: list[bytes] = []
    write = objects.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "write", lambda key, body: (stored.append(body), write(key, body)))
        answer = second.ask(SAYS, padding=os.urandom(MAX_BYTES).hex())

    assert answer["echo"] == "answered"
    assert [b"X-Amz-Signature" in one or b'"collector"' in one for one in stored] == [False]
    assert set(second.payloads[-1]) == {"url", "collector"}


def test_the_real_collector_is_fetched_and_gives_its_verdict(
    here: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_the_real_one(here, tmp_path, monkeypatch)

    answers = [
        here.function.call("validate", {"yaml": BOTH_HAVE, "env": {}}, asker=ASKER, version=REAL) for _ in range(2)
    ]

    assert [one["valid"] for one in answers] == [True, True]


# On each change, the test before fetches a real collector, and a stand-in answers beside the default one.
@pytest.mark.full
@needs_second_version
def test_two_real_collectors_are_fetched_and_answer_side_by_side(
    here: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the newer one renamed is a name that the older one does not know."""
    publish_the_real_one(here, tmp_path, monkeypatch, OLDER)
    publish_the_real_one(here, tmp_path, monkeypatch, NEWER)
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", f"{OLDER},{NEWER}")
    settings.cache_clear()
    published.forget()
    texts = [BOTH_HAVE.replace("filelog", name) for name in ("filelog", "file_log")]

    verdicts = [
        (here.function.call("validate", {"yaml": text, "env": {}}, asker=ASKER, version=version)["valid"])
        for text in texts
        for version in (OLDER, NEWER, OLDER, NEWER)
    ]

    assert verdicts == [True, True, True, True, False, True, False, True]
    assert here.function.call("describe", {}, asker=ASKER, version=NEWER)["version"] == NEWER


def publish_the_real_one(here: Aws, folder: Path, monkeypatch: pytest.MonkeyPatch, version: str = REAL) -> None:
    binary = folder / f"real-{version}" / "otelcol-contrib"
    binary.parent.mkdir()
    binary.symlink_to(REAL_BINARY.parents[1].joinpath(version, "otelcol-contrib").resolve())
    binary.with_suffix(".zst").write_bytes(compressed(binary.resolve()))
    here.publish(binary, {**DESCRIPTION, "version": version})
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", version)
    settings.cache_clear()


@cache
def compressed(binary: Path) -> bytes:
    # Fast, since nothing here is about its size.
    return zstandard.ZstdCompressor(level=-5).compress(binary.read_bytes())


def a_run(version: str) -> Run:
    return run_of(collector_version=version, duration_seconds=1, started_at=clock.now())


def run_the_test_runner(run: Run, folder: Path) -> tuple[CollectorOutcome, str]:
    """As Fargate starts it: with the link of its task and nothing else, and no collector of that version."""
    case = Case(CASE, TO_RUN, "logs", "logs", Sample("", is_otlp=False), run.collector_version, 1)
    ready = {case.id: Ready(id=case.id)}
    prepared = Prepared(signals=["logs"], collector_yaml=TO_RUN, input="", records=0, notes=[])
    runner.put_cases(run, list(ready.values()), [(case, prepared)])
    temporary = folder / "temporary"
    temporary.mkdir()
    variables = {
        "HEADGATE_RUN_TASK_URL": runner.give(run, [run.collector_version]),
        "HEADGATE_COLLECTORS_DIR": str(folder / "nothing"),
        "TMPDIR": str(temporary),
    }
    done = subprocess.run(
        [REAL_BINARY, "sandbox"], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, "Signature" in done.stderr) == (0, False), done.stderr
    assert list(temporary.iterdir()) == []
    left = runner.results(run, [case], ready)[case.id]
    return left.outcome, left.stderr


@pytest.mark.full
def test_the_test_runner_fetches_the_runs_collector(here: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_the_real_one(here, tmp_path, monkeypatch)

    outcome, stderr = run_the_test_runner(a_run(REAL), tmp_path)

    assert (outcome.ran, outcome.why) == (True, ""), stderr


def test_the_test_runner_does_not_start_another_collector(
    here: Aws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.publish(faulty.install(tmp_path / "second"), {**DESCRIPTION, "version": REAL})
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSIONS", REAL)
    settings.cache_clear()
    alter_descriptor(here, binary_sha256="0" * 64)

    outcome, stderr = run_the_test_runner(a_run(REAL), tmp_path)

    assert (outcome.executed, outcome.why, stderr) == (
        False,
        f"collector {REAL} could not be fetched: its SHA-256 is not the announced one",
        "",
    )


def test_a_task_of_the_default_version_has_no_link_to_a_collector(second: Aws) -> None:
    tasks = []
    for version in (faulty.VERSION, SAYS):
        run = a_run(version)
        runner.give(run, [run.collector_version])
        tasks.append(json.loads(objects.read(f"runs/{run.id}/task.json")))

    assert [list(task["collectors"]) for task in tasks] == [[], [SAYS]]
    assert set(tasks[1]["collectors"][SAYS]) == {"version", "url", "sha256", "size", "binary_sha256", "binary_size"}
