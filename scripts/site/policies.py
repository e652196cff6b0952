"""The list of policies at the end of docs/policies.md, from the answer of a collector's program to `policy_list`."""

import textwrap
from typing import Any, Final

from headgate import checker
from headgate.checker import Asker

_WIDTH: Final = 120
_SEVERITIES: Final = {"error": "error", "warning": "warning", "info": "information"}


def listed(version: str) -> str:
    """The policies of that collector: a table, and a section for each one."""
    policies = checker.call("policy_list", {}, asker=Asker("org_of_the_page", "tok_of_the_page"), version=version)[
        "policies"
    ]
    assert isinstance(policies, list)
    return "\n".join(_lines(policies)) + "\n"


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
