"""What is told of a collector's standard error."""

import pytest

from headgate.runs import log

_RESOURCE = '"resource": {"service.instance.id": "bdf9d748", "service.name": "otelcol-contrib"}'
_AT = "2026-11-22T11:19:15.801Z"


def test_the_resource_is_left_out_and_other_fields_stay() -> None:
    started = f"{_AT}\tinfo\tservice.go:222\tStarting\t{{{_RESOURCE}}}\n"
    numbered = f'{_AT}\tinfo\tservice.go:245\tReady\t{{{_RESOURCE}, "NumCPU": 2, "path": "ä"}}\n'

    assert log.told(started + numbered) == (
        f'{_AT}\tinfo\tservice.go:222\tStarting\n{_AT}\tinfo\tservice.go:245\tReady\t{{"NumCPU": 2, "path": "ä"}}\n'
    )


def test_fields_stay_as_they_were_written() -> None:
    fields = '"a":"\\ud800", "a": 1, "b": NaN}'

    assert log.told(f"{_AT}\tinfo\tm\t{{{_RESOURCE}, {fields}\n") == f"{_AT}\tinfo\tm\t{{{fields}\n"


def test_errors_warnings_and_the_commands_own_words_come_first_in_their_order() -> None:
    text = f"{_AT}\tinfo\ta\n{_AT}\twarn\tb\nError: c\n{_AT}\tdebug\td\n{_AT}\terror\te\n"

    assert log.told(text) == f"{_AT}\twarn\tb\nError: c\n{_AT}\terror\te\n{_AT}\tinfo\ta\n{_AT}\tdebug\td\n"


def test_a_stack_trace_for_each_record_is_left_out_and_repetitions_are_counted() -> None:
    trace = "example.com/x.(*Y).run\n\texample.com/x@v0.139.0/y.go:75\nmain.main\n\t/x/main.go:1 +0x1f\n"
    errors = "".join(
        f'2026-11-22T11:19:{second}Z\terror\ty.go:75\tfailed\t{{{_RESOURCE}, "error": "e"}}\n{trace}'
        for second in range(10, 40)
    )

    assert log.told(errors) == '2026-11-22T11:19:10Z\terror\ty.go:75\tfailed\t{"error": "e"} (30 times)\n'


def test_of_a_crash_the_goroutine_that_crashed_stays() -> None:
    crash = "panic: nil\n[signal SIGSEGV: code=0x1]\n\ngoroutine 75 [running]:\nx.export(...)\n\tx@v1/w.go:54\n\n"
    others = (
        "goroutine 1 gp=0x1 m=0 [select]:\nmain.run()\n\tm.go:1 +0x2\n\ngoroutine 2 [chan send]:\ny.y()\n\ty.go:3\n"
    )

    assert log.told(crash + others) == crash
    assert log.crashed(crash)
    assert not log.crashed(f"{_AT}\tinfo\tx\tno panic: here\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words\n",
        "words\u2028in one line\n",
        f"{_AT}\tinfo\tm\t{{not JSON\n",
        f"{_AT}\tinfo\tm\t{'[' * 30_000}\n",
        f'{_AT}\tinfo\tm\t{{"resource": {"[" * 30_000}\n',
        f'{_AT}\tinfo\tm\t{{"a": 1}}\n',
        "\t\t\t\n",
        "\n\n",
        f"goroutine 1 {'[' * 60_000}\n",
        f"\t{'.a:1' * 15_000}\n",
        f'{_AT}\tinfo\tm\t{{"resource": {"1" * 5_000}\n',
    ],
)
def test_what_is_not_understood_stays_as_it_is(text: str) -> None:
    assert log.told(text) == text
