"""Third-party software in use: the page of licences in the site, and a CycloneDX 1.6 document.

make sbom

Python's comes from the locks and the metadata of what is installed from them; Go's from the modules that the built
programs name in themselves and the licence files in Go's module cache; npm's from the console's lock.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).parents[1]
LOCKS: Final = ("lambda", "local", "dev", "run", "sam")
CONSOLE: Final = ROOT / "console" / "package-lock.json"
COLLECTORS: Final = Path(os.environ.get("HEADGATE_COLLECTORS_DIR", Path.home() / ".cache" / "headgate" / "collectors"))

# By the text of a licence file: every phrase has to be there.
PHRASES: Final[dict[str, tuple[str, ...]]] = {
    "Apache-2.0": ("apache license", "version 2.0"),
    "MPL-2.0": ("mozilla public license", "2.0"),
    "EPL-2.0": ("eclipse public license", "2.0"),
    "AGPL-3.0": ("gnu affero general public license",),
    "LGPL-3.0": ("gnu lesser general public license", "version 3"),
    "LGPL-2.1": ("gnu lesser general public license", "version 2.1"),
    "GPL": ("gnu general public license", "terms and conditions for copying"),
    "Unlicense": ("free and unencumbered software released into the public domain",),
    "CC0-1.0": ("cc0 1.0 universal",),
    "ISC": ("permission to use, copy, modify, and/or distribute this software for any purpose",),
    "ISC ": ("permission to use, copy, modify, and distribute this software for any purpose",),
    "MIT": ("permission is hereby granted, free of charge, to any person obtaining",),
    "BSD-3-Clause": ("redistribution and use in source and binary forms", "endorse or promote products"),
    "BSD-2-Clause": ("redistribution and use in source and binary forms", "this list of conditions"),
    "Zlib": ("this software is provided 'as-is', without any express or implied warranty", "altered source versions"),
}
# Packages' texts, with the SPDX expressions that they mean.
SAID: Final[dict[str, str]] = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache Software License 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
# Packages without metadata here, or for other platforms. Their licences were looked up at their source.
LOOKED_UP: Final[dict[str, str]] = {
    "backports-asyncio-runner": "PSF-2.0",
    "colorama": "BSD-3-Clause",
    "exceptiongroup": "MIT",
    "pywin32": "PSF-2.0",
    "tomli": "MIT",
}

Ecosystem = Literal["pypi", "golang", "npm"]


@dataclass(frozen=True, slots=True, order=True)
class ThirdPartyComponent:
    """A third party's component. `use` names what it is part of, or what it is used for."""

    ecosystem: Ecosystem
    name: str
    version: str
    licence: str
    use: str
    sha256: tuple[str, ...] = ()

    @property
    def purl(self) -> str:
        return f"pkg:{self.ecosystem}/{self.name.replace('@', '%40')}@{self.version}"


def components() -> list[ThirdPartyComponent]:
    return sorted([*python(), *go(), *npm()])


def locked(name: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The packages of a lock: hashes by name and version. Different Pythons may need different versions."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    results = {}
    for entry in re.split(r"\n(?=[A-Za-z0-9])", text):
        # Packages for browsers are not installed.
        if (pinned := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", entry)) and "emscripten" not in entry:
            hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))
            results[normal(pinned[1]), pinned[2]] = hashes
    return results


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def python() -> Iterator[ThirdPartyComponent]:
    """Every package of every lock, once for each version, with the first lock that has it."""
    seen = set()
    for name in LOCKS:
        installed = {normal(entry.name): entry for entry in _installed(name)}
        for (package, version), hashes in locked(name).items():
            if (package, version) in seen:
                continue
            seen.add((package, version))
            licence = LOOKED_UP.get(package) or _licence_of(installed.get(package)) or "unknown"
            yield ThirdPartyComponent("pypi", package, version, licence, name, hashes)


def _installed(lock: str) -> Iterable[Distribution]:
    if lock != "sam":
        return distributions()
    return distributions(path=[str(path) for path in (ROOT / ".venv-sam" / "lib").glob("python*/site-packages")])


def _licence_of(package: Distribution | None) -> str | None:
    if package is None:
        return None
    if "License-Expression" in package.metadata:
        return package.metadata["License-Expression"]
    classifiers = [
        entry.rpartition(" :: ")[2]
        for entry in package.metadata.get_all("Classifier") or []
        if entry.startswith("License :: ") and entry != "License :: OSI Approved"
    ]
    known = sorted({SAID[classifier] for classifier in classifiers if classifier in SAID})
    if known:
        return " OR ".join(known)
    word = (package.metadata.get_all("License") or [""])[0].strip().partition("\n")[0]
    if word:
        return SAID.get(word, word)
    files = [entry for entry in package.files or [] if re.match(r"(?i)(un)?licen[cs]e|copying", entry.name)]
    return " AND ".join(sorted({entry for file in files for entry in classified(file.read_text())})) or None


def npm() -> Iterator[ThirdPartyComponent]:
    """Every package of the console's lock: `console` is in what browsers load, `console-dev` builds and tests it."""
    for path, package in json.loads(CONSOLE.read_text(encoding="utf-8"))["packages"].items():
        if path:
            name = path.rpartition("node_modules/")[2]
            use = "console-dev" if package.get("dev") else "console"
            yield ThirdPartyComponent("npm", name, package["version"], package.get("license", "unknown"), use)


def go() -> Iterator[ThirdPartyComponent]:
    """Every module that is linked into our programs."""
    cache = Path(_output("go", "env", "GOMODCACHE"))
    for use, program in programs().items():
        lines = [line.split() or [""] for line in _output("go", "version", "-m", str(program)).splitlines()]
        for words, after in zip(lines, [*lines[1:], [""]], strict=True):
            # A module that another one replaces is not linked itself.
            if words[0] == "=>" or (words[0] == "dep" and after[0] != "=>"):
                if words[1].startswith("."):
                    continue  # our own
                _, module, version = words[:3]
                yield ThirdPartyComponent("golang", module, version, _licence_in(cache, module, version), use)


def programs() -> dict[str, Path]:
    """The programs built on this machine, by name. Every architecture links the same modules."""
    layer = ROOT / "layers" / "collector"
    default = (layer / "versions" / "DEFAULT").read_text().strip()
    built = {
        "collector" if version == default else f"collector {version}": COLLECTORS / version / "otelcol-contrib"
        for version in sorted({folder.name for folder in layer.glob("*/*.*.*") if (folder / "main.go").is_file()})
    }
    supervisors = sorted((COLLECTORS.parent / "supervisor").glob("linux-*/headgate-supervisor"))
    if supervisors:
        built["supervisor"] = supervisors[-1]
    return {use: program for use, program in built.items() if program.exists()}


def _licence_in(cache: Path, module: str, version: str) -> str:
    """By the text of the licence file in the module's folder."""
    escaped = re.sub(r"[A-Z]", lambda letter: "!" + letter[0].lower(), f"{module}@{version}")
    files = sorted(
        path
        for path in (cache / escaped).glob("*")
        if path.is_file() and re.match(r"(?i)(un)?licen[cs]e|copying", path.name)
    )
    result = sorted(
        {entry for path in files for entry in classified(path.read_text(encoding="utf-8", errors="replace"))}
    )
    return " AND ".join(result) or "unknown"


def classified(text: str) -> set[str]:
    """The licences whose phrases a text contains."""
    flat = " ".join(re.sub(r"[*#>]|//", " ", text.lower()).split())
    matches = {name.strip() for name, phrases in PHRASES.items() if all(phrase in flat for phrase in phrases)}
    # A longer licence contains the phrases of these.
    if "BSD-3-Clause" in matches:
        matches.discard("BSD-2-Clause")
    if matches & {"MPL-2.0", "EPL-2.0"}:
        # These licences name others with which they can be combined.
        matches -= {"LGPL-3.0", "LGPL-2.1", "AGPL-3.0", "GPL"}
    if matches & {"LGPL-3.0", "LGPL-2.1", "AGPL-3.0"}:
        matches.discard("GPL")
    return matches


def _output(*command: str) -> str:
    if command[0] == "go":
        building = ROOT / "layers" / "collector"
        path = subprocess.check_output([sys.executable, "-m", "building", "go"], cwd=building, text=True).strip()
        command = (path, *command[1:])
    return subprocess.check_output(command, text=True).strip()


def written(components: list[ThirdPartyComponent]) -> str:
    """The document, one line for each component."""
    lines = [
        "# Licences of what we use",
        "",
        "Read from the lock files and the built programs. `test_supply_chain.py` fails if something in use has a",
        "licence that is not on its list of accepted ones.",
        "`lambda` is deployed with the functions, `collector` linked into the program in the layer and in the test",
        "runner's image, `supervisor` into the program that install links serve, `console` into the pages' scripts.",
        "`local`, `dev`, `sam` and `console-dev` are tools on a developer's machine and are not distributed.",
        "`make sbom` lists the versions too.",
        "The collector's descriptions of settings are texts of its modules under Apache-2.0.",
        "The forms of vendors' secrets are data of gitleaks, MIT, Copyright (c) 2019 Zachary Rice; the file",
        "`layers/collector/secrets/gitleaks.json` names the release.",
        "",
        "| Use | Licence | Components |",
        "|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in components:
        groups.setdefault((entry.use, entry.licence), []).append(entry.name)
    for (use, licence), names in sorted(groups.items()):
        lines.append(f"| {use} | {licence} | {len(names)} |")
    for use in sorted({item.use for item in components}):
        lines += ["", f"## {use}", "", "| Name | Licence |", "|---|---|"]
        lines += sorted({f"| {item.name} | {item.licence} |" for item in components if item.use == use})
    return "\n".join(lines) + "\n"


def sbom(components: list[ThirdPartyComponent]) -> dict[str, object]:
    """A CycloneDX 1.6 document. Its serial number is derived from its content."""
    shipped = {entry.purl for entry in components if entry.use in ("lambda", "collector", "supervisor", "console")}
    listed = [
        {
            "type": "library",
            "bom-ref": entry.purl,
            "name": entry.name,
            "version": entry.version,
            "purl": entry.purl,
            "scope": "required" if entry.purl in shipped else "excluded",
            "licenses": [{"expression": entry.licence}] if entry.licence != "unknown" else [],
        }
        # A module may be linked into several programs.
        for entry in {item.purl: item for item in components}.values()
    ]
    content = json.dumps(listed, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "headgate", "bom-ref": "headgate"}},
        "components": listed,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the CycloneDX document to write")
    target = parser.parse_args().file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(sbom(components()), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {target}")
