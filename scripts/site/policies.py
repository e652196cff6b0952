"""The list of policies at the end of docs/policies.md, from the answer of a collector's program to `policy_list`."""

import textwrap
from typing import Any, Final

from headgate import checker
from headgate.checker import Asker

_WIDTH: Final = 120
_SEVERITIES: Final = {"error": "error", "warning": "warning", "info": "information"}


def listed(version: str) -> str:
    """The policies of that collector: a table, and a section for each one."""
    policies = checker.COLLECTORS.call(
        "policy_list", {}, asker=Asker("org_of_the_page", "tok_of_the_page"), version=version
    )["policies"]
    assert isinstance(policies, list)
    return "\n".join(_lines(policies)) + "\n"


def _lines(policies: list[dict[str, Any]]) -> list[str]:
    lines = ["", "| Code | Severity | |", "|---|---|---|"]
    for policy in policies:
        lines.append(
            f"| [`{policy['code']}`](#{policy['code']}) | {_SEVERITIES[policy['severity']]} | {policy['title']} |"
        )
    for policy in policies:
        lines += [
            "",
            f"### {policy['code']}",
            "",
            f"{policy['title']}. {_SEVERITIES[policy['severity']].capitalize()}.",
            "",
        ]
        lines += [textwrap.fill(policy["why"], _WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        lines += [textwrap.fill(policy["way_out"], _WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        if policy["since"] or policy["until"]:
            lines += [f"It holds{_versions(policy['since'], policy['until'])}.", ""]
        if policy["seen"]:
            links = ", ".join(f"[{_place(link)}]({link})" for link in policy["seen"])
            lines += [f"Users met it in {links}.", ""]
        lines += [
            "<details><summary>Examples</summary>",
            "",
            "Not so:",
            "",
            "```yaml",
            policy["failing"].rstrip(),
            "```",
        ]
        lines += ["", "But so:", "", "```yaml", policy["passing"].rstrip(), "```", "", "</details>"]
    return lines


def _versions(since: str, until: str) -> str:
    return (f" from collector {since} on" if since else "") + (f" until {until}, which refuses it" if until else "")


def _place(link: str) -> str:
    owner, repository, _, number = link.removeprefix("https://github.com/").split("/")
    return f"{owner}/{repository}#{number}"
