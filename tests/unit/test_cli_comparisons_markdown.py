"""`headgate test diff --markdown`: a comment for a pull request, whatever the names in it contain."""

import pytest

from headgate_cli.comparisons.markdown import code, fenced
from tests.support.answering import Server
from tests.support.cli_in_process import Run
from tests.support.comparisons_served import COUNTS, FIELD, RECORD, answers, compared, result
from tests.support.markdown import without_code

pytestmark = pytest.mark.usefixtures("comparisons_at_once", "two_configurations")


HOSTILE = (
    "`` ` </summary><img src=x onerror=alert(1)> @everyone |\\| [x](http://evil) \n```\n# fake ::error::x ##[group]"
)


def test_markdown_holds_whatever_a_name_contains(server: Server, run: Run) -> None:
    record = {**RECORD, "name": HOSTILE, "fields": [{**FIELD, "path": HOSTILE, "left": HOSTILE}]}
    found = {"equal": False, "signals": {"logs": COUNTS}, "differences": [record], "left_out": 0, "profiles": 0}
    answers(server, result(compared("differs", name=HOSTILE, reason=HOSTILE, differences=found)))

    code_, out, _ = run("test diff b.yaml a.yaml --markdown")

    assert code_ == 1
    assert out.startswith("### Behaviour: 1 test differs\n")
    outside = without_code(out)
    for mark in ("<img", "@everyone", "](http", "# fake"):
        assert mark in out
        assert mark not in outside
    assert outside.count("<details><summary>") == outside.count("</details>") == outside.count("</summary>") == 1
    assert "\n::" not in out
    assert "##[" not in out
    [row] = [line for line in out.splitlines() if "differs**" in line]
    assert row.replace("\\|", "").count("|") == 5


def test_what_is_saved_is_said_with_the_test(server: Server, run: Run) -> None:
    saving = {"words": f"of the same sample of 2 records, 1 instead of 2 records (-50 %) {HOSTILE}"}
    answers(server, result(compared("differs", name="keeps-errors", saving=saving), compared()))

    _, out, _ = run("test diff b.yaml a.yaml --markdown")

    (line,) = [line for line in out.splitlines() if "of the same sample" in line]
    assert line.startswith("- `keeps-errors`: ")
    assert "1 instead of 2 records (-50 %)" in line
    assert "@everyone" not in without_code(out)


def test_code_and_fences_are_longer_than_what_they_hold() -> None:
    assert code("a") == "`a`"
    assert code("`a``") == "``` `a`` ```"
    assert code("a|b\\|c", cell=True) == "`a\\|b\\ \\|c`"
    assert fenced(["a ````", "b"], "diff") == "`````diff\na ````\nb\n`````"


def test_a_long_comment_is_cut_at_githubs_limit(server: Server, run: Run) -> None:
    tests = [compared("differs", name=f"test-{n}", reason="r" * 400) for n in range(400)]
    answers(server, result(*tests))

    _, out, _ = run("test diff b.yaml a.yaml --markdown")

    assert len(out) < 65_000
    assert "left out here" in out
