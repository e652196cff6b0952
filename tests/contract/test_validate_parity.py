"""Our verdict against that of the plain command: over the configurations of the linked modules, and over broken ones.

The command is asked about every text with an empty environment, in an empty folder. Its verdicts are kept, by the
binary's and the text's hash, in the cache folder; without them the comparison takes about half a minute longer.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.checker import Checker
from headgate.checker.installed import Installed
from headgate.checker.limits import Limits
from headgate.settings import settings
from tests.support.askers import ASKER

pytestmark = pytest.mark.contract

MODULE = Path(__file__).resolve().parents[2] / "layers" / "collector"
BROKEN = Path(__file__).parent / "broken_configurations"
NOP = "receivers:\n  nop:\nexporters:\n  nop:\nservice:\n  pipelines:\n    traces:\n      {}\n"
VALID = NOP.format("receivers: [nop]\n      exporters: [nop]")

HOSTILE = {
    "a megabyte of nested lists": "receivers: " + "[" * 500_000 + "]" * 500_000,
    "nested mappings": "receivers:\n  nop:\n    a: " + "{a: " * 300 + "}" * 300 + "\n" + VALID.split("\n", 2)[2],
    "blocks nested": "".join(" " * depth + "a:\n" for depth in range(300)),
    "aliases that blow up": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    + VALID,
    "merges that blow up": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 22))
    + VALID,
    "a megabyte of text": VALID.replace("nop:", 'nop: "' + "x" * 1_000_000 + '"', 1),
    "braces that never close": VALID.replace("nop:", 'nop: "' + "${" * 100_000 + '}"', 1),
    "a hundred documents": "---\na: 1\n" * 100,
    "many pipelines": NOP.format(
        "receivers: [nop]\n      exporters: [nop]"
        + "".join(f"\n    traces/{n}:\n      receivers: [nop]\n      exporters: [nop]" for n in range(300))
    ),
}

# Components that ask the machine's cloud or cluster say what came of that, which differs from machine to machine.
ASKS_THE_MACHINE = re.compile(r"ec2imds|KUBERNETES_MASTER")
READS_OUTSIDE = re.compile(r"\$\{(file|https?|aes|s3|secretsmanager|googlesecretmanager):")


@dataclass(frozen=True)
class Plain:
    """What the plain command said."""

    valid: bool
    message: str


@pytest.fixture(scope="module")
def binary() -> Path:
    return Installed(Path(settings().collectors_dir)).binary(settings().collector_version)


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    limits = Limits(processes=1, request_seconds=60)
    made = Checker(Installed(Path(settings().collectors_dir)), settings().collector_version, limits)
    yield made
    made.close()


@pytest.fixture(scope="module")
def published() -> dict[str, str]:
    """Every full configuration that the linked modules bring along, by its place."""
    return dict(configurations_of_the_modules())


@pytest.fixture(scope="module")
def broken() -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(BROKEN.glob("*.yaml"))}


@pytest.fixture(scope="module")
def verdicts(
    binary: Path, published: dict[str, str], broken: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Plain]:
    """The plain command's verdict on every text."""
    texts = [*published.values(), *broken.values(), *HOSTILE.values()]
    return plain_verdicts(binary, texts, tmp_path_factory.mktemp("plain"))


def test_the_verdict_on_every_configuration_of_the_linked_modules_is_that_of_the_plain_command(
    checker: Checker, published: dict[str, str], verdicts: dict[str, Plain], capsys: pytest.CaptureFixture[str]
) -> None:
    differing = differences(checker, published, verdicts)

    with capsys.disabled():
        refused = sum(not verdicts[text].valid for text in published.values())
        print(f"\n{len(published)} configurations of the linked modules compared, {refused} of them refused")
    assert len(published) > 200
    assert differing == []


def test_the_verdict_on_every_broken_configuration_is_that_of_the_plain_command(
    checker: Checker, broken: dict[str, str], verdicts: dict[str, Plain], capsys: pytest.CaptureFixture[str]
) -> None:
    differing = differences(checker, broken, verdicts)

    with capsys.disabled():
        print(f"\n{len(broken)} broken configurations compared")
    assert len(broken) >= 60
    assert [name for name, text in broken.items() if verdicts[text].valid] == []
    assert differing == []


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_gets_the_verdict_of_the_plain_command(
    checker: Checker, verdicts: dict[str, Plain], name: str
) -> None:
    assert differences(checker, {name: HOSTILE[name]}, verdicts) == []


def test_the_second_time_in_one_process_the_verdict_is_the_same(
    checker: Checker, published: dict[str, str], broken: dict[str, str], verdicts: dict[str, Plain]
) -> None:
    backwards = dict(reversed({**published, **broken}.items()))

    assert differences(checker, backwards, verdicts) == []


def test_every_refusal_of_the_plain_command_is_explained_in_its_own_words(
    checker: Checker, published: dict[str, str], broken: dict[str, str], verdicts: dict[str, Plain]
) -> None:
    unexplained = []
    for name, text in {**published, **broken}.items():
        plain = verdicts[text]
        if plain.valid or READS_OUTSIDE.search(text) or ASKS_THE_MACHINE.search(plain.message):
            continue
        errors = ask(checker, text)["errors"]
        if not any(says(plain.message, error) for error in errors):
            unexplained.append((name, plain.message, [error["message"] for error in errors]))

    assert unexplained == []


def test_every_finding_is_placed_in_the_text(checker: Checker, broken: dict[str, str]) -> None:
    for name, text in broken.items():
        lines = text.split("\n")
        for finding in ask(checker, text)["errors"]:
            assert 1 <= finding["line"] <= len(lines), name
            assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1, name
            assert finding["component_path"] or finding["code"] == "yaml_syntax", name


def test_what_would_be_read_from_outside_is_refused_even_where_it_exists(checker: Checker, tmp_path: Path) -> None:
    outside = tmp_path / "verbosity"
    outside.write_text("basic")
    text = VALID.replace("exporters:\n  nop:", f"exporters:\n  nop:\n  debug:\n    verbosity: ${{file:{outside}}}")

    result = ask(checker, text)

    assert result["valid"] is False
    assert [error["code"] for error in result["errors"]] == ["provider_not_allowed"]


def differences(checker: Checker, texts: Mapping[str, str], verdicts: Mapping[str, Plain]) -> list[tuple[str, str]]:
    """The names of the texts on which the two disagree, with the words of the one that refuses."""
    differing = []
    for name, text in texts.items():
        result = ask(checker, text)
        # The one exception: what names something outside of the text is refused unread. None of these is valid for
        # the plain command either, for it finds nothing at those places; should one be, it is to be listed here.
        if result["valid"] != verdicts[text].valid:
            differing.append((name, verdicts[text].message or str(result["errors"])))
    return differing


def ask(checker: Checker, text: str) -> dict:
    return checker.call("validate", {"yaml": text, "env": {}}, asker=ASKER)


def says(message: str, error: Mapping[str, str]) -> bool:
    """Whether the finding's words, without the hint that we add behind them, stand in the message."""
    words = re.split(r"; did you mean|; there is one among|; a variable with a default", error["message"])[0]
    if "a configuration is a mapping of sections" in words:
        return "cannot be used as a Conf" in message
    # A field's name may be longer with us, who decode each component on its own, and the same error may come from
    # another pipeline or the other one of two names.
    words = re.sub(r"^'[^']*' ", "", words)
    words = re.sub(r'^duplicate name "[^"]*"', "", words)
    # Some of the collector's messages list things in an order that changes.
    return bool(words) and set(re.findall(r"\w+", words)) <= set(re.findall(r"\w+", message))


def configurations_of_the_modules() -> Iterator[tuple[str, str]]:
    cache = Path(go_setting("GOMODCACHE"))
    if not cache.is_dir():
        return
    default = (MODULE / "versions" / "DEFAULT").read_text().strip()
    linked = (MODULE / "versions" / default / "go.mod").read_text()
    for module, version in re.findall(r"^\t(\S*opentelemetry\S*) (\S+)", linked, re.MULTILINE):
        folder = cache / re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), f"{module}@{version}")
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


def go_setting(name: str) -> str:
    go = subprocess.run(
        [shutil.which("python3") or "python3", "-m", "building", "go"],
        cwd=MODULE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    return subprocess.run([go, "env", name], capture_output=True, text=True, check=True).stdout.strip()


def plain_verdicts(binary: Path, texts: list[str], folder: Path) -> dict[str, Plain]:
    kept = Path(os.environ.get("HEADGATE_CACHE") or Path.home() / ".cache" / "headgate") / "plain_verdicts"
    kept.mkdir(parents=True, exist_ok=True)
    of_binary = kept / f"{hashlib.sha256(binary.read_bytes()).hexdigest()}.json"
    known = json.loads(of_binary.read_text()) if of_binary.is_file() else {}

    def verdict(text: str) -> Plain:
        name = hashlib.sha256(text.encode()).hexdigest()
        if name not in known:
            known[name] = run_plainly(binary, text, folder / f"{name}.yaml")
        valid, message = known[name]
        return Plain(valid, message)

    with ThreadPoolExecutor(2) as pool:
        verdicts = dict(zip(texts, pool.map(verdict, texts), strict=True))
    of_binary.write_text(json.dumps(known))
    return verdicts


def run_plainly(binary: Path, text: str, file: Path) -> tuple[bool, str]:
    file.write_text(text)
    done = subprocess.run(
        [binary, "validate", "--config", file.name],
        env={},
        cwd=file.parent,
        capture_output=True,
        check=False,
        timeout=300,
    )
    return done.returncode == 0, done.stderr.decode(errors="replace")
