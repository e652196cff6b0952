"""Findings from the text that the plain `validate` command prints: as much as can be told from a text.

The check process has the errors themselves and tells more; this is for when it could not be asked. What is not
recognised keeps its message and is called `other`.
"""

import re
from collections.abc import Iterator
from typing import Final

from headgate.validation.model import Code, Finding, Variable

_SECTIONS: Final = "receivers|processors|exporters|connectors|extensions|service"
_RESOLVING: Final = "failed to get config: cannot resolve the configuration: "
_DECODING: Final = "failed to get config: cannot unmarshal the configuration: "
_SEVERAL: Final = "decoding failed due to the following error(s):\n\n"
_DECODED: Final = re.compile(rf"^(?='(?:{_SECTIONS})(?:\.\w+)?' )", re.MULTILINE)
_VALIDATED: Final = re.compile(rf"^(?=(?:{_SECTIONS})(?:::|: ))", re.MULTILINE)
_COMPONENT: Final = re.compile(rf"'({_SECTIONS})' .*?(?:unknown type: .*? for id: |configuration for |in )\"(.*?)\"")
_BUILT: Final = re.compile(
    r'(receiver|processor|exporter|connector|extension) "(.+?)"|"(.+?)" (receiver|processor|exporter)'
)
# What an error is about stands at its beginning, before it quotes what somebody wrote: to find the one in all of the
# other takes time that grows with its square, 3 s for 56 KB.
_BEGINNING: Final = 4_000
_LINE: Final = re.compile(r"\bline (\d+):")
_VARIABLE: Final = re.compile(r"(?<!\$)\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-)?")


def findings(message: str) -> list[Finding]:
    """What the collector's message says, one finding for each of its errors; at least one."""
    message = message.strip() or "The collector does not accept this configuration and does not say why"
    if message.startswith(_RESOLVING):
        return [_unresolved(message.removeprefix(_RESOLVING))]
    if message.startswith(_DECODING):
        chunks = _DECODED.split(message.removeprefix(_DECODING).removeprefix(_SEVERAL))
        return [_undecoded(chunk.strip()) for chunk in chunks if chunk.strip()]
    if message.startswith("failed to build pipelines: "):
        return [Finding(message, _built_path(message), "pipeline_graph")]
    return [_invalid(chunk.strip()) for chunk in _VALIDATED.split(message) if chunk.strip()]


def variables(yaml: str) -> Iterator[Variable]:
    """The environment variables that stand in the text, comments included, each once."""
    seen: dict[str, bool] = {}
    for name, default in _VARIABLE.findall(yaml):
        seen[name] = seen.get(name, True) and bool(default)
    return (Variable(name, has_default, "") for name, has_default in seen.items())


def _unresolved(message: str) -> Finding:
    if message.startswith("scheme ") or " uri is not supported" in message:
        return Finding(message, "service", "provider_not_allowed")
    line = _LINE.search(message)
    return Finding(message, "", "yaml_syntax", int(line[1]) if line else None)


def _undecoded(message: str) -> Finding:
    beginning = message[:_BEGINNING]
    section = message[1 : message.index("'", 1)].replace(".", "::") if message.startswith("'") else "service"
    if component := _COMPONENT.match(beginning):
        section = f"{component[1]}::{component[2]}"
    elif unknown := re.match(r"'(.*?)' has invalid keys: (\S+?)(,|$)", beginning):
        key = f"{section}::{unknown[2]}" if section else unknown[2]
        return Finding(message, key, "unknown_key" if section else "unknown_section")
    elif identified := re.match(r"'[\w.]+' (?:'' )?in \"(.*?)\"", beginning):
        section = f"{section}::{identified[1]}"
    return Finding(message, section, _code_of_decoding(message))


def _code_of_decoding(message: str) -> Code:
    if " unknown type: " in message:
        return "unknown_component"
    if " has invalid keys: " in message:
        return "unknown_key"
    if " expected type " in message or " expected a map" in message:
        return "wrong_type"
    return "invalid_value"


def _invalid(message: str) -> Finding:
    path, separator, _ = message.partition(": ")
    if not separator or not re.match(_SECTIONS, path):
        return Finding(message, "service", "other")
    is_reference = re.search(r": references \w+ \".*\" which is not configured", message[:_BEGINNING]) is not None
    return Finding(message, path, "undefined_reference" if is_reference else "invalid_value")


def _built_path(message: str) -> str:
    if not (built := _BUILT.search(message[:_BEGINNING])):
        return "service::pipelines"
    kind, name = (built[1], built[2]) if built[1] else (built[4], built[3])
    return f"{kind}s::{name}"
