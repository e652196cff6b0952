"""No regular expression takes a text longer than in proportion to its length, whoever wrote the text.

An interpreter answers nobody else while a pattern runs: one that grows with the square of a text stopped the service
for minutes. If this fails, let no two parts of the pattern match the same text.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

import pytest

from headgate.opamp.reasons import REASONS
from headgate.opamp.secret_forms import in_python
from tests.support.regular_expressions import ROOT, NotKnown, Pattern, calls, growth, pattern_of

BUILT: Final[Mapping[tuple[str, str], str]] = {
    (
        "shared/headgate/checker/fetched.py",
        r"f'/collectors/{re.escape(source.version)}/[a-z0-9_]+/{DISTRIBUTION}\\.zst\\Z'",
    ): r"/collectors/0\.139\.0/[a-z0-9_]+/otelcol-contrib\.zst\Z",
    ("shared/headgate/checker/links.py", "hosts"): r"\A[a-z0-9.-]+\.s3\.eu-central-1\.amazonaws\.com",
    ("shared/headgate/flows/model.py", "key"): r"(?m)^(  ['\"]?)otlp(?=[/:'\"])",
    ("engine/headgate_engine/checker/variables.py", r"re.escape(self.prefix) + '(\\d+)_'"): r"HG_0123_(\d+)_",
    ("shared/headgate/opamp/reasons.py", "pattern"): "^yaml: ",
    # Of texts of 2,000 characters at most, in a second of processor time at most.
    ("shared/headgate/opamp/secret_forms.py", "in_python(pattern)"): r"\bhc[a-z]{1,2}[ik]k?_[A-Za-z0-9]{40,}",
    ("shared/headgate/http/parts.py", "'|'.join((f'(?:{_pattern(path)})$' for path in paths))"): (
        r"(?s)\A(?:(?:/api/v1/public/fleets(?:/.*)?)$|(?:/organizations/[^/]+/fleets/[^/]+(?:/.*)?)$)"
    ),
    ("functions/application/change_pages.py", "pattern"): r"(fleets/flt_\w+/deployments/dep_\w+/rollouts/rol_\w+)",
    ("cli/headgate_cli/accept/run.py", "re.escape(bench.name(''))"): "accept-0123abcd-",
    ("cli/headgate_cli/api.py", "pattern"): r"/fleets/(flt_[0-9a-z]+)",
    ("cli/headgate_cli/checks/findings.py", r"f'[%\r\n{more}]'"): "[%\r\n:,]",
    (
        "cli/headgate_cli/lsp/actions.py",
        r"f'(?<![\\w./-]){re.escape(wrong[1])}(?![\\w./-])'",
    ): r"(?<![\w./-])a/a(?![\w./-])",
    ("cli/headgate_cli/lsp/schema.py", "pattern"): "^otlp(/.*)?$",
    ("local/headgate_local/dispatch.py", "'/'.join(segments)"): r"(?s)/v1/[^/]+/.+",
}
"""Patterns that are put together when they are used, and what one of them is."""


def test_no_pattern_grows_faster_than_its_text() -> None:
    patterns: list[Pattern] = []
    unknown: set[tuple[str, str]] = set()
    for path, call in calls():
        try:
            patterns.append(pattern_of(path, call))
        except NotKnown as error:
            unknown.add((str(path.relative_to(ROOT)), str(error)))
    patterns += [Pattern(f"{path}: {made}", made, 0, searched=True) for (path, _), made in BUILT.items()]
    patterns += [Pattern(f"reasons: {known.pattern}", known.pattern, known.flags, True) for known, _ in REASONS]
    distinct = {(one.source, one.flags, one.searched): one for one in patterns}

    assert unknown == {*BUILT}
    assert len(distinct) > 100
    assert {one.place: slow for one in distinct.values() if (slow := growth(one))} == {}


def test_a_run_of_dashes_is_looked_through_for_secret_options_once() -> None:
    data = json.loads((ROOT / "shared/headgate/opamp/secret_forms.json").read_bytes())
    (options,) = [way["pattern"] for way in data["ways"] if way["words"] == ["-"]]

    assert growth(Pattern("options", in_python(options), re.ASCII, searched=True)) is None


@pytest.mark.parametrize(
    ("source", "searched"),
    [
        (r"(a+)+$", False),
        (r"(?:a|aa)+!", False),
        (r"\s*\s*\s*x", False),
        (r"\s+$", True),
        (r"""(?<![\w/.-])a(/[^\s:'\"]*)?['\"]?\s*:""", True),
        (r"""("(?:[^"\\]|\\.)*"|[^\s#](?:[^:#]|:(?=\S))*?)[ \t]*:(?:[ \t]+|$)""", False),
        (r"\$\{env:([a-z]+)(?::-([^}]*))?\}", True),
        (r"^\W*?::[\w-]+[ :]", True),
        (r'"(.+?)" (receiver|processor|exporter)', True),
    ],
)
def test_a_pattern_that_grows_faster_is_noticed(source: str, searched: bool) -> None:
    assert growth(Pattern("", source, re.MULTILINE, searched)) is not None
