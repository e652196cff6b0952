"""Our verdict held against that of the plain command of the same binary, and the texts to do it with.

The command is asked about every text with an empty environment, in an empty folder. Its verdicts are kept, by the
binary's and the text's hash, in the cache folder.
"""

import hashlib
import json
import os
import re
import subprocess
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from headgate.checker import Checker, CheckerFailed, Refused
from headgate_engine.checker.errors import NOT_IN_BUILD
from tests.support import linked_modules
from tests.support.askers import ASKER

BROKEN: Final = Path(__file__).resolve().parents[1] / "contract" / "broken_configurations"

# Components that ask the machine's cloud or cluster say what came of that, which differs from machine to machine.
ASKS_THE_MACHINE = re.compile(r"ec2imds|KUBERNETES_MASTER")
READS_OUTSIDE = re.compile(r"\$\{(file|https?|aes|s3|secretsmanager|googlesecretmanager):")


@dataclass(frozen=True)
class Plain:
    """What the plain command said."""

    valid: bool
    message: str


@dataclass(frozen=True)
class Comparison:
    """Which texts got the same verdict, which another one, and which name a component that this build lacks.

    `differing` are the names of the texts on which the two disagree, with the words of the one that refuses. Both
    collectors panic on `crashing` ones.
    """

    equal: list[str] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    not_in_build: list[str] = field(default_factory=list)
    crashing: list[tuple[str, str]] = field(default_factory=list)


def compare(checker: Checker, texts: Mapping[str, str], verdicts: Mapping[str, Plain]) -> Comparison:
    comparison = Comparison()
    for name, text in texts.items():
        plain = verdicts[text]
        try:
            answer = ask(checker, text)
        except CheckerFailed:
            where = comparison.crashing if "panic: " in plain.message else comparison.differing
            where.append((name, plain.message))
            continue
        if answer is None and not plain.valid:
            comparison.not_in_build.append(name)
        # The one exception: what names something outside of the text is refused unread. None of these is valid for
        # the plain command either, for it finds nothing at those places; if one becomes valid, list it here.
        elif answer is None or answer["valid"] != plain.valid:
            comparison.differing.append((name, plain.message or str(answer)))
        else:
            comparison.equal.append(name)
    return comparison


def ask(checker: Checker, text: str) -> dict[str, Any] | None:
    """The answer of the check process; nothing if the text needs a component that this build lacks."""
    try:
        return checker.call("validate", {"yaml": text, "env": {}}, asker=ASKER)
    except Refused as refused:
        if refused.code != NOT_IN_BUILD:
            raise
        return None


def says(message: str, error: Mapping[str, str]) -> bool:
    """Whether the finding's words, without the hints that we add behind them, stand in the message."""
    if "a configuration is a mapping of sections" in error["message"]:
        return "cannot be used as a Conf" in message
    parts = error["message"].split("; ")
    return any(_stand_in(message, "; ".join(parts[:end])) for end in range(1, len(parts) + 1))


def _stand_in(message: str, words: str) -> bool:
    # A field's name may be longer with us, who decode each component on its own, and the same error may come from
    # another pipeline or the other one of two names.
    words = re.sub(r"^'[^']*' ", "", words)
    # Positions are those in the whole text with us.
    words = re.sub(r"\d+:\d+: ", "", words)
    words = re.sub(r'^duplicate name "[^"]*"', "", words)
    # Some of the collector's messages list things in an order that changes.
    return bool(words) and set(re.findall(r"\w+", words)) <= set(re.findall(r"\w+", message))


def published(version: str) -> dict[str, str]:
    """The full configurations that the modules of that version and of the default one bring along, by their place."""
    by_place = {
        place: text
        for one in dict.fromkeys([version, linked_modules.default_version()])
        for place, text in configurations_of_the_modules(one)
    }
    by_text = {text: place for place, text in reversed(by_place.items())}
    return {place: text for text, place in reversed(by_text.items())}


def broken(lacks: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The configurations that are wrong on purpose, for a build that lacks components."""
    return {path.name: for_build(path.read_text(), lacks) for path in sorted(BROKEN.glob("*.yaml"))}


def for_build(text: str, lacks: Iterable[tuple[str, str]]) -> str:
    """The text with another receiver where the build lacks `nop`: one that needs no settings and takes all signals."""
    if ("receiver", "nop") not in lacks:
        return text
    lines, inside = [], -1
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if re.match(r"\s*receivers:", line):
            inside = indent
        elif line.strip() and indent <= inside:
            inside = -1
        lines.append(re.sub(r"\bnop\b", "kafka", line) if inside >= 0 else line)
    return "\n".join(lines)


def broken_by_rule(texts: Mapping[str, str]) -> dict[str, str]:
    """Each text without one of its lines, and with another key in one: at a place that depends on the text."""
    variants = {}
    for name, text in texts.items():
        lines = text.split("\n")
        digest = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        full = [at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
        keys = [at for at in full if re.match(r"\s*[-\w ]*\w:", lines[at])]
        if full:
            at = full[digest % len(full)]
            variants[f"{name} without line {at + 1}"] = "\n".join(lines[:at] + lines[at + 1 :])
        if keys:
            at = keys[digest % len(keys)]
            other = re.sub(r"^(\s*(?:- +)?)(\w[^:]*):", r"\1\2x:", lines[at])
            variants[f"{name} with another key in line {at + 1}"] = "\n".join([*lines[:at], other, *lines[at + 1 :]])
    return variants


@cache
def configurations_of_the_modules(version: str) -> list[tuple[str, str]]:
    """Every full configuration in the linked modules of a version, with its place in the cache of modules."""
    return [found for folder in linked_modules.folders(version) for found in _configurations_of(folder)]


def _configurations_of(folder: Path) -> Iterator[tuple[str, str]]:
    cache = linked_modules.folder_of_all()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(cache))
        if path.suffix in {".yaml", ".yml"} and path.is_file():
            text = path.read_bytes().decode(errors="replace")
            if is_full(text):
                yield name, text
        elif path.suffix == ".md":
            blocks = re.findall(r"^ *```ya?ml *\n(.*?)^ *```", path.read_text(errors="replace"), re.M | re.S)
            for number, block in enumerate(map(textwrap.dedent, blocks)):
                if is_full(block):
                    yield f"{name}#{number}", block


def is_full(text: str) -> bool:
    return re.search(r"^service:", text, re.MULTILINE) is not None


def plain_verdicts(binary: Path, texts: Iterable[str], folder: Path) -> dict[str, Plain]:
    stored = Path(os.environ.get("HEADGATE_CACHE") or Path.home() / ".cache" / "headgate") / "plain_verdicts"
    stored.mkdir(parents=True, exist_ok=True)
    with binary.open("rb") as program:
        of_binary = stored / f"{hashlib.file_digest(program, 'sha256').hexdigest()}.json"
    known = json.loads(of_binary.read_text()) if of_binary.is_file() else {}

    def verdict(text: str) -> Plain:
        name = hashlib.sha256(text.encode()).hexdigest()
        if name not in known:
            known[name] = run_plainly(binary, text, folder / f"{name}.yaml")
        valid, message = known[name]
        return Plain(valid, message)

    distinct = list(dict.fromkeys(texts))
    with ThreadPoolExecutor(2) as pool:
        verdicts = dict(zip(distinct, pool.map(verdict, distinct), strict=True))
    # In one step, so that a run that is stopped leaves no part of a file.
    part = of_binary.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(known))
    part.replace(of_binary)
    return verdicts


def run_plainly(binary: Path, text: str, file: Path) -> tuple[bool, str]:
    file.write_text(text)
    done = subprocess.run(
        [binary, "validate", "--config", file.name],
        env={"HOME": "/"},
        cwd=file.parent,
        capture_output=True,
        check=False,
        timeout=300,
    )
    return done.returncode == 0, done.stderr.decode(errors="replace")
