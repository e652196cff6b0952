"""Texts about components and settings, in Markdown. What comes from a schema or a server is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from headgate_cli.lsp import schema
from headgate_cli.lsp.schema import KnownComponent, Schema
from headgate_cli.untrusted import printable

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|!])")
_LONGEST: Final = 3_000


def escaped(text: str) -> str:
    """Text within Markdown: nothing in it is a link, an image or HTML."""
    return _MARKDOWN.sub(r"\\\1", printable(text[:_LONGEST]))


def code(text: str) -> str:
    """Text as code on one line."""
    return f"`{printable(text[:_LONGEST]).replace('`', chr(39)).replace(chr(10), ' ')}`"


def block(text: str, language: str) -> str:
    """Text as code on lines of its own."""
    return f"```{language}\n{printable(text[:_LONGEST]).replace('```', '')}\n```"


def described(alternatives: Sequence[Schema]) -> str:
    """Describe a setting by its schema: description, type, default, values, deprecated or secret."""
    parts = [escaped(schema.description(alternatives))]
    kinds = schema.shown_types(alternatives)
    facts = [f"Type: {code(' or '.join(kinds))}"] if kinds else []
    standard = schema.default(alternatives)
    if standard is not None:
        shown = standard if isinstance(standard, str) else json.dumps(standard, ensure_ascii=False)
        facts.append(f"Default: {code(shown[:300])}")
    listed = [value if isinstance(value, str) else json.dumps(value) for value in schema.listed(alternatives)]
    if listed:
        facts.append("Values: " + ", ".join(map(code, listed[:40])))
    parts.append("  \n".join(facts))
    if reason := schema.deprecated(alternatives):
        parts.append(f"**Deprecated.** {escaped(reason)}")
    if schema.is_secret(alternatives):
        parts.append("**Secret**: the collector never prints it. Write `${env:NAME}` instead of the value.")
    return "\n\n".join(part for part in parts if part)


def of_component(component: KnownComponent) -> str:
    """Summary, stability by signal, aliases and deprecation of a component type."""
    parts = [f"**{escaped(component.type)}** {component.kind}", escaped(component.summary)]
    if component.stability:
        levels = ", ".join(f"{signal}: {level}" for signal, level in component.stability.items())
        parts.append(f"Stability: {escaped(levels)}")
    if component.deprecated:
        parts.append(f"**Deprecated.** {escaped(component.deprecated)}")
    if component.aliases:
        parts.append("Deprecated names: " + ", ".join(code(alias) for alias in component.aliases))
    return "\n\n".join(part for part in parts if part)
