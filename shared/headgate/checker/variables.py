"""A caller's variables under names of ours, for a collector that reads the real environment.

What a variable means to the libraries of a component hangs on its name (AWS_CONFIG_FILE, GODEBUG, TZ), so a caller
picks none: each `${env:NAME}` and `${NAME}` of the text gets a name of ours, and the process those and no others.

That is done letter for letter, without reading the YAML, which is exact because a text is refused unless each of its
references is plainly one: `${NAME}`, `${env:NAME}` or `${env:NAME:-default}`, with no `$` before it. Either name is
then a word of the same letters to YAML, in keys, comments, anchors and block scalars alike.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.checker.errors import CheckerFailed
from headgate.foundation.collector import VARIABLE_NAME

# A default without `env:` is none: before the colon stands a provider then, `${file:-x}`.
_REFERENCE = re.compile(r"(?<!\$)\$\{(env:)?(" + VARIABLE_NAME + r")((?(1)(?::-[^${}\\]*)?))\}")
# `%TAG` anywhere: a line of YAML begins behind a byte order mark and behind U+2028 as well. `!%21binary` is `!!binary`.
_DOUBTFUL = re.compile(r"\$[{\\]|\\[uUx]0*24|![!<%]|%TAG")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A text and its variables under names of ours. `names` are the caller's, in the order of ours."""

    yaml: str
    env: dict[str, str]
    prefix: str
    names: tuple[str, ...]

    def in_the_callers_names(self, message: str) -> str:
        """What the collector said of the text, with the caller's names in it again."""
        ours = re.compile(re.escape(self.prefix) + r"(\d+)_")
        return ours.sub(lambda found: self.names[int(found[1])], message)


def rename(yaml: str, env: Mapping[str, str]) -> Renamed:
    """The text and its variables under names of ours; one that is referred to without a value stays without.

    Raises CheckerFailed for a text that may name something to read outside of it, `${file:/etc/passwd}`, which a
    collector without our provider would read. YAML can write a `$` in other ways (an escape, a joined line,
    `!!binary`), and a variable's value or default, which is YAML as well, can bring one. Expanding `${env:A}` in
    `$${env:A}` as well, which the collector does if both occur, can set one free. Whatever may be one of those counts,
    so this errs on the side of not checking.
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
    return Renamed(
        yaml=_REFERENCE.sub(lambda found: f"${{{found[1] or ''}{ours[found[2]]}{found[3]}}}", yaml),
        env={ours[name]: value for name, value in env.items() if name in ours},
        prefix=prefix,
        names=names,
    )
