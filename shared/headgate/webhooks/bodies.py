"""The body of a delivery in the form that a receiver takes: the CloudEvent itself, Slack's, or PagerDuty's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from headgate.events.model import EventType
from headgate.webhooks.model import Format

Severity = Literal["critical", "error", "warning", "info"]

_MOST_SUMMARY: Final = 1_024  # PagerDuty's limit
# A host's name is its own word: a line end would forge a line of ours, and marks of direction would reorder one.
_NOT_IN_A_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_SLACK: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_CONTENT_TYPES: Final[Mapping[Format, str]] = {
    "cloudevents": "application/cloudevents+json; charset=utf-8",
    "slack": "application/json",
    "pagerduty": "application/json",
}
# What one of them says, and several; {n} is their number.
_SENTENCES: Final[Mapping[EventType, tuple[str, str, Severity]]] = {
    "configuration.published": ("A version was published", "{n} versions were published", "info"),
    "test.failed": ("Tests failed", "Tests failed {n} times", "error"),
    "rollout.started": ("A rollout started", "{n} rollouts started", "info"),
    "rollout.halted": ("A rollout was halted", "{n} rollouts were halted", "error"),
    "rollout.rolled_back": ("A rollout was rolled back", "{n} rollouts were rolled back", "error"),
    "rollout.rollback_failed": (
        "Hosts did not go back to the version before",
        "Hosts did not go back to the version before in {n} rollouts",
        "critical",
    ),
    "rollout.finished": ("A rollout finished", "{n} rollouts finished", "info"),
    "instance.apply_failed": (
        "A host could not apply its configuration",
        "{n} hosts could not apply their configuration",
        "error",
    ),
    "instance.silent": ("A host is silent", "{n} hosts are silent", "warning"),
    "instance.stale": ("A host is stale", "{n} hosts are stale", "error"),
    "instance.drifted": ("Something was changed on a host", "Something was changed on {n} hosts", "warning"),
    "instance.stopped": ("A host stopped", "{n} hosts stopped", "warning"),
    "instance.recovered": ("A host has recovered", "{n} hosts have recovered", "info"),
    "token.expiring": ("A token expires soon", "{n} tokens expire soon", "warning"),
    "fleet.limit_near": ("A limit is nearly reached", "{n} limits are nearly reached", "warning"),
    "webhook.test": ("This is a test of the webhook", "These are {n} tests of the webhook", "info"),
}


def body(form: Format, document: Mapping[str, Any], routing_key: str) -> tuple[bytes, str]:
    """The body and its content type."""
    content: Mapping[str, object] = document
    if form == "slack":
        content = {"text": _slack(document)}
    elif form == "pagerduty":
        content = _pagerduty(document, routing_key)
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), _CONTENT_TYPES[form]


def summary(document: Mapping[str, Any]) -> str:
    """One line, such as `12 hosts are silent in fleet production`."""
    data, one_of = document["data"], _SENTENCES[document["type"]]
    count = data["count"]
    sentence = one_of[0] if count == 1 else one_of[1].format(n=f"{count:,}")
    fleet = data.get("fleet")
    # One that was deleted meanwhile has no name any more.
    return _one_line(f"{sentence} in fleet {fleet.get('name') or fleet['id']}") if fleet else sentence


def _slack(document: Mapping[str, Any]) -> str:
    data = document["data"]
    items: Sequence[Mapping[str, Any]] = data["items"]
    # Names are users' own texts: escaped, so that none is a link or calls a whole channel.
    lines = [f"*<{data['link']}|{_escaped(summary(document))}>*"]
    lines += [f"• {_escaped(line)}" for line in filter(None, map(_line, items))]
    if data["count"] > len(items):
        lines.append(f"… and {data['count'] - len(items):,} more")
    return "\n".join(lines)


def _line(item: Mapping[str, Any]) -> str:
    """The names of an event's subject: `web-1, group Default, edge v3`."""
    parts = []
    for kind in ("instance", "token", "deployment", "configuration"):
        if named := item.get(kind):
            name = named.get("name") or named["id"]
            version = f" v{item['version_number']}" if kind == "configuration" and "version_number" in item else ""
            parts.append(f"group {name}" if kind == "deployment" else f"{name}{version}")
    parts += [f"{name.replace('_', ' ')} {n:,}" for name, n in item.get("figures", {}).items()]
    if reason := item.get("reason"):
        parts.append(reason)
    return _one_line(", ".join(parts))


def _one_line(text: str) -> str:
    return _NOT_IN_A_LINE.sub(" ", text)


def _pagerduty(document: Mapping[str, Any], routing_key: str) -> Mapping[str, object]:
    """An event of PagerDuty's Events API, version 2."""
    kind, data = document["type"], document["data"]
    lines = [line for line in map(_line, data["items"]) if line]
    return {
        "routing_key": routing_key,
        "event_action": "trigger",
        "dedup_key": document["id"],
        "client": "Headgate",
        "client_url": data["link"],
        "links": [{"href": data["link"], "text": "Open in Headgate"}],
        "payload": {
            "summary": ": ".join([summary(document), *lines[:1]])[:_MOST_SUMMARY],
            "source": data.get("fleet", {}).get("name") or "headgate",
            "severity": _SENTENCES[kind][2],
            "timestamp": document["time"],
            "class": kind,
            "group": data.get("fleet", {}).get("id"),
            "custom_details": {"count": data["count"], "items": data["items"]},
        },
    }


def _escaped(text: str) -> str:
    return text.translate(_SLACK)
