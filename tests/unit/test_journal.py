"""The journal against a dictionary, with its files cut off and damaged at every place."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate_local.journal import Journal
from headgate_local.records import Change, DamagedFile

Model = dict[tuple[str, str], object]

places = st.sampled_from(["table/configurations", "table/versions", "bucket/texts"])
keys = st.text(max_size=3) | st.sampled_from(["a", "b", "c"])
values = st.none() | st.dictionaries(
    st.text(max_size=4),
    st.text(max_size=8) | st.integers() | st.booleans() | st.none() | st.lists(st.text(max_size=3), max_size=2),
    max_size=3,
)
changes = st.builds(Change, places, keys, values)
writes = st.lists(changes, min_size=1, max_size=4)


def applied(model: Model, several: Iterable[Change]) -> Model:
    model = dict(model)
    for change in several:
        model.pop((change.place, change.key), None)
        if change.value is not None:
            model[change.place, change.key] = change.value
    return model


def everything(model: Model) -> list[Change]:
    return [Change(place, key, value) for (place, key), value in model.items()]


def begun(folder: Path, model: Model | None = None) -> Journal:
    journal = Journal(folder)
    list(journal.replay())
    journal.compact(everything(model or {}))
    return journal


def found(folder: Path) -> Model:
    return applied({}, Journal(folder).replay())


def file_of(folder: Path, kind: str) -> Path:
    (path,) = folder.glob(f"{kind}-*")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_an_empty_folder_holds_nothing(folder: Path) -> None:
    assert found(folder) == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(writes, st.sampled_from(["compact", "kill"])), max_size=25))
def test_whatever_was_appended_is_found_after_any_death(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[Change] | str]
) -> None:
    folder = tmp_path_factory.mktemp("data")
    model: Model = {}
    journal = begun(folder)
    for step in steps:
        match step:
            case "compact":
                journal.compact(everything(model))
            case "kill":
                journal.close()
                assert found(folder) == model
                journal = begun(folder, model)
            case list():
                journal.append(step)
                model = applied(model, step)
    journal.close()

    assert found(folder) == model


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(writes, min_size=1, max_size=5))
def test_a_journal_cut_off_at_any_byte_holds_the_writes_before_the_cut_and_no_half_of_one(
    tmp_path_factory: pytest.TempPathFactory, appended: list[list[Change]]
) -> None:
    folder = tmp_path_factory.mktemp("data")
    journal = begun(folder)
    path = file_of(folder, "journal")
    states, sizes = [{}], [path.stat().st_size]
    for write in appended:
        journal.append(write)
        states.append(applied(states[-1], write))
        sizes.append(path.stat().st_size)
    journal.close()
    whole = path.read_bytes()

    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        complete = sum(size <= length for size in sizes) - 1
        assert found(folder) == states[max(complete, 0)], f"cut off at byte {length} of {len(whole)}"


def test_a_flipped_bit_before_the_last_write_is_told_with_the_name_of_the_file(folder: Path) -> None:
    journal = begun(folder)
    path = file_of(folder, "journal")
    journal.append([Change("table/t", "a", {"n": 1})])
    journal.append([Change("table/t", "b", {"n": 2})])
    before_last = path.stat().st_size
    journal.append([Change("table/t", "c", {"n": 3})])
    journal.close()
    whole = path.read_bytes()

    for place in range(before_last):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(DamagedFile, match=str(path)):
            found(folder)


def test_zeros_at_the_end_are_a_power_cut_and_left_out(folder: Path) -> None:
    journal = begun(folder)
    journal.append([Change("table/t", "a", {"n": 1})])
    journal.close()
    path = file_of(folder, "journal")
    path.write_bytes(path.read_bytes() + bytes(4096))

    reopened = Journal(folder)
    assert applied({}, reopened.replay()) == {("table/t", "a"): {"n": 1}}
    assert reopened.unfinished_bytes == 4096


@pytest.mark.parametrize("kind", ["snapshot", "journal"])
def test_a_file_of_something_else_is_told(folder: Path, kind: str) -> None:
    begun(folder).close()
    file_of(folder, kind).write_text("these are not the data you are looking for")

    with pytest.raises(DamagedFile, match=f"{kind}-1"):
        found(folder)


def test_a_missing_journal_is_told(folder: Path) -> None:
    begun(folder).close()
    file_of(folder, "journal").unlink()

    with pytest.raises(DamagedFile, match="journal-1 is missing"):
        found(folder)


def test_a_snapshot_that_is_not_whole_is_told_at_every_length(folder: Path) -> None:
    begun(folder, {("table/t", str(n)): {"n": n} for n in range(5)}).close()
    path = file_of(folder, "snapshot")
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFile):
            found(folder)


def test_a_snapshot_that_was_not_finished_leaves_the_generation_before_in_force(folder: Path) -> None:
    journal = begun(folder)
    journal.append([Change("table/t", "a", {"n": 1})])
    journal.close()
    (folder / "unfinished-2").write_bytes(b"half a snapsh")
    (folder / "journal-2").write_bytes(b"")

    assert found(folder) == {("table/t", "a"): {"n": 1}}
    begun(folder, found(folder)).close()
    assert sorted(path.name for path in folder.iterdir()) == ["journal-2", "snapshot-2"]


def test_a_snapshot_that_fails_leaves_the_journal_in_use(folder: Path) -> None:
    journal = begun(folder)
    journal.append([Change("table/t", "a", {"n": 1})])

    def full_disk() -> Iterable[Change]:
        yield Change("table/t", "a", {"n": 1})
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        journal.compact(full_disk())
    journal.append([Change("table/t", "b", {"n": 2})])
    journal.close()

    assert found(folder) == {("table/t", "a"): {"n": 1}, ("table/t", "b"): {"n": 2}}


def test_a_write_that_fails_halfway_is_taken_back_and_the_next_one_follows_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = begun(folder)
    journal.append([Change("table/t", "a", {"n": 1})])
    write = os.write
    left = [10]

    def short_of_space(descriptor: int, content: bytes) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        taken = write(descriptor, content[: left[0]])
        left[0] -= taken
        return taken

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", short_of_space)
        with pytest.raises(OSError, match="No space"):
            journal.append([Change("table/t", "b", {"n": 2})])
    journal.append([Change("table/t", "c", {"n": 3})])
    journal.close()

    assert found(folder) == {("table/t", "a"): {"n": 1}, ("table/t", "c"): {"n": 3}}


def test_a_journal_that_has_grown_is_due_for_a_snapshot_and_then_is_not(folder: Path) -> None:
    journal = Journal(folder, compact_above_bytes=1000)
    journal.compact([])
    assert not journal.due

    journal.append([Change("table/t", "a", {"text": "x" * 1200})])
    assert journal.due

    journal.compact([Change("table/t", "a", {"text": "x" * 1200})])
    assert not journal.due
    journal.close()


def test_its_files_are_for_their_owner_only(folder: Path) -> None:
    begun(folder).close()

    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
