"""Renames a caller's variables, for a collector that reads the real environment.

Libraries give some names a meaning (AWS_CONFIG_FILE, GODEBUG, TZ), so the caller must not choose the names: each
`${env:NAME}` and `${NAME}` in the text gets a name of ours, and the process has these variables only.

The text is replaced without parsing the YAML. This is exact, because a text is refused unless each of its references is
plainly one: `${NAME}`, `${env:NAME}` or `${env:NAME:-default}`, with no `$` before it. To YAML, either name is then a
word of the same kind of letters, in keys, comments, anchors and block scalars alike.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headgate_engine.checker.errors import CheckerFailed
from headgate_engine.collector import VARIABLE_NAME

# Without `env:` there is no default: in `${file:-x}` the word before the colon is a provider.
_REFERENCE = re.compile(r"(?<!\$)\$\{(env:)?(" + VARIABLE_NAME + r")((?(1)(?::-[^${}\\]*)?))\}")
# `%TAG` anywhere: a YAML line begins after a byte order mark and after U+2028 as well. `!%21binary` is `!!binary`.
_DOUBTFUL = re.compile(r"\$[{\\]|\\[uUx]0*24|![!<%]|%TAG")


@dataclass(frozen=True, slots=True)
class RenamedVariables:
    """A text and its variables under names of ours. `names` are the caller's, in the order of ours."""

    yaml: str
    env: dict[str, str]
    prefix: str
    names: tuple[str, ...]

    def in_the_callers_names(self, message: str) -> str:
        """The collector's message with the caller's names."""
        ours = re.compile(re.escape(self.prefix) + r"(\d+)_")
        return ours.sub(lambda match: self.names[int(match[1])], message)


def rename(yaml: str, env: Mapping[str, str]) -> RenamedVariables:
    """The text and its variables, renamed; a variable without a value stays without one.

    Raises CheckerFailed for a text that may name something to read outside of it, `${file:/etc/passwd}`, which a
    collector without our provider would read. YAML can write a `$` in other ways (an escape, a joined line,
    `!!binary`), and a variable's value or default, which is YAML as well, can bring one. Expanding `${env:A}` in
    `$${env:A}` as well, which the collector does if both occur, can set one free. Every text that may do so is
    refused, so some harmless ones are not checked.
    """
    rest = _REFERENCE.sub(" ", yaml)
    brought = [*env.values(), *(default.removeprefix(":-") for _, _, default in _REFERENCE.findall(yaml))]
    if _DOUBTFUL.search(rest) or any("$" in text or _DOUBTFUL.search(text) for text in brought):
        raise CheckerFailed("The collector's validate command is not run on a text that may name what is outside of it")
    prefix = "HEADGATE_VAR_"
    while any(prefix in text for text in (yaml, *env.values())):
        prefix += "_"
    names = tuple(dict.fromkeys(name for _, name, _ in _REFERENCE.findall(yaml)))
    ours = {name: f"{prefix}{number}_" for number, name in enumerate(names)}
    return RenamedVariables(
        yaml=_REFERENCE.sub(lambda match: f"${{{match[1] or ''}{ours[match[2]]}{match[3]}}}", yaml),
        env={ours[name]: value for name, value in env.items() if name in ours},
        prefix=prefix,
        names=names,
    )
