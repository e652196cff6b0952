"""Secrets in a text, by the one list of their forms, which `layers/collector/secrets` has for programs in Go.

`secret_forms.json` is that list as data; a test in Go fails if both differ. Python's patterns may take a time that
grows with the square of a text, so texts are bounded, and a pattern runs only where one of its words is.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

REDACTED: Final = "[REDACTED]"
LONGEST_TEXT: Final = 2_000
"""Characters of a text; a longer one is redacted as a whole."""
_LEAST_UNLIKE_A_WORD: Final = 4
_ENOUGH: Final = 512
_FLAG: Final = "(?i)"

# What may stand between a name and its value, and the value.
_VALUE: Final = re.compile(
    r"[\\\"'`%27\]]{0,6}(?:,\s?[\"'](?:value|val|v|data|content|default|text)[\"'])?\s{0,9}"
    r"(?::=|->|=>|={1,3}>?|:|%3[aAdD]|,(?=\s?[\"'](?![\w-]{1,40}[\"']\s?:)))[\s\\\"'|>-]{0,9}"
    r"((?<=\")[^\"]*|(?<=')[^']*|[^\s\"'&;,\\}\])]+)"
)
_BESIDES: Final = re.compile(r"\s{1,9}(?:(?:is|was)\s)?\s{0,9}[\"'`\\]{0,9}([^\s\"'`\\]+)")
_SUFFIX: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{0,40}")


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of secrets, which is looked for in texts with one of its words, those in lower case."""

    pattern: str
    words: tuple[str, ...]
    group: int = 0
    entropy: float = 0.0
    accepts: Callable[[str], bool] | None = None
    is_way: bool = False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        for match in _compiled(self.pattern).finditer(text):
            groups = [self.group] if self.group else range(1, len(match.groups()) + 1)
            start, end = next((match.span(n) for n in groups if match[n]), match.span())
            secret = text[start:end].strip("\"'")
            if self.is_way and len(match.groups()) > 1 and match[2] and _pattern("version_name").search(match[2]):
                continue
            if not secret or secret.startswith(REDACTED) or (self.accepts and not self.accepts(secret)):
                continue
            if not self.entropy or _entropy(text[start:end]) > self.entropy:
                yield start, end


def is_name(key: str) -> bool:
    """True if a key is the name of a secret."""
    return _pattern("name").search(key) is not None


def is_setting(key: str) -> bool:
    """True if a setting's name says that it, or anything in it, is a secret."""
    return any(_pattern(which).search(key) for which in ("password_setting", "secret_setting"))


@lru_cache(maxsize=4_096)
def without_secrets(text: str) -> str:
    """The text with secrets redacted by their forms, their names before them, and by looking like made by chance."""
    if len(text) > LONGEST_TEXT:
        return REDACTED
    lower = text.lower()
    places = {place for word, places in _places() if word in lower for place in places}
    for place in sorted(places):
        text = _hidden(text, _forms()[place].spans(text))
    text = _hidden(text, _in_addresses(text))
    text = _hidden(text, _named(text))
    long_texts = _pattern("long_text").finditer(text)
    return _hidden(text, (match.span() for match in long_texts if is_random(match[0])))


def is_random(text: str) -> bool:
    """True if a text looks random instead of made of words."""
    if _mixes(text, 32, 5) and _entropy(text) >= 3.2:
        return True
    return any(
        (_mixes(part, 16, 2) and _entropy(part) >= 2.8)
        or (len(part) >= 20 and _case_changes(part) >= 6 and _entropy(part) >= 3.2)
        for part in re.split(r"[+/=_-]", text)
    )


def _hidden(text: str, spans: Iterator[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        if start >= at:
            parts += [text[at:start], REDACTED]
        at = end
    return "".join([*parts, text[at:]]) if at else text


def _named(text: str) -> Iterator[tuple[int, int]]:
    """Values that stand after the name of a secret."""
    for scheme in _pattern("schemes").finditer(text):
        if _is_unlike_a_word(scheme[0].split()[-1]):
            yield scheme.span()
    for name in _pattern("names").finditer(text):
        suffix = _SUFFIX.match(text, name.end()) if name[1] or name[2] else None
        for end in {suffix.end() if suffix else name.end(), name.end()}:
            value = _VALUE.match(text, end)
            if value is None:
                value = _BESIDES.match(text, end)
                if value is None or not _is_unlike_a_word(value[1].strip("\"'.:!?`")):
                    continue
            if value[1] and not value[1].startswith(("$", REDACTED[:-1])) and not _is_nothing(value[1]):
                yield value.span(1)


def _in_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Parameters of addresses and connection strings whose names are those of secrets."""
    if "=" not in text:
        return
    for address in _pattern("query").finditer(text):
        for pair in _pattern("pair").finditer(address[0]):
            if is_name(pair[1]) or pair[1].lower() == "sig":
                yield address.start() + pair.start(2), address.start() + pair.end(2)


def _is_unlike_a_word(text: str) -> bool:
    if len(text) < _LEAST_UNLIKE_A_WORD:
        return False
    return re.search(r"[\d!@#$%^&*=+~?]|[a-z][A-Z]", text) is not None


def _is_nothing(text: str) -> bool:
    return text.lower().strip("\"'") in ("none", "null", "nil", "true", "false", "ok")


def _is_setting_value(text: str) -> bool:
    return not _pattern("state_words").search(text) and not text.startswith(("$", "%(", "{{", "<"))


def _is_password(text: str) -> bool:
    return _is_setting_value(text) and not _pattern("test_file").search(text)


def _is_option(text: str) -> bool:
    return not text.isdigit() and not text.startswith("-") and _is_setting_value(text)


def _is_connection(text: str) -> bool:
    return ("=" in text or "@" in text) and not text.startswith(("$", "%(", "{{", "<"))


def _has_colon(text: str) -> bool:
    name, _, password = text.partition(":")
    return bool(name and password) and not password.isdigit()


_ACCEPTS: Final[Mapping[str, Callable[[str], bool] | None]] = {
    "": None,
    "hasColon": _has_colon,
    "isConnection": _is_connection,
    "isNoChallenge": lambda text: not text.lower().endswith("realm="),
    "isOption": _is_option,
    "isPassword": _is_password,
    "isSetting": _is_setting_value,
    "isUnlikeAWord": _is_unlike_a_word,
}


def _entropy(text: str) -> float:
    text = text[:_ENOUGH]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _mixes(text: str, least: int, each: int) -> bool:
    letters = sum(character.isalpha() for character in text)
    digits = sum(character.isdigit() for character in text)
    return len(text) >= least and letters >= each and digits >= each


def _case_changes(text: str) -> int:
    return sum(before.isupper() != after.isupper() for before, after in pairwise(text))


@cache
def _forms() -> tuple[_Form, ...]:
    data = json.loads(Path(__file__).with_suffix(".json").read_bytes())
    rules = [
        _Form(rule["pattern"], tuple(rule["keywords"] or ()), rule.get("group", 0), rule.get("entropy", 0.0))
        for rule in data["rules"]
    ]
    ways = [
        _Form(way["pattern"], tuple(way["words"]), accepts=_ACCEPTS[way["is"]], is_way=True) for way in data["ways"]
    ]
    return (*rules, *ways)


@cache
def _places() -> Sequence[tuple[str, Sequence[int]]]:
    """Each word, and the places of the forms that have it; the empty word of those without."""
    places: dict[str, list[int]] = {}
    for place, form in enumerate(_forms()):
        for word in form.words or ("",):
            places.setdefault(word, []).append(place)
    return tuple(places.items())


@cache
def _pattern(which: str) -> re.Pattern[str]:
    patterns: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_bytes())["patterns"]
    return _compiled(patterns[which])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(in_python(pattern), re.ASCII)


def in_python(pattern: str) -> str:
    """A pattern of RE2 in Python's words: flags in the midst hold to the end of their group, and classes have names."""
    pattern = pattern.replace("[[:alnum:]]", "[0-9A-Za-z]").replace("[:alnum:]", "0-9A-Za-z").replace(r"\z", r"\Z")
    pattern = pattern.replace(r"\pL", "A-Za-z" if r"[\pL" in pattern else "[A-Za-z]")
    # From each dash of a run, all that follows would be looked at again; what matches from the first one is the same.
    pattern = pattern.replace(r"\B--?[\w-]*", r"(?<!-)\B--?[\w-]*")
    parts, opened, at, in_class = [], [0], 0, False
    while at < len(pattern):
        if pattern[at] == "\\":
            parts.append(pattern[at : at + 2])
            at += 2
            continue
        if not in_class and at and pattern.startswith(_FLAG, at):
            parts.append("(?i:")
            opened[-1] += 1
            at += len(_FLAG)
            continue
        character = pattern[at]
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            opened.append(0)
        elif character == ")":
            parts.append(")" * opened.pop())
        parts.append(character)
        at += 1
    return "".join(parts) + ")" * opened.pop()
