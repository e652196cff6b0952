"""Findings from what the plain `validate` command prints: each message, and the component that it names.

Only the check process has the errors themselves. What kind of error a message tells of is not guessed from its words:
each finding here is `other`.
"""

import re
from collections.abc import Iterator
from typing import Final

from headgate_engine.collector import VARIABLE_NAME
from headgate_engine.validation.model import Finding, Variable

_SECTIONS: Final = "receivers|processors|exporters|connectors|extensions|service"
_RESOLVING: Final = "failed to get config: cannot resolve the configuration: "
_DECODING: Final = "failed to get config: cannot unmarshal the configuration: "
_BUILDING: Final = "failed to build pipelines: "
_SEVERAL: Final = "decoding failed due to the following error(s):\n\n"
_DECODED: Final = re.compile(rf"^(?='(?:{_SECTIONS})(?:\.\w+)?' )", re.MULTILINE)
_VALIDATED: Final = re.compile(rf"^(?=(?:{_SECTIONS})(?:::|: ))", re.MULTILINE)
_SECTION: Final = re.compile(r"'([^']*)' ")
_UNKNOWN_KEY: Final = re.compile(r"'[^']*' has invalid keys: (\S+?)(?:,|$)")
# A section of components. A field below one, such as 'service.telemetry', names what it is `in` at once: what follows
# it may quote the configuration.
_COMPONENT: Final = re.compile(
    rf"'(?:{_SECTIONS})' (?:unknown type: \"[^\"\n]*\" for id: |[^\"\n]*?(?:configuration for |in ))\"([^\"\n]*)\""
    r"|'[\w.]+' (?:'' )?in \"([^\"\n]*)\""
)
_UNKNOWN_TYPE: Final = re.compile(
    r"""'(receivers|processors|exporters|connectors|extensions)' unknown type: "([^"\n]*)" for id: "([^"\n]*)\""""
)
_BUILT: Final = re.compile(
    r'(receiver|processor|exporter|connector|extension) "([^"\n]+)"|"([^"\n]+)" (receiver|processor|exporter)'
)
# An error names its component at its beginning, before it quotes the configuration.
_BEGINNING: Final = 4_000
_LINE: Final = re.compile(r"\bline (\d+):")
_VARIABLE: Final = re.compile(r"(?<!\$)\$\{(?:env:)?(" + VARIABLE_NAME + r")(:-)?")


def findings(message: str) -> list[Finding]:
    """One finding for each error in the collector's message; at least one."""
    message = message.strip() or "The collector does not accept this configuration and does not say why"
    if message.startswith(_RESOLVING):
        return [_unresolved(message.removeprefix(_RESOLVING))]
    if message.startswith(_DECODING):
        chunks = _DECODED.split(message.removeprefix(_DECODING).removeprefix(_SEVERAL))
        return [
            Finding(chunk.strip(), _undecoded_path(chunk[:_BEGINNING]), "other") for chunk in chunks if chunk.strip()
        ]
    if message.startswith(_BUILDING):
        return [Finding(message, _built_path(message[:_BEGINNING]), "other")]
    chunks = _VALIDATED.split(message)
    return [Finding(chunk.strip(), _invalid_path(chunk), "other") for chunk in chunks if chunk.strip()]


def unknown_components(message: str) -> Iterator[tuple[str, str, str]]:
    """The component path, kind and type of each component that the collector calls unknown."""
    for section, type_, name in _UNKNOWN_TYPE.findall(message):
        yield f"{section}::{name}", section.removesuffix("s"), type_


def variables(yaml: str) -> Iterator[Variable]:
    """The environment variables in the text, comments included, each once."""
    seen: dict[str, bool] = {}
    for name, default in _VARIABLE.findall(yaml):
        seen[name] = seen.get(name, True) and bool(default)
    return (Variable(name, has_default, "") for name, has_default in seen.items())


def _unresolved(message: str) -> Finding:
    """A text that is not YAML, which has a line and no path, or one that names something outside it."""
    names_outside = message.startswith("scheme ") or " uri is not supported" in message
    line = _LINE.search(message)
    return Finding(message, "service" if names_outside else "", "other", int(line[1]) if line else None)


def _undecoded_path(beginning: str) -> str:
    section = _SECTION.match(beginning)
    named = _UNKNOWN_KEY.match(beginning) or _COMPONENT.match(beginning)
    parts = [section[1].replace(".", "::") if section else "service", named[named.lastindex or 0] if named else ""]
    return "::".join(filter(None, parts))


def _built_path(beginning: str) -> str:
    if not (built := _BUILT.search(beginning)):
        return "service::pipelines"
    kind, name = (built[1], built[2]) if built[1] else (built[4], built[3])
    return f"{kind}s::{name}"


def _invalid_path(message: str) -> str:
    path, separator, _ = message.partition(": ")
    return path if separator and re.match(_SECTIONS, path) else "service"
