"""Writes the policies into docs/policies.md, from the answer of the default collector's program to `policy_list`.

make policies

`test_policies_of_the_collector.py` fails if the page is not what this writes.
"""

import textwrap
from pathlib import Path
from typing import Any, Final

from headgate.checker import Asker, Checker
from headgate.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits

PAGE: Final = Path(__file__).parents[1] / "docs" / "policies.md"
BEGIN: Final = "<!-- Written by `make policies`: begin -->\n"
END: Final = "<!-- Written by `make policies`: end -->\n"
_WIDTH: Final = 120
_SEVERITIES: Final = {"error": "error", "warning": "warning", "info": "information"}


def main() -> None:
    checker = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, Limits(processes=1))
    try:
        listed = checker.call("policy_list", {}, asker=Asker("org_of_the_page", "tok_of_the_page"))["policies"]
    finally:
        checker.close()
    assert isinstance(listed, list)
    PAGE.write_text(with_policies(PAGE.read_text(), listed))
    print(f"wrote {PAGE.relative_to(Path.cwd())}")


def with_policies(page: str, policies: list[dict[str, Any]]) -> str:
    """The page with these policies between the marks."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + "\n".join(_lines(policies)) + "\n" + END + after


def _lines(policies: list[dict[str, Any]]) -> list[str]:
    lines = ["", "| Code | Severity | |", "|---|---|---|"]
    for one in policies:
        lines.append(f"| [`{one['code']}`](#{one['code']}) | {_SEVERITIES[one['severity']]} | {one['title']} |")
    for one in policies:
        lines += ["", f"### {one['code']}", "", f"{one['title']}. {_SEVERITIES[one['severity']].capitalize()}.", ""]
        lines += [textwrap.fill(one["why"], _WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        lines += [textwrap.fill(one["way_out"], _WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        if one["since"] or one["until"]:
            lines += [f"It holds{_versions(one['since'], one['until'])}.", ""]
        if one["seen"]:
            links = ", ".join(f"[{_place(link)}]({link})" for link in one["seen"])
            lines += [f"Users met it in {links}.", ""]
        lines += ["<details><summary>Examples</summary>", "", "Not so:", "", "```yaml", one["failing"].rstrip(), "```"]
        lines += ["", "But so:", "", "```yaml", one["passing"].rstrip(), "```", "", "</details>"]
    return lines


def _versions(since: str, until: str) -> str:
    return (f" from collector {since} on" if since else "") + (f" until {until}, which refuses it" if until else "")


def _place(link: str) -> str:
    owner, repository, _, number = link.removeprefix("https://github.com/").split("/")
    return f"{owner}/{repository}#{number}"


if __name__ == "__main__":
    main()
