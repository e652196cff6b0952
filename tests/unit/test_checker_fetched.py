"""Fetching a collector: verified or refused, once for all who ask, evicted when nobody uses it, and never swapped."""

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from checker.app import handler
from headgate import checker
from headgate.checker import fetched
from headgate.checker.fetched import Fetched, Source
from headgate_engine.checker import verified_files
from headgate_engine.checker.errors import CollectorNotFetched
from headgate_engine.checker.spawn import spawn
from tests.support import bucket_stand_in, faulty
from tests.support.askers import ASKER
from tests.support.bucket_stand_in import Bucket

PROGRAM = b"#!/bin/sh\n" + bytes(range(256)) * 4096
SECRET = "X-Amz-Signature=c0ffee"
# What the fault injector says that it is.
SAYS = "0.0.0"


@pytest.fixture
def collectors(tmp_path: Path) -> Iterator[Fetched]:
    folder = tmp_path / "fetched"
    folder.mkdir()
    made = Fetched(folder)
    yield made
    made.close()
    assert list(folder.iterdir()) == []


def published(bucket: Bucket, version: str, program: bytes = PROGRAM) -> Source:
    """Have the bucket serve a collector. Returns what is announced of it."""
    packed = zstandard.compress(program)
    path = f"/bucket/collectors/{version}/x86_64/otelcol-contrib.zst"
    bucket.answers[path] = (200, {}, packed)
    hashes = (hashlib.sha256(one).hexdigest() for one in (packed, program))
    return Source(version, f"{bucket.url}{path}?{SECRET}", next(hashes), len(packed), next(hashes), len(program))


def content(collectors: Fetched, version: str) -> bytes | None:
    binary = collectors.binary(version)
    return None if binary is None else binary.read_bytes()


def files_without_a_name() -> int:
    return sum(
        one.is_symlink() and one.readlink().name.endswith("(deleted)") for one in Path("/proc/self/fd").iterdir()
    )


def test_a_collector_is_fetched_once_and_has_no_name_and_no_writer(bucket: Bucket, collectors: Fetched) -> None:
    source = published(bucket, "1.0.0")

    for _ in range(2):
        with collectors.using(source):
            assert content(collectors, "1.0.0") == PROGRAM

    binary = collectors.binary("1.0.0")
    assert binary is not None
    status = binary.stat()
    assert (status.st_nlink, status.st_mode & 0o777, len(bucket.asked)) == (0, 0o555, 1)
    assert verified_files.is_unchanged(binary)


def test_who_asks_for_the_same_one_at_once_waits_for_one_fetch(bucket: Bucket, collectors: Fetched) -> None:
    source = published(bucket, "1.0.0")

    def ask(_: int) -> bytes | None:
        with collectors.using(source):
            return content(collectors, "1.0.0")

    with ThreadPoolExecutor(8) as askers:
        assert set(askers.map(ask, range(8))) == {PROGRAM}
    assert len(bucket.asked) == 1


OTHER = zstandard.compress(PROGRAM[:-1] + b"x")
# What is announced instead of what the bucket has, what the bucket answers instead of it, and the error's words.
REFUSED: dict[str, tuple[Callable[[Source], Source], bucket_stand_in.Reply | None, str]] = {
    "another object": (lambda it: it, (200, {}, OTHER), "SHA-256|larger"),
    "another hash": (lambda it: replace(it, sha256="0" * 64), None, "its SHA-256 is not the announced one"),
    "another hash of the binary": (
        lambda it: replace(it, binary_sha256="0" * 64),
        None,
        "its SHA-256 is not the announced one",
    ),
    "larger than announced": (lambda it: replace(it, size=10), None, "larger than announced"),
    "a bomb": (lambda it: replace(it, binary_size=1000), None, "larger than announced when it is unpacked"),
    "smaller when unpacked": (lambda it: replace(it, binary_size=len(PROGRAM) + 1), None, "smaller than announced"),
    "a link that has expired": (lambda it: it, (403, {}, b"<Error/>"), "S3 answered 403"),
    "no object": (lambda it: it, (404, {}, b"<Error/>"), "S3 answered 404"),
    "a redirect": (lambda it: it, (307, {"Location": "/latest/meta-data"}, b""), "S3 answered 307"),
    "an outage": (lambda it: it, (503, {}, b""), "S3 answered 503"),
    "not compressed": (lambda it: replace(it, size=5), (200, {}, b"hello"), "cannot be unpacked"),
    "broken off": (lambda it: it, (200, {"Content-Length": "9"}, b"\x28\xb5\x2f\xfd"), "broke off"),
}


@pytest.mark.parametrize(("announced", "answer", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_the_announced_collector_is_refused_and_leaves_nothing(
    bucket: Bucket,
    collectors: Fetched,
    announced: Callable[[Source], Source],
    answer: bucket_stand_in.Reply | None,
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    source = published(bucket, "1.0.0")
    (path,) = bucket.answers
    if answer is not None:
        bucket.answers[path] = answer
    before = files_without_a_name()

    with pytest.raises(CollectorNotFetched, match=reason) as refused, collectors.using(announced(source)):
        pytest.fail("there is no such collector")

    assert collectors.versions() == ()
    assert files_without_a_name() == before
    assert {one.partition("?")[0] for one in bucket.asked} == {path}
    assert "c0ffee" not in caplog.text + str(refused.value) + repr(source)


def test_an_answer_that_broke_off_is_asked_for_once_more(bucket: Bucket, collectors: Fetched) -> None:
    source = published(bucket, "1.0.0")
    (path,) = bucket.answers
    whole = bucket.answers[path]
    bucket.answers[path] = (503, {}, b"")
    bucket.while_asked = lambda: bucket.answers.update({path: whole}) if len(bucket.asked) == 2 else None

    with collectors.using(source):
        assert content(collectors, "1.0.0") == PROGRAM
    assert len(bucket.asked) == 2


def test_what_takes_too_long_is_given_up(bucket: Bucket, collectors: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "_SECONDS", 0)

    with (
        pytest.raises(CollectorNotFetched, match="it took longer than 0 s"),
        collectors.using(published(bucket, "1.0.0")),
    ):
        pytest.fail("it was fetched")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/collectors/1.0.0/x86_64/otelcol-contrib.zst?a",
        "http://169.254.169.254/collectors/1.0.0/x86_64/otelcol-contrib.zst?a",
        "file:///collectors/1.0.0/x86_64/otelcol-contrib.zst?a",
        "{bucket}/bucket/collectors/1.0.1/x86_64/otelcol-contrib.zst?a",
        "{bucket}/bucket/runs/run_1/output?a",
        "{bucket}/bucket/runs/run_1/output?/collectors/1.0.0/x86_64/otelcol-contrib.zst?",
        "{bucket}/bucket/collectors/1.0.0/../../x/otelcol-contrib.zst?a",
        "http://[/collectors/1.0.0/x86_64/otelcol-contrib.zst?a",
    ],
)
def test_a_collector_is_fetched_from_its_object_and_from_nowhere_else(
    bucket: Bucket, collectors: Fetched, url: str
) -> None:
    source = replace(published(bucket, "1.0.0"), url=url.format(bucket=bucket.url))

    with pytest.raises(CollectorNotFetched, match="could not be fetched"), collectors.using(source):
        pytest.fail("it was fetched")
    assert bucket.asked == []


@pytest.mark.parametrize(
    "change",
    [
        {"version": "../1.0.0"},
        {"version": 5},
        {"sha256": "0" * 63},
        {"sha256": "G" * 64},
        {"binary_sha256": None},
        {"size": 0},
        {"size": fetched.MAX_COMPRESSED_BYTES + 1},
        {"binary_size": fetched.MAX_BYTES + 1},
        {"binary_size": "many"},
        {"url": None},
    ],
)
def test_a_message_that_does_not_say_where_a_collector_is_is_refused(change: dict[str, object]) -> None:
    hashes = {"sha256": "0" * 64, "binary_sha256": "0" * 64}
    whole: dict[str, object] = {"version": "1.0.0", "url": "u", "size": 1, "binary_size": 1, **hashes}
    assert Source.of(whole).version == "1.0.0"

    with pytest.raises(ValueError, match="does not say where"):
        Source.of({**whole, **change})


def room_for(monkeypatch: pytest.MonkeyPatch, collectors: Fetched, programs: int) -> None:
    """The folder has room for so many: what a file without a name takes is not seen there."""
    left = fetched._ROOM_FOR_OTHERS
    monkeypatch.setattr(fetched, "_free_bytes", lambda _: left + len(PROGRAM) * (programs - len(collectors.versions())))


def test_the_one_that_was_not_used_for_longest_is_evicted_when_there_is_no_room(
    bucket: Bucket, collectors: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Path] = []
    collectors.end_processes = ended.append
    sources = [published(bucket, f"1.0.{number}") for number in range(3)]
    room_for(monkeypatch, collectors, 2)
    for source in (sources[0], sources[1], sources[0]):
        with collectors.using(source):
            pass
    evicted = collectors.binary("1.0.1")
    ended.clear()

    with collectors.using(sources[2]):
        assert collectors.versions() == ("1.0.0", "1.0.2")
    # Its processes end, for otherwise the file would go on occupying its room.
    assert ended[0] == evicted
    with collectors.using(sources[1]):
        assert collectors.versions() == ("1.0.2", "1.0.1")


def test_one_that_is_in_use_is_not_evicted(
    bucket: Bucket, collectors: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Path] = []
    collectors.end_processes = ended.append
    first, second = published(bucket, "1.0.0"), published(bucket, "1.0.1")
    room_for(monkeypatch, collectors, 1)

    with collectors.using(first):
        with pytest.raises(CollectorNotFetched, match="MB are needed under"), collectors.using(second):
            pytest.fail("there was no room")
        assert (content(collectors, "1.0.0"), ended) == (PROGRAM, [])
    with collectors.using(second):
        assert collectors.versions() == ("1.0.1",)


def test_a_full_disk_leaves_nothing(bucket: Bucket, collectors: Fetched) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    source = published(bucket, "1.0.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetched._Verified, "write", fail)
        with pytest.raises(CollectorNotFetched, match="No space left on device"), collectors.using(source):
            pytest.fail("there was no room")
    assert collectors.versions() == ()


def test_another_build_of_the_same_version_takes_its_place(bucket: Bucket, collectors: Fetched) -> None:
    with collectors.using(published(bucket, "1.0.0")):
        pass
    with collectors.using(published(bucket, "1.0.0", PROGRAM + b"newer")):
        assert content(collectors, "1.0.0") == PROGRAM + b"newer"


def test_a_file_that_was_written_to_is_noticed_and_fetched_again(bucket: Bucket, collectors: Fetched) -> None:
    """As root may, whom no mode holds back; nobody else can open it for writing."""
    source = published(bucket, "1.0.0")
    with collectors.using(source):
        binary = collectors.binary("1.0.0")
        assert binary is not None
        if os.geteuid() != 0:
            with pytest.raises(PermissionError), binary.open("r+b"):
                pytest.fail("it can be written to")
            binary.chmod(0o755)
        else:
            with binary.open("r+b") as file:
                file.write(b"#!/bin/xx")
            os.utime(binary, ns=(0, 0))
        assert not verified_files.is_unchanged(binary)
        with pytest.raises(OSError, match="not the file that was verified"):
            spawn([str(binary), "validate"], env={}, data_bytes=1 << 29, files={})
    with collectors.using(source):
        assert content(collectors, "1.0.0") == PROGRAM
    assert len(bucket.asked) == 2


def test_a_file_that_changes_after_it_was_hashed_is_refused(
    bucket: Bucket, collectors: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = fetched._sha256

    def then_changed(descriptor: int) -> str:
        digest = hashed(descriptor)
        Path(f"/proc/self/fd/{descriptor}").chmod(0o755)
        return digest

    monkeypatch.setattr(fetched, "_sha256", then_changed)
    with (
        pytest.raises(CollectorNotFetched, match="SHA-256 is not the announced one"),
        collectors.using(published(bucket, "1.0.0")),
    ):
        pytest.fail("it was changed")
    assert collectors.versions() == ()


def event(source: Source, version: str | None = None) -> dict[str, object]:
    question = {
        "op": "any",
        "request": {"echo": "answered"},
        "version": version or source.version,
        "organization_id": ASKER.organization_id,
        "credential_id": ASKER.credential_id,
    }
    names = ("version", "url", "sha256", "size", "binary_sha256", "binary_size")
    return {**question, "collector": {name: getattr(source, name) for name in names}}


@pytest.fixture
def program(tmp_path: Path) -> bytes:
    return faulty.install(tmp_path / "program").read_bytes()


@pytest.mark.usefixtures("faulty_checker")
def test_a_fetched_collector_answers_and_its_file_is_without_a_name(bucket: Bucket, program: bytes) -> None:
    source = published(bucket, SAYS, program)

    answers = [handler(event(source), None) for _ in range(2)]

    (pid,) = checker.of_this_process().pids(SAYS)
    result = {"echo": "answered", "environment": {}, "pid": pid, "touched": [], "tried": {}}
    assert answers == [{"result": result}] * 2
    assert len(bucket.asked) == 1
    process = Path(f"/proc/{pid}")
    assert (process / "exe").readlink().name.endswith(" (deleted)")
    # Nor has it the descriptor that it was started from.
    assert [one for one in (process / "fd").iterdir() if one.resolve() == (process / "exe").resolve()] == []


@pytest.mark.usefixtures("faulty_checker")
def test_a_collector_that_says_that_it_is_another_version_answers_nothing(bucket: Bucket, program: bytes) -> None:
    answer = handler(event(published(bucket, "9.9.9", program)), None)

    assert answer == {
        "error": {
            "kind": "not_started",
            "code": "checker_not_started",
            "message": "The collector's checker says that it is version 0.0.0",
            "installed": [],
        }
    }


@pytest.mark.usefixtures("faulty_checker")
def test_a_collector_that_is_not_the_announced_one_is_not_started(bucket: Bucket, program: bytes) -> None:
    source = replace(published(bucket, SAYS, program), sha256="0" * 64)

    answer = handler(event(source), None)

    assert answer["error"] == {
        "kind": "not_fetched",
        "code": "checker_unreachable",
        "message": "Collector version 0.0.0 could not be fetched: its SHA-256 is not the announced one",
        "installed": [],
    }


@pytest.mark.usefixtures("faulty_checker")
def test_a_version_that_is_installed_is_not_fetched(bucket: Bucket, program: bytes) -> None:
    answer = handler(event(published(bucket, faulty.VERSION, program)), None)

    assert "result" in answer
    assert bucket.asked == []


@pytest.mark.usefixtures("faulty_checker")
def test_the_collector_is_that_of_the_question(bucket: Bucket, program: bytes) -> None:
    with pytest.raises(ValueError, match="another version than the question"):
        handler(event(published(bucket, SAYS, program), version="1.0.0"), None)
    assert bucket.asked == []


@pytest.mark.parametrize("means", [(), ("namespaces", "root", "user"), ("landlock",)])
def test_a_collector_without_a_name_starts_by_every_means(
    bucket: Bucket, collectors: Fetched, program: bytes, means: tuple[str, ...]
) -> None:
    source = published(bucket, SAYS, program)
    with collectors.using(source):
        binary = collectors.binary(SAYS)
        process = spawn([str(binary), "validate", "--config", "x"], env={}, data_bytes=1 << 29, files={}, means=means)
        try:
            process.popen.wait(120)
        finally:
            process.end()
            process.clean_up()
    # 125 is the launcher's, when it does not get as far as the collector.
    assert process.popen.returncode != 125
