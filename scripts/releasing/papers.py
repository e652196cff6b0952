"""Papers of a release: the SBOM, its provenance, and the hashes of its files."""

from __future__ import annotations

import json
import platform
import zlib
from importlib.metadata import version
from pathlib import Path

from scripts import third_party
from scripts.releasing import debian
from scripts.releasing.source import CheckoutSource
from scripts.releasing.wheels import Programs, sha256


def sbom(source: CheckoutSource, architectures: list[str], into: Path) -> Path:
    """The CycloneDX document of everything that the files contain, Debian's packages among it."""
    result: dict[str, object] = third_party.sbom(third_party.components())
    listed = result["components"]
    assert isinstance(listed, list)
    for package in (entry for architecture in architectures for entry in debian.locked(architecture)):
        purl = f"pkg:deb/debian/{package.name}@{package.version}?arch={package.architecture}&distro={debian.SUITE}"
        listed.append(
            {
                **{"type": "library", "bom-ref": purl, "name": package.name, "version": package.version},
                **{"purl": purl, "scope": "required"},
                "hashes": [{"alg": "SHA-256", "content": package.sha256}],
            }
        )
    result["metadata"] = {
        "component": {
            **{"type": "application", "name": "headgate", "version": source.version, "bom-ref": "headgate"},
        }
    }
    # The number that third_party derives from its content does not know these packages.
    result.pop("serialNumber", None)
    return _json(into / f"headgate-{source.version}-{'-'.join(architectures)}.cdx.json", result)


def provenance(source: CheckoutSource, programs: list[Programs], files: list[Path], into: Path) -> Path:
    """Notes in the form of in-toto's statement of SLSA provenance 1.0, unsigned: commit, tools and files.

    The workflow that publishes a release signs its own (docs/releasing.md).
    """
    tools = {name: version(name) for name in ("hatchling", "zstandard")}
    tools |= {"python": platform.python_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION}
    sources: list[dict[str, object]] = [{"name": "headgate", "digest": {"gitCommit": source.commit}}]
    builds = {path: program.build for entry in programs for path, program in entry.programs.items()}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": sha256(path)}} for path in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "make release",
                "externalParameters": {"architectures": [entry.architecture for entry in programs]},
                "internalParameters": {"SOURCE_DATE_EPOCH": source.epoch, "changed": source.changed, "tools": tools},
                "resolvedDependencies": sources,
            },
            "runDetails": {"builder": {"id": "make release"}, "metadata": {"programs": builds}},
        },
    }
    architectures = "-".join(entry.architecture for entry in programs)
    return _json(into / f"headgate-{source.version}-{architectures}.provenance.json", statement)


def sums(files: list[Path], into: Path) -> Path:
    """`SHA256SUMS`, as `sha256sum --check` reads it."""
    path = into / "SHA256SUMS"
    lines = [f"{sha256(file)}  {file.name}\n" for file in sorted(files, key=lambda file: file.name)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path
