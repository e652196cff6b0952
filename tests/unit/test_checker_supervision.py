"""What the supervisor does with processes that crash, hang, lie and grow; the real collector has its own tests."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import Asker, Checker, CheckerBusy, CheckerFailed, NoChecker, NotInstalled, Refused
from headgate_engine.checker.limits import Limits
from tests.support.askers import ASKER
from tests.support.faulty import LIMITS, VERSION, install
from tests.support.processes import wait_until

MakeChecker = Callable[[Limits], Checker]


@pytest.fixture
def checker(make_checker: MakeChecker) -> Checker:
    return make_checker(LIMITS)


def pid_of(checker: Checker) -> object:
    return checker.call("any", {}, asker=ASKER)["pid"]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_one_process_answers_question_after_question(checker: Checker) -> None:
    pids = {pid_of(checker) for _ in range(20)}

    assert len(pids) == 1


def test_what_an_asker_does_meanwhile_is_done_before_the_answer_is_there(checker: Checker) -> None:
    pid = int(str(pid_of(checker)))
    os.kill(pid, signal.SIGSTOP)
    asker = replace(ASKER, meanwhile=lambda: os.kill(pid, signal.SIGCONT))

    assert checker.call("any", {"echo": "x"}, asker=asker)["echo"] == "x"


def test_a_megabyte_comes_and_goes_whole(checker: Checker) -> None:
    text = "ä\n\0" * 200_000

    assert text == checker.call("any", {"echo": text}, asker=ASKER)["echo"]


def test_the_process_has_an_empty_environment(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    # Python itself adds LC_CTYPE where the locale is C.
    assert checker.call("any", {}, asker=ASKER)["environment"] in ({}, {"LC_CTYPE": "C.UTF-8"})


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("crash", "exited with status 2: panic$"),
        ("panicked", "panicked$"),
        ("kill", "was killed by SIGKILL"),
        ("garbage", "answered what is not JSON"),
        ("not_utf8", "answered what is not JSON"),
        ("list", "answered what is not an object"),
        ("deep", "answered what is nested deeper than 64 levels"),
        ("other_id", "answered another question"),
        ("no_usage", "did not say how much it has used"),
        ("flood", "answered more than 4194304 bytes"),
        ("half", "exited with status 0"),
        ("half_closed", "was killed by SIGKILL"),
        ("grow", r"exited with status 2: (fatal error: .*memory|SIG\w+: )"),
    ],
)
def test_a_failing_process_costs_its_own_question_only(checker: Checker, what: str, said: str) -> None:
    before = pid_of(checker)

    with pytest.raises(CheckerFailed, match=said):
        checker.call("any", {"do": what}, asker=ASKER)

    assert before != pid_of(checker)


@pytest.mark.parametrize("what", ["hang", "stop", "half_hang"])
def test_a_process_that_does_not_answer_is_killed_at_its_time_limit(checker: Checker, what: str) -> None:
    pid_of(checker)
    (pid,) = checker.pids()

    with pytest.raises(CheckerFailed, match="did not answer in time"):
        checker.call("any", {"do": what}, timeout=0.1, asker=ASKER)

    wait_until(lambda: is_gone(pid))
    assert pid != pid_of(checker)


def test_a_panic_that_was_caught_is_not_told_of_a_later_question(checker: Checker) -> None:
    before = checker.call("any", {"do": "recovers"}, asker=ASKER)["pid"]
    assert pid_of(checker) == before

    with pytest.raises(CheckerFailed) as failed:
        checker.call("any", {"do": "hang"}, timeout=0.1, asker=ASKER)

    assert failed.value.crash == ""


def test_a_question_is_not_blamed_for_a_crash_that_an_earlier_one_has_left(checker: Checker) -> None:
    before = pid_of(checker)

    answered = checker.call("any", {"do": "left_crash"}, asker=ASKER)["pid"]
    with pytest.raises(CheckerFailed) as failed:
        checker.call("any", {"do": "component_crash"}, asker=ASKER)

    assert answered not in (before, pid_of(checker))
    assert "out of my depth" in failed.value.crash


def test_a_stopped_process_does_not_block_a_question_too_long_for_its_buffers(checker: Checker) -> None:
    pid_of(checker)
    os.kill(checker.pids()[0], signal.SIGSTOP)

    with pytest.raises(CheckerFailed, match="did not answer in time"):
        checker.call("any", {"echo": "x" * 4_000_000}, timeout=0.1, asker=ASKER)


def test_a_process_that_died_between_questions_costs_no_question(checker: Checker) -> None:
    first = pid_of(checker)
    (pid,) = checker.pids()
    os.kill(pid, signal.SIGKILL)
    # All its threads; left for the checker to collect.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    assert first != pid_of(checker)


def test_output_of_components_is_not_an_answer_and_blocks_nothing(checker: Checker) -> None:
    for _ in range(3):
        assert checker.call("any", {"do": "chatter", "echo": "here"}, asker=ASKER)["echo"] == "here"


def test_an_error_of_the_operation_is_the_callers_and_the_process_lives_on(checker: Checker) -> None:
    before = pid_of(checker)

    with pytest.raises(Refused) as refused:
        checker.call("any", {"do": "refused"}, asker=ASKER)

    assert (refused.value.code, refused.value.message) == ("refused", "on command")
    assert before == pid_of(checker)


@pytest.mark.parametrize(
    ("limits", "question"),
    [
        pytest.param(replace(LIMITS, recycle_calls=5), {}, id="by calls"),
        pytest.param(replace(LIMITS, recycle_bytes=10), {"rss_bytes": 11}, id="by memory"),
    ],
)
def test_a_worn_process_is_replaced_while_it_still_answers(
    make_checker: MakeChecker, limits: Limits, question: dict[str, object]
) -> None:
    checker = make_checker(limits)
    pid_of(checker)
    (old,) = checker.pids()
    answered = []
    while not is_gone(old):
        answered.append(checker.call("any", question, asker=ASKER)["pid"])

    assert old in answered
    assert [old, *answered] == sorted([old, *answered], key=lambda pid: pid != old)


def test_a_worn_process_serves_on_until_another_can_be_started(
    make_checker: MakeChecker, faulty_collectors: Path
) -> None:
    checker = make_checker(replace(LIMITS, recycle_calls=2))
    first = pid_of(checker)
    install(faulty_collectors / VERSION, "crashes")

    assert {first} == {pid_of(checker) for _ in range(50)}
    install(faulty_collectors / VERSION)
    wait_until(lambda: pid_of(checker) != first)


def test_more_askers_than_processes_wait_their_turn(make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, processes=2))

    def ask(number: int) -> object:
        asker = Asker("org_1", f"tok_{number % 4}")
        return checker.call("any", {"echo": number, "seconds": 0.005}, asker=asker)["echo"]

    with ThreadPoolExecutor(16) as askers:
        assert list(range(100)) == list(askers.map(ask, range(100)))
    wait_until(lambda: len(checker.pids()) == 2)


def test_sixteen_askers_get_their_own_answers_while_processes_crash_and_wear_out(make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, processes=2, recycle_calls=7, queue_seconds=60))

    def ask(number: int) -> object:
        what = "crash" if number % 23 == 0 else "answer"
        try:
            asker = Asker(f"org_{number % 2}", f"tok_{number % 8}")
            return checker.call("any", {"do": what, "echo": number}, asker=asker)["echo"]
        except CheckerFailed:
            return "failed"

    with ThreadPoolExecutor(16) as askers:
        answers = list(askers.map(ask, range(120)))

    assert [number if number % 23 else "failed" for number in range(120)] == answers


def test_who_waits_too_long_for_a_free_process_is_told_so(make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, queue_seconds=0.1))
    # Not by a question: on a busy machine the start takes longer than a question waits.
    checker.warm()
    wait_until(checker.has_idle)
    with ThreadPoolExecutor(1) as other:
        hanging = other.submit(checker.call, "any", {"do": "hang"}, asker=ASKER)
        wait_until(lambda: not checker.has_idle())

        with pytest.raises(CheckerBusy, match="busy for"):
            pid_of(checker)

        checker.close()
        with pytest.raises(CheckerFailed, match="was killed by SIGKILL"):
            hanging.result()


@pytest.mark.parametrize(
    ("op", "error"), [("any", CheckerBusy), ("start", CheckerFailed)], ids=["of the pool", "of its own"]
)
def test_starting_a_process_takes_of_the_time_of_its_question(
    op: str, error: type[Exception], checker: Checker
) -> None:
    with pytest.raises(error):
        checker.call(op, {}, asker=ASKER, timeout=0)

    assert checker.call(op, {}, asker=ASKER)["pid"]


def test_a_collector_that_cannot_start_is_reported_and_tried_again(checker: Checker, faulty_collectors: Path) -> None:
    install(faulty_collectors / VERSION, "crashes")
    with pytest.raises(CheckerFailed, match=r"exited with status 2: panic$"):
        pid_of(checker)

    install(faulty_collectors / VERSION)

    assert pid_of(checker)


def test_a_collector_that_is_not_a_program_is_reported(checker: Checker, faulty_collectors: Path) -> None:
    (faulty_collectors / VERSION / "otelcol-contrib").write_text("#!/nowhere\n")

    with pytest.raises(CheckerFailed, match="could not launch the collector"):
        pid_of(checker)


def test_an_official_release_has_no_checker(checker: Checker, faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.2.4", "release")

    for _ in range(2):
        with pytest.raises(NoChecker):
            checker.call("any", {}, version="1.2.4", asker=ASKER)


@pytest.mark.parametrize("version", ["1.2.4", "../1.2.3", "1.2.3/../1.2.3", "1.2", "", "v1.2.3", "01.2.3", "1.2.3\n"])
def test_what_is_not_installed_is_never_asked(checker: Checker, version: str) -> None:
    with pytest.raises(NotInstalled):
        checker.call("any", {}, version=version or "none", asker=ASKER)


def test_warming_starts_the_processes_before_the_first_question(checker: Checker) -> None:
    checker.warm()
    wait_until(lambda: checker.pids() != [])

    (pid,) = checker.pids()
    assert pid == pid_of(checker)


def test_closing_ends_every_process_and_its_folder(make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, processes=2, spares=1))
    pid_of(checker)
    wait_until(lambda: len(checker.pids()) == 2)
    pids = checker.pids()
    folders = [Path(f"/proc/{pid}/cwd").readlink() for pid in pids]

    checker.close()

    assert [is_gone(pid) for pid in pids] == [True, True]
    assert [folder.exists() for folder in folders] == [False, False]


@pytest.mark.parametrize("version", [VERSION, "2.0.0"])
def test_who_asks_after_the_end_is_refused_at_once(
    make_checker: MakeChecker, faulty_collectors: Path, version: str
) -> None:
    install(faulty_collectors / "2.0.0")
    checker = make_checker(LIMITS)
    checker.close()

    # A thread that outlives the answer, as of a comparison of two versions, would start a process for nobody.
    with pytest.raises(CheckerFailed, match="shut down"):
        checker.call("any", {}, version=version, asker=ASKER)
