"""The images `headgate` (for CI) and `headgate-dev` (the local service), as archives of OCI layouts."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import yaml
from packaging.requirements import Requirement

from scripts.releasing import debian, oci
from scripts.releasing.source import ROOT, CannotRelease, CheckoutSource, copy_tracked
from scripts.releasing.wheels import Programs, locked
from scripts.third_party import locked as hashes
from scripts.third_party import normal

# Debian's.
_PYTHON: Final = "3.11"
_GLIBC: Final = ("manylinux2014", "manylinux_2_28", "manylinux_2_34")
_HOME: Final = "opt/headgate"
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_USER: Final = 65532
# What decides how a layer is made, beside what it is made of.
_CODE: Final = tuple(Path(__file__).with_name(name) for name in ("debian.py", "images.py", "oci.py"))
# With what the engine needs.
_COMMAND_LINE: Final = ("click", "httpx", "pyyaml", "pydantic")
_ACCOUNTS: Final = {
    "etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nheadgate:x:{_USER}:{_USER}::/home/headgate:/bin/sh\n",
    "etc/group": f"root:x:0:\nheadgate:x:{_USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
_SCRIPT: Final = f"""#!/usr/bin/python{_PYTHON}
import sys
sys.path.insert(0, "/{_HOME}/python")
from headgate_cli.main import main
main()
"""
_VARIABLES: Final = {
    "PATH": f"/{_HOME}/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "HEADGATE_COLLECTORS_DIR": f"/{_HOME}/collectors",
    "HEADGATE_CACHE": f"/{_HOME}",
}
_FOR_CI: Final = {
    "User": f"{_USER}:{_USER}",
    "WorkingDir": "/work",
    "Entrypoint": ["headgate", "validate", "--local"],
}


def command_line(source: CheckoutSource, programs: Programs, wheel: Path, cache: Path, into: Path) -> Path:
    """`headgate`: the command line and the collector, whose entry point is `validate --local`. Raises CannotRelease."""
    with tempfile.TemporaryDirectory() as folder:
        python = _python(closure(_COMMAND_LINE), [wheel], programs, source, Path(folder))
        layers = [_system(programs, cache), _programs(programs, cache), python]
        return _written("headgate", source, programs, layers, _FOR_CI, {}, into)


def local_service(source: CheckoutSource, programs: Programs, wheels: Iterable[Path], cache: Path, into: Path) -> Path:
    """`headgate-dev`: the whole service on port 8300, its data in the volume /data. Raises CannotRelease."""
    packages = {normal(Requirement(line.partition(" ;")[0]).name) for line in locked("local")}
    service = f"/{_HOME}/python/headgate_service"
    configuration = yaml.safe_load((ROOT / "images" / "headgate-dev.yaml").read_text(encoding="utf-8"))
    variables = configuration.pop("Env") | {
        "PYTHONPATH": ":".join(
            [*(f"{service}/{name}" for name in ("shared", "engine", "functions", "local")), f"/{_HOME}/python"]
        ),
        "HEADGATE_COLLECTOR_VERSION": programs.collector_version,
    }
    with tempfile.TemporaryDirectory() as folder:
        site = _python(packages | closure(_COMMAND_LINE), list(wheels), programs, source, Path(folder))
        layers = [_system(programs, cache), _programs(programs, cache), site]
        return _written("headgate-dev", source, programs, layers, configuration, variables, into)


def closure(names: Iterable[str]) -> set[str]:
    """These packages and what they need, as they are installed here."""
    result: set[str] = set()
    requested = [normal(name) for name in names]
    while requested:
        name = requested.pop()
        if name not in result:
            result.add(name)
            needs = [Requirement(require) for require in distribution(name).requires or []]
            requested += [normal(need.name) for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
    return result


def _system(programs: Programs, cache: Path) -> oci.LayerBlob:
    """Python and what it needs, of Debian's packages; accounts, and folders that users may write to."""
    packages = debian.locked(programs.architecture)

    def make() -> oci.Layer:
        layer = oci.Layer(debian.locked_at())
        for name in ("bin", "sbin", "lib", "lib64"):
            layer.add(name, tarfile.SYMTYPE, 0o777, target=f"usr/{name}")
        for package in packages:
            for entry in debian.entries(package, cache):
                layer.add(entry.name, entry.kind, entry.mode, entry.content, entry.target)
        for name, text in _ACCOUNTS.items():
            layer.add(name, content=text.encode())
        for name in ("tmp", "work", "home/headgate", "data"):
            layer.add(name, tarfile.DIRTYPE, 0o1777)
        return layer

    return _cached(cache, json.dumps([repr(packages), debian.locked_at(), _ACCOUNTS]), make)


def _programs(programs: Programs, cache: Path) -> oci.LayerBlob:
    """The collector and the supervisor. The layer is the same for every commit that builds the same ones."""

    def make() -> oci.Layer:
        layer = oci.Layer(debian.locked_at())
        for path, program in programs.programs.items():
            layer.add(f"{_HOME}/{path}", mode=0o755, content=program.binary)
        return layer

    builds = {path: program.build for path, program in programs.programs.items()}
    return _cached(cache, json.dumps([_HOME, builds, debian.locked_at()]), make)


def _cached(cache: Path, key: str, make: Callable[[], oci.Layer]) -> oci.LayerBlob:
    """The layer from the cache, made if it is not there."""
    name = hashlib.sha256(b"\0".join([key.encode(), *(path.read_bytes() for path in _CODE)])).hexdigest()
    file, description = cache / "layers" / f"{name}.tar.gz", cache / "layers" / f"{name}.json"
    if not description.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            blob = oci.compressed(make(), Path(folder, "layer"))
            blob.file.replace(file)
            part = Path(folder, "description")
            part.write_text(json.dumps({"digest": blob.digest, "diff_id": blob.diff_id}), encoding="utf-8")
            part.replace(description)
    return oci.LayerBlob(file, **json.loads(description.read_text(encoding="utf-8")))


def _python(
    packages: set[str], wheels: list[Path], programs: Programs, source: CheckoutSource, scratch: Path
) -> oci.LayerBlob:
    """The wheels, the engine and the locked packages for the image's Python."""
    machine = _MACHINES[programs.architecture]
    lines = [
        f"{name}=={version} " + " ".join(f"--hash=sha256:{digest}" for digest in digests)
        for (name, version), digests in hashes("run").items()
        if name in packages and _is_for_linux(name, version)
    ]
    requirements = scratch / "requirements.txt"
    requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
    target = [
        *("--python-version", _PYTHON, "--implementation", "cp"),
        *(word for entry in _GLIBC for word in ("--platform", f"{entry}_{machine}")),
    ]
    site = scratch / "site"
    for what in (["--require-hashes", "-r", str(requirements)], ["--no-index", *map(str, wheels)]):
        command = [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--no-compile", "--only-binary", ":all:", "--target", str(site), *target, *what),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotRelease(f"The image's packages cannot be installed:\n{done.stderr.strip()}")
    copy_tracked(scratch, "engine/headgate_engine")
    shutil.copytree(scratch / "engine/headgate_engine", site / "headgate_engine", dirs_exist_ok=True)
    layer = oci.Layer(source.epoch)
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site)
        # pip notes where it installed from, and writes programs that name this machine's Python.
        is_ours = name.parts[0] not in ("bin", "share") and name.name not in ("direct_url.json", "RECORD", "INSTALLER")
        if path.is_file() and is_ours and "__pycache__" not in name.parts:
            layer.add(f"{_HOME}/python/{name.as_posix()}", content=path)
    layer.add(f"{_HOME}/bin/headgate", mode=0o755, content=_SCRIPT.encode())
    return oci.compressed(layer, scratch / "python.tar.gz")


def _is_for_linux(name: str, version: str) -> bool:
    lines = [Requirement(line) for line in locked("run")]
    result = next(entry for entry in lines if normal(entry.name) == name and str(entry.specifier) == f"=={version}")
    return result.marker is None or result.marker.evaluate(
        {"sys_platform": "linux", "platform_system": "Linux", "python_version": _PYTHON, "extra": ""}
    )


def _written(
    name: str,
    source: CheckoutSource,
    programs: Programs,
    layers: list[oci.LayerBlob],
    config: Mapping[str, object],
    variables: Mapping[str, str],
    into: Path,
) -> Path:
    labels = {
        "org.opencontainers.image.title": name,
        "org.opencontainers.image.version": source.version,
        "org.opencontainers.image.revision": source.commit,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    environment = [f"{entry}={value}" for entry, value in {**_VARIABLES, **variables}.items()]
    image = oci.Image(
        name, source.version, programs.architecture, source.epoch, {**config, "Env": environment}, labels, layers
    )
    archive = into / f"{name}-{source.version}-linux-{programs.architecture}.oci.tar"
    oci.write(image, archive)
    return archive
