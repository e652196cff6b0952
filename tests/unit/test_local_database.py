"""The local service's database against a dictionary, and damaged in many places."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate_local.database import NAME, DamagedFile, Database, DatabaseChange
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
changes = st.builds(DatabaseChange, places, keys, values, st.binary(max_size=6))
writes = st.lists(changes, min_size=1, max_size=4)


def applied(model: Model, several: Iterable[DatabaseChange]) -> Model:
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
@settings(max_examples=sizes.either(20, 60))
@given(st.lists(writes | st.just("reopen"), max_size=25))
def test_every_write_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[DatabaseChange] | str]
) -> None:
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
from headgate_local.database import Database, DatabaseChange
database = Database(Path(sys.argv[1]))
for number in range(10_000_000):
    pair = [DatabaseChange("table/t", f"{number}{half}", {"n": number}, b"x" * 3000) for half in "ab"]
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
        write = [
            DatabaseChange("table/t", f"{number}", {"n": number}),
            DatabaseChange("table/t", "last", {"n": number}),
        ]
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
        database.write([DatabaseChange("table/t", str(number), {"n": number}, b"x" * 90) for number in range(60)])
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
        database.write([DatabaseChange("table/t", "a", {"n": 1})])
        (pages,) = database._connection.execute("PRAGMA page_count").fetchone()
        database._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(OSError, match="full"):
            database.write(
                [DatabaseChange("table/t", "b", {"n": 2}), DatabaseChange("table/t", "c", {"n": 3}, b"x" * 100_000)]
            )
        database.write([DatabaseChange("table/t", "d", {"n": 4})])

    assert stored(tmp_path) == {("table/t", "a"): ({"n": 1}, b""), ("table/t", "d"): ({"n": 4}, b"")}


def test_its_files_are_for_their_owner_only(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        database.write([DatabaseChange("table/t", "a", {"n": 1})])

        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
