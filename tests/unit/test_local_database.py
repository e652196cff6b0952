"""The local service's database against a dictionary, damaged in many places, and the move of earlier versions' data."""

import hashlib
import json
import signal
import sqlite3
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate_local import old_data
from headgate_local.database import NAME, Change, DamagedFile, Database
from headgate_local.errors import CannotStart
from tests.support import sizes

Model = dict[tuple[str, str], tuple[object, bytes]]

places = st.sampled_from(["table/configurations", "table/versions", "bucket/texts"])
keys = st.text(max_size=3) | st.sampled_from(["a", "b", "c", "\ud800"])
values = st.none() | st.dictionaries(
    st.text(max_size=4),
    st.text(max_size=8) | st.integers() | st.booleans() | st.none() | st.lists(st.text(max_size=3), max_size=2),
    max_size=3,
)
changes = st.builds(Change, places, keys, values, st.binary(max_size=6))
writes = st.lists(changes, min_size=1, max_size=4)


def applied(model: Model, several: Iterable[Change]) -> Model:
    model = dict(model)
    for change in several:
        model.pop((change.place, change.key), None)
        if change.value is not None:
            model[change.place, change.key] = change.value, change.content
    return model


def opened(folder: Path) -> Database:
    return Database(folder / NAME)


def stored(folder: Path) -> Model:
    with closing(opened(folder)) as database:
        return applied({}, database.read())


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert stored(tmp_path) == {}


@pytest.mark.sized
@settings(max_examples=sizes.either(20, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(writes | st.just("reopen"), max_size=25))
def test_every_write_is_read_back(tmp_path_factory: pytest.TempPathFactory, steps: list[list[Change] | str]) -> None:
    folder = tmp_path_factory.mktemp("data")
    model: Model = {}
    database = opened(folder)
    for step in steps:
        if isinstance(step, list):
            database.write(step)
            model = applied(model, step)
        else:
            database.close()
            database = opened(folder)
            assert applied({}, database.read()) == model
    database.close()

    assert stored(folder) == model


WRITER = """
import sys
from pathlib import Path
from headgate_local.database import Change, Database
database = Database(Path(sys.argv[1]))
for number in range(10_000_000):
    pair = [Change("table/t", f"{number}{half}", {"n": number}, b"x" * 3000) for half in "ab"]
    database.write(pair)
    print(number, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_write_and_leaves_no_half_of_one(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / NAME)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        acknowledged = -1
        for line in writer.stdout:
            acknowledged = int(line)
            if acknowledged == 2000:
                writer.send_signal(signal.SIGKILL)
    names = {key for _, key in stored(tmp_path)}

    assert acknowledged >= 2000
    assert {f"{number}{half}" for number in range(acknowledged + 1) for half in "ab"} <= names
    assert {name[:-1] for name in names if name.endswith("a")} == {name[:-1] for name in names if name.endswith("b")}


def test_a_log_cut_off_anywhere_holds_the_writes_before_the_cut_and_no_half_of_one(tmp_path: Path) -> None:
    source, log = tmp_path / NAME, tmp_path / f"{NAME}-wal"
    copy = tmp_path / "copy"
    copy.mkdir()
    database = opened(tmp_path)
    states: list[Model] = [{}]
    for number in range(5):
        write = [Change("table/t", f"{number}", {"n": number}), Change("table/t", "last", {"n": number})]
        database.write(write)
        states.append(applied(states[-1], write))
    content, whole = source.read_bytes(), log.read_bytes()
    database.close()

    found = []
    for length in [*range(0, len(whole), 1021), len(whole)]:
        for left in copy.iterdir():
            left.unlink()
        (copy / NAME).write_bytes(content)
        (copy / f"{NAME}-wal").write_bytes(whole[:length])
        found.append(states.index(stored(copy)))
    assert found == sorted(found)
    assert found[-1] == 5


@pytest.mark.sized
def test_a_flipped_bit_is_told_with_the_name_of_the_file_or_changes_nothing(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        database.write([Change("table/t", str(number), {"n": number}, b"x" * 90) for number in range(60)])
    path = tmp_path / NAME
    whole, expected = path.read_bytes(), stored(tmp_path)

    told = 0
    for place in range(100, len(whole), sizes.either(39, 13)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        error = None
        try:
            assert stored(tmp_path) == expected, f"byte {place}"
        except DamagedFile as damage:
            error, told = damage, told + 1
        assert error is None or str(path) in str(error)
    assert told > sizes.either(130, 400)


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("these are not the data you are looking for" * 100)

    with pytest.raises(DamagedFile, match=f"{NAME} is damaged"):
        stored(tmp_path)


def test_a_file_of_a_newer_version_is_told(tmp_path: Path) -> None:
    stored(tmp_path)
    with closing(sqlite3.connect(tmp_path / NAME)) as connection:
        connection.execute("PRAGMA user_version = 2")

    with pytest.raises(CannotStart, match="was written by a newer version of Headgate"):
        stored(tmp_path)


def test_a_write_that_does_not_fit_is_taken_back_and_the_next_one_is_stored(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        database.write([Change("table/t", "a", {"n": 1})])
        (pages,) = database._connection.execute("PRAGMA page_count").fetchone()
        database._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(OSError, match="full"):
            database.write([Change("table/t", "b", {"n": 2}), Change("table/t", "c", {"n": 3}, b"x" * 100_000)])
        database.write([Change("table/t", "d", {"n": 4})])

    assert stored(tmp_path) == {("table/t", "a"): ({"n": 1}, b""), ("table/t", "d"): ({"n": 4}, b"")}


def test_its_files_are_for_their_owner_only(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        database.write([Change("table/t", "a", {"n": 1})])

        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


# The data of earlier versions.

LINE = b"headgate data, format 1\n"


def record(content: object) -> bytes:
    payload = json.dumps(content, ensure_ascii=False).encode()
    head = struct.pack(">II", len(payload), zlib.crc32(payload))
    return head + struct.pack(">I", zlib.crc32(head)) + payload


def leave(folder: Path, number: int, snapshot: Sequence[Sequence[object]], journal: Sequence[object]) -> Path:
    """Write the data as an earlier version did; the path of the journal."""
    body = [record(snapshot), record({"changes": len(snapshot)})]
    (folder / f"snapshot-{number}").write_bytes(LINE + b"".join(body))
    path = folder / f"journal-{number}"
    path.write_bytes(LINE + b"".join(map(record, journal)))
    return path


def leave_some(folder: Path) -> Path:
    (folder / "objects").mkdir()
    name = hashlib.sha256(b"content").hexdigest()
    (folder / "objects" / name).write_bytes(b"content")
    text = {"sha256": name, "metadata": {"a": "b"}, "written": "2026-11-22T00:00:00+00:00"}
    leave(folder, 1, [["table/t", "older", {"n": 0}]], [])
    return leave(
        folder,
        2,
        [["table/t", "é", {"n": 1}], ["table/t", "gone", {"n": 2}], ["bucket/b", "text", text]],
        [[["table/t", "c", {"n": 3}], ["table/t", "gone", None]], [["bucket/b", "lost", {**text, "sha256": "0" * 64}]]],
    )


EARLIER: Model = {
    ("table/t", "é"): ({"n": 1}, b""),
    ("table/t", "c"): ({"n": 3}, b""),
    ("bucket/b", "text"): ({"metadata": {"a": "b"}, "written": "2026-11-22T00:00:00+00:00"}, b"content"),
}


def test_the_data_of_an_earlier_version_are_moved_once(tmp_path: Path) -> None:
    leave_some(tmp_path)

    notices = old_data.move(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert stored(tmp_path) == EARLIER
    assert notices[0] == "The content of b/lost is missing or damaged; the object was left out"
    assert notices[1].startswith("The data of an earlier version were moved into ")
    assert old_data.move(tmp_path) == []
    assert stored(tmp_path) == EARLIER


def test_a_folder_without_earlier_data_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{}")

    assert old_data.move(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["tokens.json"]


DYING = """
import os, sys
from pathlib import Path
from headgate_local import old_data
calls = [0]
def die(event, arguments):
    if event in ("open", "os.rename", "os.remove", "sqlite3.connect", "shutil.rmtree", "os.rmdir"):
        calls[0] += 1
        if calls[0] == int(sys.argv[2]):
            os._exit(9)
sys.addaudithook(die)
old_data.move(Path(sys.argv[1]))
"""


def test_a_crash_at_any_moment_of_the_move_loses_nothing(tmp_path: Path) -> None:
    moment, ended = 0, 9
    while ended == 9:
        moment += 1
        folder = tmp_path / str(moment)
        folder.mkdir()
        leave_some(folder)
        ended = subprocess.run([sys.executable, "-c", DYING, str(folder), str(moment)], check=False).returncode
        old_data.move(folder)
        assert stored(folder) == EARLIER, f"killed at {moment}"
        assert [path.name for path in folder.iterdir()] == [NAME]
    assert ended == 0
    assert moment > 10


FULL = """
import resource, sys
from pathlib import Path
from headgate_local import old_data
from headgate_local.database import Database
def fill(*_):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
write = Database.write
def write_and_fill(database, changes):
    write(database, changes)
    fill()
if sys.argv[3] == "before":
    fill()
else:
    Database.write = write_and_fill
try:
    old_data.move(Path(sys.argv[1]))
except OSError:
    sys.exit(3)
"""


@pytest.mark.sized
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_full_disk_at_any_moment_of_the_move_loses_nothing(tmp_path: Path, when: str) -> None:
    ended = set()
    for limit in range(0, 40_000, sizes.either(8_000, 4_000)):
        folder = tmp_path / f"{limit}"
        folder.mkdir()
        leave_some(folder)
        before = {path.name for path in folder.iterdir()}
        arguments = [sys.executable, "-c", FULL, str(folder), str(limit), when]
        ended.add(subprocess.run(arguments, check=False).returncode)
        after = {path.name for path in folder.iterdir()}
        assert after in ({NAME}, before), f"full at {limit}"
        old_data.move(folder)
        assert stored(folder) == EARLIER, f"full at {limit}"
    # After the write, everything is in the one file: nothing is left to be written.
    assert ended == ({0, 3} if when == "before" else {0})


def test_files_of_an_earlier_version_that_was_started_after_the_move_are_told_and_not_touched(tmp_path: Path) -> None:
    leave_some(tmp_path)
    old_data.move(tmp_path)
    leave(tmp_path, 2, [["table/t", "later", {"n": 9}]], [])

    with pytest.raises(CannotStart, match="also the files of an earlier version"):
        old_data.move(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == {NAME, "snapshot-2", "journal-2"}
    assert stored(tmp_path) == EARLIER


def test_a_journal_that_ends_in_its_first_line_holds_nothing(tmp_path: Path) -> None:
    for length in range(len(LINE) + 1):
        folder = tmp_path / f"{length}"
        folder.mkdir()
        leave(folder, 2, [["table/t", "a", {"n": 1}]], []).write_bytes(LINE[:length])
        old_data.move(folder)
        assert stored(folder) == {("table/t", "a"): ({"n": 1}, b"")}


def test_an_unfinished_write_at_the_end_of_a_journal_is_left_out(tmp_path: Path) -> None:
    whole = leave_some(tmp_path).read_bytes()
    for number, end in enumerate([b"\x00\x00", record([["table/t", "x", {"n": 9}]])[:-1], bytes(4096)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        leave_some(folder).write_bytes(whole + end)
        old_data.move(folder)
        assert stored(folder) == EARLIER


def test_damaged_earlier_data_are_told_and_not_touched(tmp_path: Path) -> None:
    journal = leave_some(tmp_path)
    for path in (journal, tmp_path / "snapshot-2"):
        whole = path.read_bytes()
        last = len(record([["bucket/b", "lost", {}]])) if path == journal else 0
        for place in range(0, len(whole) - (200 if last else 0), 3):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
            with pytest.raises(DamagedFile, match=str(path)):
                old_data.move(tmp_path)
        path.write_bytes(whole)
    before = {path.name for path in tmp_path.iterdir()}
    journal.unlink()
    with pytest.raises(DamagedFile, match="journal-2 is damaged: it is missing"):
        old_data.move(tmp_path)
    assert before - {path.name for path in tmp_path.iterdir()} == {"journal-2"}
    assert list((tmp_path / "objects").iterdir())
